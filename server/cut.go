package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"patterngate/ijson"
)

// Heads of cut observations, in bytes (spec/surface.md section 1, "Cutting").
const (
	firstHead = 1024
	lastHead  = 128
)

// present makes both channels of a result, each of at most limit bytes (limits.result_bytes; raw values are bounded by
// themselves and do not count). What does not fit is cut the same in both: the longest observations to their heads,
// then the heads, then the oldest rows. Where even a result without rows does not fit, the rest is squeezed before. An
// error says that a value is no JSON.
func (e Envelope) present(limit int) (structured json.RawMessage, text string, err error) {
	return e.presentIn(newScratch(), limit)
}

// presentIn is present with lent space, of which nothing is kept.
func (e Envelope) presentIn(space *scratch, limit int) (structured json.RawMessage, text string, err error) {
	e, err = e.fitted(space, limit)
	if err != nil {
		return nil, "", fmt.Errorf("result: %w", err)
	}
	v, err := newView(e, space)
	if err != nil {
		return nil, "", fmt.Errorf("result: %w", err)
	}
	for {
		channel, words, err := v.channels()
		if err != nil {
			return nil, "", fmt.Errorf("result: %w", err)
		}
		over := v.over(channel, words, limit)
		if over <= 0 {
			return bytes.Clone(channel), string(words), nil
		}
		base, err := v.withoutRows(limit)
		if err != nil {
			return nil, "", fmt.Errorf("result: %w", err)
		}
		if base > 0 && v.squeeze() {
			continue
		}
		if !v.cut(over) {
			return bytes.Clone(channel), string(words), nil
		}
	}
}

// scratch is space in which values are encoded while it is not known how long they get.
type scratch struct{ observations, structured, text []byte }

func newScratch() *scratch {
	return &scratch{make([]byte, 0, 4<<10), make([]byte, 0, 8<<10), make([]byte, 0, 4<<10)}
}

// ordinary reports space that is worth keeping.
func (s *scratch) ordinary() bool {
	const most = 64 << 10
	return max(cap(s.observations), cap(s.structured), cap(s.text)) <= most
}

// view is an envelope on its way to be shown. Its observations are encoded once, for both channels.
type view struct {
	Envelope
	observations []observation // of History, row by row; then BadObservation's, and the one of kind call
	squeezed     int           // how often the rest was squeezed
	raw          int           // bytes of the raw values
	space        *scratch
}

// observation is what a row shows of what a call returned.
type observation struct {
	text json.RawMessage // nil: the row shows none
	head int             // 0: whole
}

// long reports whether there is more of an observation than the first head.
func (o observation) long() bool {
	return o.head == firstHead || o.head == 0 && len(o.text) > firstHead
}

func newView(e Envelope, lent *scratch) (*view, error) {
	v := &view{Envelope: e, observations: make([]observation, len(e.History)+2), space: lent}
	space := lent.observations[:0]
	for i := range v.observations {
		o, ok := v.observed(i)
		if !ok {
			continue
		}
		at := len(space)
		var err error
		if space, err = ijson.AppendChecked(space, o); err != nil {
			return nil, err
		}
		v.observations[i].text = space[at:len(space):len(space)]
		if _, _, isCut := cutBefore(o); isCut {
			v.observations[i].head = firstHead
		}
	}
	lent.observations = space
	for _, raw := range []*any{e.RawPlan, e.RawRoute, e.RawAction} {
		if raw == nil {
			continue
		}
		text, err := ijson.AppendChecked(nil, *raw)
		if err != nil {
			return nil, err
		}
		v.raw += len(text)
	}
	return v, nil
}

// observed is the i-th row's observation, or after the last row the bad one, then the one of kind call.
func (v *view) observed(i int) (any, bool) {
	if i < len(v.History) {
		return observed(v.History[i])
	}
	alone := v.BadObservation
	if i > len(v.History) {
		alone = v.Observation
	}
	if alone == nil {
		return nil, false
	}
	return *alone, true
}

// channels are structuredContent and text as they now stand. They lie in the lent space, until channels are made anew.
func (v *view) channels() (structured, text []byte, err error) {
	e := v.Envelope
	if v.History != nil { // a result that is no pattern's has none
		e.History = make([]any, len(v.History))
	}
	for i, row := range v.History {
		if o := v.observations[i]; o.text != nil {
			row = showing(row, o.text)
		}
		e.History[i] = row
	}
	if e.BadObservation != nil {
		var bad any = v.observations[len(v.History)].text
		e.BadObservation = &bad
	}
	if e.Observation != nil {
		var returned any = v.observations[len(v.History)+1].text
		e.Observation = &returned
	}
	structured, err = appendJSON(v.space.structured[:0], e)
	text = v.Envelope.text(v.space.text[:0], v.observations)
	v.space.structured, v.space.text = structured, text
	return structured, text, err
}

