package serve

import (
	"crypto/rand"
	"slices"
	"sync"
)

// maxSessions bounds the sessions of clients over HTTP.
const maxSessions = 10_000

// sessions gives out session ids and knows which of them are in force: one that
// was ended, or is not ours, is refused, so that its client begins a new one. The
// zero sessions is ready.
type sessions struct {
	mu   sync.Mutex
	live map[string]bool
	age  []string // from the oldest
}

// Generate begins a session. The oldest one ends when there are too many.
func (s *sessions) Generate() string {
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		s.live = map[string]bool{}
	}
	if len(s.age) >= maxSessions {
		delete(s.live, s.age[0])
		s.age = slices.Delete(s.age, 0, 1)
	}
	s.live[id] = true
	s.age = append(s.age, id)
	return id
}

// Validate says whether a session has ended.
func (s *sessions) Validate(id string) (ended bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.live[id], nil
}

// Terminate ends a session; clients may.
func (s *sessions) Terminate(id string) (notAllowed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[id] {
		delete(s.live, id)
		s.age = slices.DeleteFunc(s.age, func(x string) bool { return x == id })
	}
	return false, nil
}
