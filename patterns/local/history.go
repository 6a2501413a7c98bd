package local

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// history is what a record says. The life that continues the run begins with it.
type history struct {
	start    journal.StartBody
	began    time.Time
	past     map[string]*memory
	quotas   map[string]int    // that recorded effects used; known after a rehearsal
	phase    string            // likewise
	order    int               // intents
	calls    int               // of tools, among them
	answered int               // of these, those with an outcome
	asked    int               // requests to the model
	idle     time.Duration     // time in which no process ran it
	waited   waited            // for its caller and for people
	noted    bool              // it says who canceled the run
	wrote    bool              // a call that changes something was begun
	canceled bool              // its cancellation was requested
	rests    bool              // its notes say that the run now rests with a child run
	granted  map[string]string // approvals that were spent, by the idempotency key of their call
	held     map[int64]bool    // plans that it has claimed and not released, by their numbers
	end      *journal.EndBody
	last     time.Time // time of the newest event
	latest   time.Time // time of the newest outcome; before the first one, of the start
}

// memory is what the record says about one key. The times of its outcome are those that pattern code sees.
type memory struct {
	intent  *journal.IntentBody
	began   time.Time     // of the intent, as recorded
	idle    time.Duration // the run's idle time before the intent
	outcome patterns.Outcome
	seq     int // of the outcome's event
	tries   int // how often the run was interrupted since the intent
	visited bool
}

// remembered reads a record into a history.
func remembered(events []journal.Event) *history {
	h := &history{past: map[string]*memory{}, quotas: map[string]int{}, granted: map[string]string{}, held: map[int64]bool{}}
	var open []*memory // intents without outcome
	leftInOrder := false
	for _, e := range events {
		switch body := e.Body.(type) {
		case journal.StartBody:
			h.start, h.began, h.latest = body, e.At, e.At
		case journal.IntentBody:
			m := h.at(e.Key)
			h.intend(m, body, e.At)
			open = append(open, m)
		case journal.OutcomeBody:
			if e.Kind != patterns.OutcomeEvent {
				break
			}
			m := h.at(e.Key)
			h.Learn(m, e, body)
			open = slices.DeleteFunc(open, func(o *memory) bool { return o == m })
		case journal.JudgedBody:
			if body.Weighed() {
				m := h.at(e.Key)
				m.seq, m.outcome = e.Seq, patterns.Outcome{State: patterns.OK, Output: map[string]any(body), Recorded: patterns.Recorded{Key: e.Key}}
			}
		case journal.NoteBody:
			leftInOrder = leftInOrder || body.What == noteDetach || body.What == noteRest
			h.rests = body.What == noteRest || h.rests && body.What != noteWake && body.What != noteTakeover
			h.noted = h.noted || body.What == noteCancel
			if body.What == noteTakeover || body.What == noteSeize || body.What == noteWake {
				h.idle += e.At.Sub(h.last)
				h.waited.skip(e.At.Sub(h.last))
			}
			if body.What == noteTakeover || body.What == noteWake {
				for _, m := range open {
					if !leftInOrder {
						m.tries++
					}
				}
				leftInOrder = false
			}
		case journal.EndBody:
			h.end = &body
		}
		h.last = e.At
	}
	return h
}

// Values of What in the notes of the engine.
const (
	noteTakeover = "takeover" // another life continues the run, which no process ran since the event before
	noteDetach   = "detach"   // its process left it in order: none of its effects is the cause
	noteCancel   = "cancel"
	noteSeize    = "seize"
	noteSettle   = "settle"
	noteRest     = "rest" // the run rests with a child run that waits
	noteWake     = "wake" // it continues after that rest
)

func (h *history) at(key string) *memory {
	m := h.past[key]
	if m == nil {
		m = &memory{}
		h.past[key] = m
	}
	return m
}

func (h *history) intend(m *memory, body journal.IntentBody, at time.Time) {
	h.order++
	if body.Kind == patterns.ToolEffect {
		h.calls++
		h.wrote = h.wrote || body.Effect != "read"
		if body.Grant != "" {
			h.granted[body.Once] = grantOf(body.Grant, body.Share)
		}
	}
	if isWait(body.Kind, body.Name) {
		h.waited.begin(at)
	}
	m.intent, m.began, m.idle = &body, at, h.idle
	m.outcome.Order, m.outcome.Began, m.outcome.Once, m.outcome.Idle = h.order, at.Add(-h.idle), body.Once, h.idle
}

func (h *history) Learn(m *memory, e journal.Event, body journal.OutcomeBody) {
	o := body.Outcome()
	o.Recorded = m.outcome.Recorded
	m.seq, h.latest = e.Seq, e.At
	o.Key, o.At, o.Down = e.Key, e.At.Add(-h.idle), h.idle-m.idle
	if m.intent == nil {
		o.Down, o.Idle = 0, h.idle
	}
	m.outcome = o
	h.asked += body.Usage.Requests
	if m.intent != nil && m.intent.Kind == patterns.ToolEffect {
		h.answered++
	}
	if m.intent != nil && isWait(m.intent.Kind, m.intent.Name) {
		h.waited.end(e.At)
	}
	h.holding(m)
}

