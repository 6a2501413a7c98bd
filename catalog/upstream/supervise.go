package upstream

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ready returns a running session and its tools. It starts a session if none runs.
func (s *Server) ready(ctx context.Context) (*session, *listing, error) {
	for repeated := false; ; repeated = true {
		running, err := s.acquire(ctx)
		if err != nil {
			return nil, nil, err
		}
		if l := running.fresh(); l != nil {
			return running, l, nil
		}
		l, err := running.listed(ctx)
		if !repeated && (running.client.forgotten(err) || err != nil && running.life.Err() != nil) { // or it was replaced just now
			s.replace(running, nil)
			continue
		}
		return running, l, err
	}
}

// acquire returns a running session. If a start is needed, it waits for the pause after the last failure and for the
// start. It does not wait for the pause if ctx ends sooner.
func (s *Server) acquire(ctx context.Context) (*session, error) {
	for {
		if running := s.running.Load(); running != nil {
			if !running.over() {
				return running, nil
			}
			select { // until it is known how it ended
			case <-running.replaced:
			case <-ctx.Done():
				return nil, &endedError{errEnded}
			}
		}
		wait, a, err := s.next()
		switch {
		case err != nil:
			return nil, err
		case a == nil:
			if err := s.sitOut(ctx, wait); err != nil {
				return nil, err
			}
			continue
		}
		select {
		case <-a.done:
			if a.err != nil {
				return nil, a.err
			}
		case <-ctx.Done():
			return nil, fmt.Errorf(notStarted, ctx.Err())
		}
	}
}

// next joins a start or begins one. If the pause after a failure is not over, it returns the time that is left.
func (s *Server) next() (wait time.Duration, a *attempt, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch wait = time.Until(s.retry); {
	case s.shut:
		return 0, nil, errShut
	case s.starting != nil:
		return 0, s.starting, nil
	case s.running.Load() != nil:
		return 0, nil, nil
	case wait > 0:
		return wait, nil, nil
	}
	a = &attempt{done: make(chan struct{})}
	s.starting = a
	s.work.Go(func() { s.start(a) })
	return 0, a, nil
}

// sitOut waits for the rest of a pause. If ctx ends sooner, it returns the last failure at once.
func (s *Server) sitOut(ctx context.Context, wait time.Duration) error {
	if until, bounded := ctx.Deadline(); bounded && time.Until(until) < wait || !pause(ctx, wait) {
		_, why := s.Status()
		if why == nil {
			why = errEnded
		}
		return fmt.Errorf(notRestarted, why)
	}
	return nil
}

// start starts the server once and reports the result to all callers that wait for it.
func (s *Server) start(a *attempt) {
	begun := time.Now()
	running, err := s.open()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(a.done)
	s.starting = nil
	if err == nil && s.shut {
		err = errShut
		s.work.Go(func() { _ = running.retire(s.life, 0) })
	}
	if a.err = err; err != nil {
		s.failed(err)
		return
	}
	s.why = nil
	s.running.Store(running)
	s.config.Log.Info(serverRuns, "server", s.config.Name, "after", time.Since(begun).Round(time.Millisecond))
	known, now := s.last, running.list.Load()
	s.last = now
	if known != nil && !now.same(known) {
		s.tell()
	}
	s.work.Go(func() { s.watch(running) })
	go running.keep(s.config.StartTimeout, s.tell)
	go running.listen()
}

// tell requests a report that the tools changed. It does not wait.
func (s *Server) tell() {
	select {
	case s.untold <- struct{}{}:
	default:
	}
	s.telling.Do(func() { go s.tellOn() })
}

// tellOn reports changes until the server is closed. If the tools change all the time, the pauses between reports grow.
func (s *Server) tellOn() {
	var last time.Time
	for delay := listPause; ; delay = min(2*delay, longestPause) {
		select {
		case <-s.untold:
		case <-s.life.Done():
			return
		}
		if time.Since(last) > quietAfter {
			delay = listPause
		}
		s.config.Log.Info(toolsChanged, "server", s.config.Name)
		if s.config.Changed != nil {
			s.config.Changed(s.config.Name)
		}
		last = time.Now()
		if !pause(s.life, delay) {
			return
		}
	}
}

// open opens a session and lists its tools, within StartTimeout.
func (s *Server) open() (*session, error) {
	ctx, end := context.WithTimeoutCause(s.life, s.config.StartTimeout,
		fmt.Errorf(noAnswerWithin, s.config.StartTimeout))
	defer end()
	running := newSession()
	client, err := s.launch(ctx, running.notified, &running.said)
	if err != nil {
		running.end()
		return nil, told(ctx, err, &running.said)
	}
	running.client = client
	at := running.changes.Load()
	all, err := client.Definitions(ctx)
	if err != nil {
		running.end()
		_ = client.abort()
		return nil, told(ctx, err, &running.said)
	}
	running.list.Store(newListing(at, all, nil))
	return running, nil
}

// told returns err, or what the end of ctx means for it, with the last line of the child's standard error.
func told(ctx context.Context, err error, said *lastLine) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return errShut
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	return said.after(err)
}

// watch waits for the end of a session and replaces it.
func (s *Server) watch(running *session) {
	select {
	case <-running.client.lost():
		why := error(errEnded)
		if ended := running.client.by.why(); ended != nil {
			why = ended
		}
		if wire, ok := running.client.wire.(*pipes); ok && !errors.Is(wire.ended(), errEnded) {
			why = wire.ended()
		}
		s.replace(running, &endedError{running.said.after(why)})
	case <-running.life.Done():
	}
}

// replace makes later calls use a new session. It closes the old session when its calls have ended, or after the
// config's Timeout. why is the error of the old session; nil: none.
func (s *Server) replace(old *session, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running.CompareAndSwap(old, nil) {
		return
	}
	close(old.replaced)
	s.last = old.list.Load()
	if why != nil {
		if time.Since(old.begun) > soundAfter {
			s.failures = 0
		}
		s.failed(why)
	}
	s.work.Go(func() { _ = old.retire(s.life, s.config.Timeout) })
}

// failed records a failure and the pause before the next start. The caller holds mu.
func (s *Server) failed(why error) {
	s.why = errors.New(s.veil.hide(why.Error()))
	if refused, ok := errors.AsType[*refusedAddress](why); ok {
		s.why = &veiledError{s.why.Error(), refused}
	}
	if mayPass(why) {
		s.why = &endedError{s.why}
	}
	delay := longestBackoff
	if s.failures < 10 {
		delay = min(firstBackoff<<s.failures, longestBackoff)
	}
	s.failures++
	s.retry = time.Now().Add(delay)
	s.config.Log.Warn(serverNotRunning, "server", s.config.Name, "why", s.why, "left_alone", delay)
}

// Forget makes the server read its secrets again and use a new session for the next call. Calls that run continue.
func (s *Server) Forget() {
	for _, secret := range s.config.secrets() {
		secret.Forget()
	}
	if running := s.running.Load(); running != nil {
		s.replace(running, nil)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures, s.retry = 0, time.Time{}
}

// Close ends the session and everything that it started. Calls that run fail. Close returns when nothing is left.
func (s *Server) Close() error {
	s.mu.Lock()
	running := s.running.Load()
	s.shut = true
	s.mu.Unlock()
	s.end()
	var err error
	if running != nil && s.running.CompareAndSwap(running, nil) {
		close(running.replaced)
		err = running.retire(s.life, 0)
	}
	s.work.Wait()
	return err
}
