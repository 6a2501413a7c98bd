package cli

import (
	"slices"
	"sync"

	"patterngate/catalog/pins"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/cli/console"
)

// maxConfigs is how many configurations besides the own one are kept made at once.
const maxConfigs = 8

// configShelf keeps the configurations under which recorded runs were begun, by their hash. It is asked while a job is made.
type configShelf interface {
	Config(hash string) (snapshot []byte, ok bool)
}

// source makes again what recorded runs were begun with: under the configuration of this process, or under the one whose
// snapshot the state file holds. It is safe for concurrent use.
//
//	pattern, config hash, arguments ──▶ own, or kept, or snapshot ──▶ Config ──▶ declared ──▶ Job
type source struct {
	environ []string    // where secrets are
	pool    *serverPool // where servers are

	ring func() (gateway.Ring, error) // the approver keys that count; nil: none

	mu    sync.Mutex
	own   *declared
	shelf configShelf
	kept  []*declared // of others, the one used last at the end
}

var _ patterns.Source = (*source)(nil)

// serve says what this process declares and where the snapshots of others are. Until then nothing can be made.
func (s *source) serve(own *declared, shelf configShelf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own, s.shelf = own, shelf
}

// replace has another configuration be this process's own. The ones before are kept for their runs as they are, unless the own
// lock no longer accepts all that theirs did: then they are made anew of their snapshots, as after a restart, and what is not
// accepted is held.
func (s *source) replace(own *declared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.own; before != nil && before.hash != own.hash {
		s.keep(before)
	}
	s.own = own
	s.kept = slices.DeleteFunc(s.kept, func(k *declared) bool { return k.recorded || !k.accepted(own) && s.shelved(k.hash) })
}

// shelved reports whether a configuration can be made anew.
func (s *source) shelved(hash string) bool {
	if s.shelf == nil {
		return false
	}
	_, there := s.shelf.Config(hash)
	return there
}

// keep keeps one of the configurations besides the own one.
func (s *source) keep(d *declared) {
	s.kept = slices.DeleteFunc(s.kept, func(k *declared) bool { return k.hash == d.hash })
	if len(s.kept) == maxConfigs {
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	s.kept = append(s.kept, d)
}

// Job implements [patterns.Source].
func (s *source) Job(b patterns.Begun) (patterns.Job, error) {
	d, err := s.declared(b.Config)
	if err != nil {
		return patterns.Job{}, err
	}
	return d.job(b)
}

// declared is what a configuration declares. One that is made for the first time keeps others waiting for a moment; what
// cannot be made is tried again each time, since it may come.
func (s *source) declared(hash string) (*declared, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own != nil && s.own.hash == hash {
		return s.own, nil
	}
	if at := slices.IndexFunc(s.kept, func(d *declared) bool { return d.hash == hash }); at >= 0 {
		d := s.kept[at]
		s.kept = append(slices.Delete(s.kept, at, at+1), d)
		return d, nil
	}
	d, err := s.make(hash)
	if err != nil {
		return nil, err
	}
	s.keep(d)
	return d, nil
}

// keys are where this process has its model's keys.
func (s *source) keys() snapshotKeys {
	if s.own == nil {
		return snapshotKeys{}
	}
	return snapshotKeys{own: s.own.llm}
}

func (s *source) make(hash string) (*declared, error) {
	missing := &patterns.Lacking{Cause: "config_missing", Needs: []string{hash}}
	if s.shelf == nil {
		return nil, missing
	}
	snapshot, ok := s.shelf.Config(hash)
	if !ok {
		return nil, missing
	}
	c, err := configOfSnapshot(hash, snapshot, s.keys(), s.environ)
	if err != nil {
		return nil, err
	}
	c.Catalog.FindCommands(s.environ)
	if s.own == nil || !c.Catalog.Within(s.own.reach) {
		return nil, missing // what lies in a state file starts no program and reaches no server that the configuration does not name
	}
	if err := c.makeOwn(s.pool, s.environ); err != nil {
		return nil, missing
	}
	if err := s.hold(c.own); err != nil {
		return nil, missing
	}
	d, err := declare(c, s.environ)
	if err != nil {
		return nil, missing
	}
	d.recorded = true
	d.hash = hash // another version of this program may have written it, with fewer keys
	return d, nil
}

// hold holds the tools of a snapshot that this process's own lock does not accept as they are there, signed where a key counts.
// What it shows of them stays as it was recorded.
func (s *source) hold(tools *ownTools) error {
	var ring gateway.Ring
	if s.ring != nil {
		var err error
		if ring, err = s.ring(); err != nil {
			return err
		}
	}
	lock := countingLines(s.own.lock, ring, console.Now())
	if lock == nil {
		lock = &pins.Lock{}
	}
	tools.holdOthers(lock)
	return nil
}
