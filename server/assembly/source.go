package assembly

import (
	"slices"
	"sync"

	"patterngate/catalog/pins"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/settings"
)

// maxConfigs is the maximum number of other configurations that stay in memory besides the own one.
const maxConfigs = 8

// configShelf stores the configurations under which recorded runs began, by their hash. It is used while a job is made.
type configShelf interface {
	Config(hash string) (snapshot []byte, ok bool)
}

// source makes again what recorded runs began with. It uses the configuration of this process, or the one whose snapshot
// the state file holds. It is safe for concurrent use.
//
//	pattern, config hash, arguments ──▶ own, or kept, or snapshot ──▶ Config ──▶ declared ──▶ Job
type source struct {
	environ []string    // the environment for secrets
	pool    *serverPool // holds the servers

	ring func() (gateway.Ring, error) // the approver keys that count; nil: none

	mu    sync.Mutex
	own   *Declaration
	shelf configShelf
	kept  []*Declaration // of other configurations; the one used last is at the end
}

var _ patterns.Source = (*source)(nil)

// serve sets what this process declares, and the store of other configurations. Before that, no job can be made.
func (s *source) serve(own *Declaration, shelf configShelf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own, s.shelf = own, shelf
}

// replace makes another configuration this process's own. Earlier ones stay in memory for their runs, unless the own lock
// no longer accepts everything that theirs did. Those are made again from their snapshots, as after a restart, and tools
// that are not accepted are held.
func (s *source) replace(own *Declaration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.own; before != nil && before.hash != own.hash {
		s.keep(before)
	}
	s.own = own
	s.kept = slices.DeleteFunc(s.kept, func(k *Declaration) bool { return k.recorded || !k.accepted(own) && s.shelved(k.hash) })
}

// shelved reports whether a configuration can be made again from its snapshot.
func (s *source) shelved(hash string) bool {
	if s.shelf == nil {
		return false
	}
	_, there := s.shelf.Config(hash)
	return there
}

// keep keeps a configuration in memory besides the own one. It drops the one that was unused the longest if there are too
// many.
func (s *source) keep(d *Declaration) {
	s.kept = slices.DeleteFunc(s.kept, func(k *Declaration) bool { return k.hash == d.hash })
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
	return d.Job(b)
}

// declared returns what a configuration declares. Others wait while it is made for the first time. After an error it tries
// again on each call, since what is missing can appear later.
func (s *source) declared(hash string) (*Declaration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own != nil && s.own.hash == hash {
		return s.own, nil
	}
	if at := slices.IndexFunc(s.kept, func(d *Declaration) bool { return d.hash == hash }); at >= 0 {
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

// keys returns the references to this process's model keys.
func (s *source) keys() snapshotKeys {
	if s.own == nil {
		return snapshotKeys{}
	}
	return snapshotKeys{own: s.own.llm}
}

func (s *source) make(hash string) (*Declaration, error) {
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
		return nil, missing // a state file must not start a program or reach a server that the configuration does not name
	}
	if err := c.makeOwn(s.pool, s.environ); err != nil {
		return nil, missing
	}
	if err := s.hold(c.own); err != nil {
		return nil, missing
	}
	d, err := Declare(c, s.environ)
	if err != nil {
		return nil, missing
	}
	d.recorded = true
	d.hash = hash // another version of Patterngate could have written it, with fewer keys
	return d, nil
}

// hold holds the tools of a snapshot that this process's own lock does not accept in their present form. If an approver key
// counts, the acceptance must be signed. The schemas that the run shows stay as recorded.
func (s *source) hold(tools *ownTools) error {
	var ring gateway.Ring
	if s.ring != nil {
		var err error
		if ring, err = s.ring(); err != nil {
			return err
		}
	}
	lock := CountingLines(s.own.lock, ring, now())
	if lock == nil {
		lock = &pins.Lock{}
	}
	tools.holdOthers(lock)
	return nil
}

// recorded returns what a recorded configuration declares, made from its snapshot. It asks no model and knows no key: it is for
// a replay.
func recorded(hash string, snapshot []byte) (*Declaration, error) {
	c, err := configOfSnapshot(hash, snapshot, snapshotKeys{unasked: true}, []string{settings.KeyVariable + "=nobody-is-asked"})
	if err != nil {
		return nil, err
	}
	if err := c.makeOwn(nil, nil); err != nil {
		return nil, err
	}
	return Declare(c, nil)
}

// accepted reports whether the lock of other accepts every tool of this configuration that this lock accepts, with the same
// definition.
func (d *Declaration) accepted(other *Declaration) bool {
	if d.lock == nil {
		return true
	}
	for _, s := range d.reach.Servers {
		for _, t := range s.Tools {
			was, there := d.lock.Tool(s.Name, t.Upstream)
			if !there || !s.Enabled || !t.Enabled {
				continue
			}
			if other.lock == nil {
				return false
			}
			if is, still := other.lock.Tool(s.Name, t.Upstream); !still || is.Hash() != was.Hash() {
				return false
			}
		}
	}
	return true
}
