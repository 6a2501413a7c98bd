package envelope

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"patterngate/ijson"
)

// The heads of cut observations, in bytes (spec/surface.md section 1, "Cutting").
const (
	firstHead = 1024
	lastHead  = 128
)

// Present encodes both channels of a result, each of at most limit bytes (limits.result_bytes). Raw values have their
// own bound and do not count. It cuts the same parts in both channels: first the longest observations to their heads,
// then the heads, then the oldest rows. If even a result without rows does not fit, it first squeezes the other
// members. An error means that a value is not JSON.
func (e Envelope) Present(limit int) (structured json.RawMessage, text string, err error) {
	return e.PresentIn(NewScratch(), limit)
}

// PresentIn is [Envelope.Present] with borrowed buffers. The results do not refer to the buffers.
func (e Envelope) PresentIn(space *Scratch, limit int) (structured json.RawMessage, text string, err error) {
	e, err = e.Fitted(space, limit)
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

// Scratch holds buffers for encoding values of unknown length.
type Scratch struct{ observations, structured, text []byte }

// NewScratch returns buffers of the size that most results need.
func NewScratch() *Scratch {
	return &Scratch{make([]byte, 0, 4<<10), make([]byte, 0, 8<<10), make([]byte, 0, 4<<10)}
}

// Ordinary reports whether the buffers are small enough to keep for later use.
func (s *Scratch) Ordinary() bool {
	const most = 64 << 10
	return max(cap(s.observations), cap(s.structured), cap(s.text)) <= most
}

// view is an envelope that is being presented. Its observations are encoded once, for both channels.
type view struct {
	Envelope
	observations []observation // one for each row of History; then BadObservation, then Observation
	squeezed     int           // how often the other members were squeezed
	raw          int           // size of the raw values, in bytes
	space        *Scratch
}

// observation is the part of a call's result that a row shows.
type observation struct {
	text json.RawMessage // nil: the row shows none
	head int             // 0: not cut
}

// long reports whether an observation is longer than the first head.
func (o observation) long() bool {
	return o.head == firstHead || o.head == 0 && len(o.text) > firstHead
}

func newView(e Envelope, lent *Scratch) (*view, error) {
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
		if _, _, isCut := CutBefore(o); isCut {
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

// observed returns the observation of row i. The first index after the rows is BadObservation, the next is the
// observation of kind call.
func (v *view) observed(i int) (any, bool) {
	if i < len(v.History) {
		return Observed(v.History[i])
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

// channels encodes structuredContent and text in their present state. The results are valid until the next call of
// channels, because they use the borrowed buffers.
func (v *view) channels() (structured, text []byte, err error) {
	e := v.Envelope
	if v.History != nil { // only results of patterns have one
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
	structured, err = AppendJSON(v.space.structured[:0], e)
	text = v.Envelope.text(v.space.text[:0], v.observations)
	v.space.structured, v.space.text = structured, text
	return structured, text, err
}

// over returns by how many bytes the longer channel exceeds the limit.
func (v *view) over(structured, text []byte, limit int) int {
	return max(len(structured)-v.raw-limit, len(text)-limit)
}

// withoutRows returns by how many bytes the result would exceed the limit without rows and with the shortest heads.
func (v *view) withoutRows(limit int) (int, error) {
	bare := *v
	bare.space = NewScratch() // the channels of v are still in use
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

// cut cuts the longest observations to their first heads until it has saved over bytes. If that saves nothing, it cuts
// all heads to their last form. If that saves nothing either, it drops rows. It returns false if nothing is left to
// cut.
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

// longestWhole returns the index of the longest observation that cutting makes shorter, the first of equals. It returns
// -1 if there is none.
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

// cutTo replaces an observation by its head and returns how many bytes that saves.
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

// cutForm returns the marked head of an observation. If the observation was cut before, the head is of the same
// original.
func (v *view) cutForm(i, head int) json.RawMessage {
	whole, _ := v.observed(i)
	return ijson.Canonical(cutOf(whole, head))
}

// cutOf returns the marked head of a value. If the value was cut before, the head is of the same original.
func cutOf(whole any, head int) map[string]any {
	bytes, text, isCut := CutBefore(whole)
	if !isCut {
		text = string(ijson.Canonical(whole))
		bytes = float64(len(text))
	}
	return map[string]any{"truncated": true, "bytes": bytes, "head": ijson.Cut(text, head)}
}

// CutBefore reads the cut form of an observation that was too long when the run recorded it.
func CutBefore(observation any) (bytes float64, head string, isCut bool) {
	o, _ := observation.(map[string]any)
	bytes, counted := o["bytes"].(float64)
	head, beginning := o["head"].(string)
	return bytes, head, o["truncated"] == true && counted && beginning && len(o) == 3
}

// dropRows removes the oldest rows, each time from the longer of history and trace, until it has saved over bytes. It
// reports whether it saved any.
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

// rowSizes returns the size of each row without its observation, in bytes.
func (v *view) rowSizes(rows []any) []int {
	sizes := make([]int, len(rows))
	for i, row := range rows {
		if _, shows := Observed(row); shows {
			row = showing(row, nil)
		}
		text, _ := AppendJSON(nil, row) // it was encoded before
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

// PageFrame is the maximum size of a page without its rows, in bytes.
const PageFrame = 640
