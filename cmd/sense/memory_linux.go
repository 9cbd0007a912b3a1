package main

import "golang.org/x/sys/unix"

// machineMemory gives the machine's memory in bytes.
func machineMemory() int64 {
	var i unix.Sysinfo_t
	if err := unix.Sysinfo(&i); err != nil {
		return 2 * defaultMemory
	}
	return int64(uint64(i.Totalram) * uint64(i.Unit))
}
