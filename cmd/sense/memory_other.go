//go:build !linux

package main

// machineMemory gives the machine's memory in bytes, where that is not known
// enough for the default limit.
func machineMemory() int64 { return 2 * defaultMemory }