// over is by how many bytes the longer channel is too long.
func (v *view) over(structured, text []byte, limit int) int {
	return max(len(structured)-v.raw-limit, len(text)-limit)
}

// withoutRows is by how many bytes the result were too long if it had no rows and the shortest heads.
func (v *view) withoutRows(limit int) (int, error) {
	bare := *v
	bare.space = newScratch() // the channels of v are still wanted
	bare.History, bare.Trace = []any{}, []any{}
	bare.HistoryOmitted, bare.TraceOmitted = len(v.History), len(v.Trace)
	bare.observations = slices.Clone(v.observations[len(v.History):])
	for i, o := range bare.observations {
		if o.long() {
			bare.cutTo(i, lastHead)
		}
	}
	structured, text, err := bare.channels()
	return bare.over(structured, text, limit), err
}

// cut takes at least one thing away, more while what was taken is less than over bytes. It is false where nothing is
// left to take.
func (v *view) cut(over int) bool {
	saved := 0
	for saved < over {
		i := v.longestWhole()
		if i < 0 {
			break
		}
		saved += v.cutTo(i, firstHead)
	}
	if saved > 0 {
		return true
	}
	for i, o := range v.observations {
		if o.long() {
			saved += v.cutTo(i, lastHead)
		}
	}
	if saved > 0 {
		return true
	}
	return v.dropRows(over)
}

// longestWhole is the longest observation that cutting makes shorter, the first of equals; -1 where there is none.
func (v *view) longestWhole() int {
	longest := -1
	for i, o := range v.observations {
		if o.head != 0 || longest >= 0 && len(o.text) <= len(v.observations[longest].text) {
			continue
		}
		if o.long() && len(v.cutForm(i, firstHead)) < len(o.text) {
			longest = i
		}
	}
	return longest
}

// cutTo shows only the beginning of an observation and returns how many bytes that saves.
func (v *view) cutTo(i, head int) int {
	o := &v.observations[i]
	short := v.cutForm(i, head)
	if o.text == nil || len(short) >= len(o.text) {
		return 0
	}
	saved := len(o.text) - len(short)
	o.text, o.head = short, head
	return saved
}

// cutForm is the marked beginning of an observation; of one that was cut before, a beginning of the same whole.
func (v *view) cutForm(i, head int) json.RawMessage {
	whole, _ := v.observed(i)
	return ijson.Canonical(cutOf(whole, head))
}

// cutOf is the marked beginning of a value; of one that was cut before, a beginning of the same whole.
func cutOf(whole any, head int) map[string]any {
	bytes, text, isCut := cutBefore(whole)
	if !isCut {
		text = string(ijson.Canonical(whole))
		bytes = float64(len(text))
	}
	return map[string]any{"truncated": true, "bytes": bytes, "head": ijson.Cut(text, head)}
}

// cutBefore reads the cut form of an observation that was too long already when the run saw it.
func cutBefore(observation any) (bytes float64, head string, isCut bool) {
	o, _ := observation.(map[string]any)
	bytes, counted := o["bytes"].(float64)
	head, beginning := o["head"].(string)
	return bytes, head, o["truncated"] == true && counted && beginning && len(o) == 3
}

// dropRows takes the oldest rows away, each time from the longer of history and trace.
func (v *view) dropRows(over int) bool {
	history, trace := v.rowSizes(v.History), v.rowSizes(v.Trace)
	for i := range history {
		history[i] += len(v.observations[i].text)
	}
	saved := 0
	for saved < over && len(history)+len(trace) > 0 {
		if total(history) >= total(trace) && len(history) > 0 {
			saved += history[0]
			history = history[1:]
			v.History, v.observations = v.History[1:], v.observations[1:]
			v.HistoryOmitted++
			continue
		}
		saved += trace[0]
		trace = trace[1:]
		v.Trace = v.Trace[1:]
		v.TraceOmitted++
	}
	return saved > 0
}

// rowSizes are the bytes of rows without their observations.
func (v *view) rowSizes(rows []any) []int {
	sizes := make([]int, len(rows))
	for i, row := range rows {
		if _, shows := observed(row); shows {
			row = showing(row, nil)
		}
		text, _ := appendJSON(nil, row) // it was encoded before
		sizes[i] = len(text) + 1
	}
	return sizes
}

func total(sizes []int) int {
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	return sum
}
