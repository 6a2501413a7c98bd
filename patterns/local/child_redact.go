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
