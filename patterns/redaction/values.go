package redaction

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Rules say which values are kept out of records (spec/config.md section 2, redact). The zero Rules hide nothing, at no cost.
type Rules struct {
	args, result, input [][]string // tokens below the first word
	answer              bool
	tools               map[string]toolPlaces
	vars                []string // vars of policies that read hidden places
}

// Read makes Rules from pointers such as /args/card, /result/*/email, /input/iban and /answer. The pointer charge:/args/card concerns
// only the tool charge. The error names a pointer that has another form.
func Read(pointers []string) (r Rules, err error) {
	for _, p := range pointers {
		tool, pointer, one := strings.Cut(p, ":")
		if one && toolsOwn(tool) {
			p = pointer
		} else {
			tool = ""
		}
		tokens := ijson.Pointer(p).Tokens()
		switch {
		case tool != "":
			if err := r.ofTool(tool, p, tokens); err != nil {
				return r, err
			}
		case len(tokens) > 1 && tokens[0] == "args":
			r.args = append(r.args, tokens[1:])
		case len(tokens) > 1 && tokens[0] == "result":
			r.result = append(r.result, tokens[1:])
		case len(tokens) > 1 && tokens[0] == "input":
			r.input = append(r.input, tokens[1:])
		case len(tokens) == 1 && tokens[0] == "answer":
			r.answer = true
		case len(tokens) == 2 && tokens[0] == varsWord: // only [ComputedVars] makes it
			r.vars = append(r.vars, tokens[1])
		default:
			return r, fmt.Errorf("local: redact: %q is not such a pointer; write /args/card, /result/*/email, /input/iban or /answer", p)
		}
	}
	return r, nil
}

// None reports whether the rules hide nothing.
func (r Rules) None() bool {
	return len(r.args) == 0 && len(r.result) == 0 && len(r.input) == 0 && !r.answer && len(r.tools) == 0 && len(r.vars) == 0
}

// With returns rules that hide what r or o hides.
func (r Rules) With(o Rules) Rules {
	return Rules{
		args: append(slices.Clone(r.args), o.args...), result: append(slices.Clone(r.result), o.result...),
		input: append(slices.Clone(r.input), o.input...), answer: r.answer || o.answer,
		tools: bothTools(r.tools, o.tools), vars: append(slices.Clone(r.vars), o.vars...),
	}
}

// Values are the values of one run that are kept out of its record. Nil hides nothing. It is not safe for concurrent use.
type Values struct {
	Rules
	hashes  map[string]string   // as a marker shows it, by canonical value
	fresh   []store.HiddenValue // not stored yet
	texts   []string            // found also within other texts
	numbers map[string]bool     // by their JSON text, found only if equal
	digits  []string            // numbers that are also found within texts
	weak    map[string]bool     // by member and canonical value
	calls   map[string]string   // the tool of each call, by its key
	over    bool                // the run ended: nothing more goes into the table
	held    bool                // at the end of the run the table was not empty
}

// Values returns an empty set of values, for a new run.
func (r Rules) Values() *Values {
	return &Values{Rules: r, hashes: map[string]string{}, numbers: map[string]bool{}, weak: map[string]bool{}, calls: map[string]string{}}
}

// Active reports whether bodies must be searched. It is also true if a process with another configuration hid something.
func (h *Values) Active() bool { return h != nil && (!h.None() || len(h.hashes) > 0) }

// Seal returns an event of a run in its stored form, with its values hidden. head is the hash of the event before. A nil Values hides
// nothing.
func (h *Values) Seal(run string, e journal.Event, head []byte) patterns.Event {
	if !h.Active() {
		return journal.Seal(run, e, head)
	}
	stored := patterns.Event{Seq: int64(e.Seq), At: e.At.UnixMicro(), Kind: e.Kind, Key: e.Key}
	stored.Body = h.body(e.Kind, e.Key, journal.Encode(e.Body))
	stored.Seal(run, head)
	if e.Kind == patterns.EndEvent {
		h.over, h.held, h.fresh = true, len(h.hashes) > 0, nil
	}
	return stored
}

// Fresh returns the values that were hidden since the last call. They are stored with the events that hide them.
func (h *Values) Fresh() []store.HiddenValue {
	if h == nil {
		return nil
	}
	fresh := h.fresh
	h.fresh = nil
	return fresh
}

// Drops reports which hidden values the end of the run drops. Call it after the end was sealed. drops means those of child runs, and
// itself also those of the run.
func (h *Values) Drops() (drops, itself bool) {
	return h != nil && (h.held || !h.None()), h != nil && h.held
}

