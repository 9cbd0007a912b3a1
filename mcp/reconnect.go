package mcp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Limits of connecting again.
const (
	maxAttempts = 5
	firstDelay  = 500 * time.Millisecond // doubled with each attempt
)

// current gives the session to use, waiting while there is none yet or none
// any more, though not for ever.
func (s *Server) current(ctx context.Context) (*session, error) {
	s.mu.Lock()
	sess, ready := s.sess, s.status == Connected && ctx.Err() == nil
	s.mu.Unlock()
	if ready {
		return sess, nil
	}
	return s.awaited(ctx)
}

func (s *Server) awaited(ctx context.Context) (*session, error) {
	limit := s.cfg.connectTimeout() + s.cfg.callTimeout()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &TimeoutError{After: limit, Method: "connecting again"})
	defer cancel()
	err := s.Wait(ctx)
	var auth *NeedsAuthError
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && (s.sess == nil || !errors.As(err, &auth)) { // a login may be valid by now
		return nil, lostError(err)
	}
	if s.closed || s.sess == nil {
		return nil, ErrClosed
	}
	return s.sess, nil
}

// with runs f with a session. If the connection turns out to be lost before
// anything of f's request reached the server, f runs once more on the next.
func (s *Server) with(ctx context.Context, f func(*session) error) error {
	for again := false; ; again = true {
		sess, err := s.current(ctx)
		if err != nil {
			return err
		}
		err = f(sess)
		var lost *LostError
		if !errors.As(err, &lost) {
			s.worked(sess, err)
			return err
		}
		s.notice(sess)
		if again || !lost.Unsent {
			return err
		}
	}
}

// worked notes what an answered request tells of the connection.
func (s *Server) worked(sess *session, err error) {
	var auth *NeedsAuthError
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed || s.sess != sess:
	case err == nil:
		s.losses = 0
		if s.status == NeedsAuth {
			s.status, s.err = Connected, nil
		}
	case errors.As(err, &auth) && s.status == Connected:
		s.status, s.err = NeedsAuth, auth
	}
}

// watch waits for the loss of a session and then connects again.
func (s *Server) watch(sess *session) {
	select {
	case <-sess.link.lost():
		s.notice(sess)
	case <-s.life.Done():
	}
}

// notice starts to connect again if the server's session is lost.
func (s *Server) notice(sess *session) {
	reason := sess.link.lostFor()
	s.mu.Lock()
	defer s.mu.Unlock()
	if reason == nil || s.closed || s.sess != sess || s.status == Pending {
		return
	}
	s.status, s.err, s.ready = Pending, nil, make(chan struct{})
	s.losses++
	losses := s.losses
	s.work.Go(func() { s.restore(sess, reason, losses) })
}

// restore connects again after the loss of a session: at once, then with
// growing waits between. A connection that is lost time after time without a
// single answer is given up, too.
func (s *Server) restore(old *session, reason error, losses int) {
	s.retire(old)
	var err error
	tries := 0
	for tries < maxAttempts && losses <= maxAttempts {
		if n := tries + losses - 1; n > 0 && s.home.sleep(s.life, delay(n, rand.Float64())) != nil {
			break
		}
		tries++
		if err = s.open(s.life); err == nil || s.life.Err() != nil || !worthwhile(err) {
			break
		}
	}
	switch {
	case err != nil && worthwhile(err):
		err = fmt.Errorf("the connection was lost (%w) and could not be made again in %d attempts: %w", reason, tries, err)
	case tries == 0:
		err = fmt.Errorf("the connection was lost %d times in a row: %w", losses, reason)
	}
	s.settled(err)
}

// retire closes a session that is over once nothing waits for it any more. A
// process is gone before the next one starts.
func (s *Server) retire(old *session) {
	select {
	case <-old.link.drained():
		old.link.close(quickGrace)
	default:
		s.work.Go(func() {
			select {
			case <-old.link.drained():
			case <-s.life.Done():
			}
			old.link.close(quickGrace)
		})
	}
}

// worthwhile says whether trying again may help.
func worthwhile(err error) bool {
	var auth *NeedsAuthError
	return !errors.As(err, &auth)
}

// delay gives the wait before attempt n, the first of which is 1, spread by a
// number from 0 to 1 over three quarters to five quarters.
func delay(n int, spread float64) time.Duration {
	d := firstDelay << min(n-1, 5)
	return time.Duration(float64(d) * (0.75 + spread/2))
}

// settled ends a time of connecting: status and error are set and who waits
// goes on.
func (s *Server) settled(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var auth *NeedsAuthError
	switch {
	case s.closed || err == nil:
	case errors.As(err, &auth):
		s.status, s.err = NeedsAuth, auth
	default:
		s.status, s.err = Failed, err
	}
	close(s.ready)
}

// Reconnect connects anew, whatever the state, unless the server was closed by
// us: a standing connection is closed first, and the count of failed attempts
// starts over. The error is that of [Manager.Connect].
func (s *Server) Reconnect(ctx context.Context) error {
	for {
		s.mu.Lock()
		switch {
		case s.closed:
			s.mu.Unlock()
			return ErrClosed
		case s.status != Pending:
			s.status, s.err, s.ready, s.losses = Pending, nil, make(chan struct{}), 0
			old := s.sess
			s.sess = nil
			s.work.Add(1)
			s.mu.Unlock()
			defer s.work.Done()
			return s.renew(ctx, old)
		}
		ready := s.ready
		s.mu.Unlock()
		select {
		case <-ready:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *Server) renew(ctx context.Context, old *session) error {
	if old != nil {
		old.link.close(politeGrace)
	}
	err := s.open(ctx)
	s.settled(err)
	return err
}