// fits compares an effect with the intent that is recorded under its key. A difference is [ErrMismatch].
func (m *memory) fits(key string, e patterns.Effect) error {
	if m.intent != nil && (m.intent.Kind != e.Kind() || !bytes.Equal(m.intent.Input, e.Input)) {
		return fmt.Errorf("%w: %s was recorded as %s and is now %s", ErrMismatch, key, m.intent.Input, e.Input)
	}
	if does[patterns.JudgeAct](e) {
		body, _ := m.outcome.Output.(map[string]any)
		if recorded := ijson.Canonical(body["proposal"]); !journal.JudgedBody(body).Weighed() || !bytes.Equal(recorded, e.Input) {
			return fmt.Errorf("%w: %s was judged of %s and is now of %s", ErrMismatch, key, recorded, e.Input)
		}
	}
	m.visited = true
	return nil
}

// rehearsal is a dry replay. Pattern code runs over the record, and no effect is performed. Each branch ends at its first effect
// without an outcome.
type rehearsal struct {
	id       string
	finished bool
	result   patterns.Result
	open     []pending              // where its branches ended, in their order
	soFar    func() patterns.Result // what the code shows before its end; nil: nothing
}

// pending is an effect without a recorded outcome.
type pending struct {
	key    string
	effect patterns.Effect
	m      *memory // nil: the effect was not begun
}

// rehearse replays a record dry. It returns [ErrMismatch] if code and record do not fit each other; then no effect of the run may
// be performed. It sets the history's quotas and phase.
func (r *run) rehearse(h *history) (*rehearsal, error) {
	for _, m := range h.past {
		m.visited = false
	}
	d := &rehearsal{id: r.id}
	l := &life{run: r, record: &Record{}, past: h.past, dry: d, quotas: map[string]int{}, done: make(chan struct{})}
	l.prepare()
	now := patterns.Current{Since: h.began, Done: h.answered}
	l.now.Store(&now)
	go l.play()
	<-l.done
	for _, key := range slices.Sorted(maps.Keys(h.past)) {
		if !h.past[key].visited && l.cause == nil {
			l.cause = fmt.Errorf("%w: %s was recorded and is left out", ErrMismatch, key)
		}
	}
	h.quotas, h.phase = l.quotas, l.phase
	if _, panicked := errors.AsType[*patterns.Fault](l.cause); panicked { // the code did not panic over this record when the record was written
		return d, fmt.Errorf("%w: %w", ErrMismatch, l.cause)
	}
	return d, l.cause
}

// play runs pattern code in the goroutine of a rehearsal.
func (l *life) play() {
	pattern, known := l.engine.codeOf(l.job.Spec.Kind)
	defer close(l.done)
	defer l.cancel()
	l.baton.Lock()
	defer l.baton.Unlock()
	defer l.contain()
	if !known {
		l.unwind(fmt.Errorf("%w: no pattern of kind %q", ErrMismatch, l.job.Spec.Kind))
	}
	l.dry.result = pattern(&branch{life: l, keys: newKeys(""), at: l.began, newest: l.began}, l.job.Spec, l.job.Asked())
	l.dry.finished = true
}

// rehearse gives an effect its recorded outcome, or ends the branch.
func (b *branch) rehearse(m *memory, key string, e patterns.Effect) patterns.Outcome {
	if m != nil {
		if fault := m.fits(key, e); fault != nil {
			b.unwind(fault)
		}
		if m.intent != nil {
			for _, q := range e.Quotas {
				b.quotas[q.Name]++
			}
		}
	}
	if m == nil || m.outcome.State == "" {
		b.dry.open = append(b.dry.open, pending{key, e, m})
		runtime.Goexit()
	}
	return b.recorded(m, e)
}

// waitingFor returns what a resting run waits for, as its rehearsal shows it; nil: nothing.
func (d *rehearsal) waitingFor(wait func(patterns.Effect) (time.Duration, bool)) *patterns.Waiting {
	var first *patterns.Waiting
	for _, p := range d.open {
		if p.m == nil || p.effect.Waiting() == nil {
			continue
		}
		w := *p.effect.Waiting()
		w.Key, w.Since = p.key, p.m.began
		if patience, ok := wait(p.effect); ok && !journal.IsQuestion(p.effect) {
			w.Until = w.Since.Add(patience)
		}
		if first == nil || compareKeys(w.Key, first.Key) < 0 {
			first = &w
		}
	}
	return first
}

// answeredBy names what answered a run's questions, for its result: the caller, a person or a model.
func answeredBy(job patterns.Job, r patterns.Result) string {
	if !r.Asked && (job.Task.Caller != nil || len(r.Proposed) > 0) {
		return cmp.Or(r.Answerers(""), "caller")
	}
	return r.Answerers(modelOf(job))
}

// modelOf returns the name of a run's model; "": it has none.
func modelOf(job patterns.Job) string {
	if job.Model == nil {
		return ""
	}
	return job.Model.Name()
}