// Known returns the known values, so that another run can search for them, see [Values.Inherits]; nil: none.
func (h *Values) Known() *Values {
	if !h.Active() {
		return nil
	}
	return &Values{texts: h.texts[:len(h.texts):len(h.texts)], digits: h.digits[:len(h.digits):len(h.digits)], numbers: maps.Clone(h.numbers), weak: maps.Clone(h.weak)}
}

// Inherits adds values that another run knows to those that are searched for; nil: none.
func (h *Values) Inherits(of *Values) {
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

// Marker is the beginning of the JSON that replaces a hidden value.
const Marker = `{"` + patterns.Redacted + `":`

// Reveal returns stored events with their hidden values put back, for the replay of a record, and the values that the run hides. It
// replaces the markers whose hashes are in the table of the run. That table is empty after the run has ended. lost reports that values
// are missing.
func (r Rules) Reveal(s store.Reader, n int64, stored []patterns.Event) (open []patterns.Event, h *Values, lost bool, err error) {
	h = r.Values()
	marked := slices.ContainsFunc(stored, func(e patterns.Event) bool { return bytes.Contains(e.Body, []byte(Marker)) })
	if !marked {
		h.Learn(stored)
		return stored, h, false, nil
	}
	values := map[string]any{}
	list, err := s.Hidden(n)
	if err != nil {
		return nil, nil, false, err
	}
	for _, v := range list {
		value, err := journal.DecodeTrusted(v.Value)
		if err != nil {
			return nil, nil, false, err
		}
		values[hashText(v.Hash)] = value
		h.hashes[string(v.Value)] = hashText(v.Hash)
	}
	for text := range h.hashes {
		if v, err := journal.DecodeTrusted([]byte(text)); err == nil && strings.HasPrefix(text, `"`) {
			h.know("", v)
		}
	}
	open = slices.Clone(stored)
	for i, e := range open {
		if bytes.Contains(e.Body, []byte(Marker)) {
			body, err := journal.DecodeTrusted(e.Body)
			if err != nil {
				return nil, nil, false, fmt.Errorf("%w: event %d: %w", journal.ErrBroken, e.Seq, err)
			}
			open[i].Body = ijson.Canonical(revealed(body, values, &lost))
		}
	}
	h.Learn(open)
	return open, h, lost, nil
}

// Learn reads the values at the places of a record, so that they are known again.
func (h *Values) Learn(open []patterns.Event) {
	if h.None() {
		return
	}
	for _, e := range open {
		if body, err := journal.DecodeTrusted(e.Body); err == nil {
			h.look(e.Kind, e.Key, body, finding)
		}
	}
}

// revealed replaces the markers in a value and returns it. A value from outside that looks like a marker was hidden itself, so
// replaced values are not searched.
func revealed(v any, values map[string]any, lost *bool) any {
	switch v := v.(type) {
	case map[string]any:
		if hash, ok := v[patterns.Redacted].(string); ok && len(v) == 1 {
			if value, ok := values[hash]; ok {
				return value
			}
			*lost = true
			return v
		}
		for name, m := range v {
			v[name] = revealed(m, values, lost)
		}
	case []any:
		for i, m := range v {
			v[i] = revealed(m, values, lost)
		}
	}
	return v
}

// mark returns the marker that replaces a value.
func (h *Values) mark(v any) any {
	text := ijson.Canonical(v)
	hash, known := h.hashes[string(text)]
	if !known {
		var salt [16]byte
		_, _ = rand.Read(salt[:]) // never fails, see crypto/rand
		sum := sha256.Sum256(append(salt[:], text...))
		hash = "sha256:" + hex.EncodeToString(sum[:])
		h.hashes[string(text)] = hash
		if !h.over {
			h.fresh = append(h.fresh, store.HiddenValue{Hash: sum[:], Value: text})
		}
	}
	return map[string]any{patterns.Redacted: hash}
}

// body returns the canonical body of an event with its values hidden.
func (h *Values) body(kind patterns.EventKind, key string, text []byte) []byte {
	body, err := journal.DecodeTrusted(text)
	if err != nil { // it is our own text; an empty body cannot reveal anything
		return []byte("{}")
	}
	h.look(kind, key, body, finding)
	return ijson.Canonical(h.look(kind, key, body, hiding))
}

// hashText returns a hash in the form of a marker.
func hashText(hash []byte) string { return "sha256:" + hex.EncodeToString(hash) }
