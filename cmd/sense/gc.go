package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// smallHeap is up to where memory is spent to collect less often: a program
// that makes much short-lived text runs up to a third faster so.
const smallHeap = 16 << 20

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
		want := 400
		if liveHeap() > smallHeap {
			want = 100
		}
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
