package local

import (
	"maps"
)

// What a run hides, its child runs hide too, and the other way round: a goal may hold it, and an answer. A child run's table is emptied
// with the end of the run above it: until that is recorded, who goes on with the parent may need what the child answered.

// known are the values that a run's record is kept free of; nil: none.
func (r *Record) known() *hidden {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.file.hidden
	if !h.active() {
		return nil
	}
	return &hidden{texts: h.texts[:len(h.texts):len(h.texts)], digits: h.digits[:len(h.digits):len(h.digits)], numbers: maps.Clone(h.numbers), weak: maps.Clone(h.weak)}
}

// inherits has values be looked for that are known elsewhere; nil: none.
func (h *hidden) inherits(of *hidden) {
	if h == nil || of == nil {
		return
	}
	for _, text := range of.texts {
		h.texts = add(h.texts, text)
	}
	for _, text := range of.digits {
		h.digits = add(h.digits, text)
	}
	if h.numbers == nil {
		h.numbers = map[string]bool{}
	}
	if h.weak == nil {
		h.weak = map[string]bool{}
	}
	maps.Copy(h.numbers, of.numbers)
	maps.Copy(h.weak, of.weak)
}

// inherits is [hidden.inherits] for a record that is written.
func (r *Record) inherits(of *hidden) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file.hidden.inherits(of)
}

// inherited are the values that the run above knows; nil: none is known, or nothing is hidden here.
func (f *file) inherited(parent int64) *hidden {
	if parent == 0 || f.hiding().none() {
		return nil
	}
	r, stored, err := f.read(parent)
	if err != nil || r == nil {
		return nil
	}
	_, h, _, err := f.reveal(parent, stored)
	if err != nil {
		return nil
	}
	return h
}

// forgetBelow drops what a run and those below it hid; a child run's stays while its parent goes on.
func (t *tail) forgetBelow(s *session) error {
	if t.parent != 0 {
		above, err := standsAt(s, t.parent)
		if err != nil || above.state == "running" || above.state == "ready" || above.state == "parked" {
			return err
		}
	}
	return t.file.forgetAll(s, t.n, t.hidden.held)
}

// forgetAll drops what lies in the tables of a run and of those below it that are over: one that is still to be cancelled is carried on
// for that by what it hid, and drops it as it ends. Of the run itself it does only where it is told to.
func (f *file) forgetAll(s *session, n int64, itself bool) error {
	list := []int64{}
	if itself {
		list = append(list, n)
	}
	err := s.each(func(row func(...any) error) error {
		var n int64
		err := row(&n)
		list = append(list, n)
		return err
	}, selectOverBelow, n)
	for _, n := range list {
		if err == nil {
			err = f.forgetOne(s, n)
		}
	}
	return err
}

// forgetOne drops what one run hid.
func (f *file) forgetOne(s *session, n int64) error {
	changed, err := s.exec(deleteRedacted, n)
	if err != nil || changed == 0 {
		return err
	}
	f.journal.stale.Store(true)         // see journal.tidy
	_, err = s.exec(updateForgotten, n) // somebody's comment may hold such a value
	return err
}
