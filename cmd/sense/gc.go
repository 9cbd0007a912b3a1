package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Up to these sizes of what is alive memory is spent to collect less often: a
// program that makes much short-lived text runs up to a third faster so, and
// the process stays below 50 MB.
const (
	tinyHeap  = 4 << 20  // grows to five times its size
	smallHeap = 16 << 20 // grows to three times its size
)

func percentFor(live uint64) int {
	switch {
	case live <= tinyHeap:
		return 400
	case live <= smallHeap:
		return 200
	}
	return 100
}

// tuneGC lets a small heap grow further between collections, and looks again
// after each one.
func tuneGC() {
	debug.SetGCPercent(400)
	watchGC(400)
}

// watchGC leaves an object behind that the next collection finds dead.
func watchGC(percent int) {
	type sentinel struct{ p *int }
	s := &sentinel{new(int)}
	runtime.SetFinalizer(s, func(*sentinel) {
		want := percentFor(liveHeap())
		if want != percent {
			debug.SetGCPercent(want)
		}
		watchGC(want)
	})
}

// liveHeap gives the bytes that the last collection left alive.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
