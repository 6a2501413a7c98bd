package record

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
)

// Story is the history of a run, read from its record. The zero Story is of an empty record.
type Story struct {
	RunID     string               `json:"run_id"`
	Pattern   string               `json:"pattern"`
	Kind      string               `json:"pattern_kind"`
	Version   string               `json:"version,omitempty"`
	Principal string               `json:"principal"`
	Client    patterns.ClientBody  `json:"client,omitzero"`
	Arguments json.RawMessage      `json:"arguments,omitempty"`
	Parent    *patterns.ParentBody `json:"parent,omitempty"` // of a child run

	Status     string `json:"status"` // ok, stopped, running or waiting
	StopReason string `json:"stop_reason,omitempty"`
	Phase      string `json:"phase,omitempty"`
	Answered   string `json:"answered,omitempty"` // no or partly, as in the run's result
	CreatedAt  string `json:"created_at"`         // RFC 3339, UTC, whole seconds
	EndedAt    string `json:"ended_at,omitempty"`
	// Took is the time from the first event to the end, or to the newest event. It includes waiting; Waited is the waiting alone.
	Took   float64 `json:"took_seconds"`
	Waited float64 `json:"waited_seconds"`

	Budget map[string]patterns.Spent `json:"budget,omitempty"`
	Usage  patterns.UsageBody        `json:"usage"`
	Models []patterns.ModelUsage     `json:"models,omitempty"` // per model that was asked, for the run's own questions
	Rows   []Row                     `json:"timeline"`
	Record Kept                      `json:"record"`

	events   []patterns.Event
	envelope envelope
	rests    *float64 // since when it waits with a child run, in seconds after its start; nil: it does not
}

// Hashes returns the hashes of the configuration, policies and catalog of the run, from its start event. They are "" if the record does
// not begin with a start event that can be read.
func (s Story) Hashes() patterns.Hashes {
	if len(s.events) == 0 || s.events[0].Kind != patterns.StartEvent {
		return patterns.Hashes{}
	}
	body, err := patterns.DecodeBody(s.events[0])
	if err != nil {
		return patterns.Hashes{}
	}
	start := body.(*patterns.StartBody)
	return patterns.Hashes{Config: start.Config, Policy: start.Policy, Catalog: start.Catalog}
}

// Kept identifies the record that a story is read from.
type Kept struct {
	Events int64  `json:"events"`
	Head   string `json:"head"` // sha256: and 64 hex
}

// These are the kinds of rows that are not about an effect.
const (
	Judged     = "judged"
	Late       = "late"
	Note       = "note"
	Unreadable = "unreadable"
)

// Open is the state of an effect without an outcome.
const Open = "open"

// Row is one entry of the timeline, in the order of their start.
type Row struct {
	Seq   int64    `json:"seq"`           // of its first event
	After float64  `json:"after_seconds"` // since the start
	Took  *float64 `json:"took_seconds,omitempty"`
	Phase string   `json:"phase,omitempty"`
	Kind  string   `json:"kind"` // an effect's kind, or judged, late, note, unreadable
	Key   string   `json:"key,omitempty"`
	Name  string   `json:"name,omitempty"` // of the effect or proposal; of a note, what was done
	// Attempt counts repeated calls with the same arguments in one branch, or for one subtask, after failed ones. It starts at 2.
	Attempt  int      `json:"attempt,omitempty"`
	State    string   `json:"state,omitempty"` // of the outcome, or open
	Reason   string   `json:"reason,omitempty"`
	Effect   string   `json:"effect,omitempty"` // read, write, destructive
	ArgsHash string   `json:"args_hash,omitempty"`
	Decision string   `json:"decision,omitempty"` // of the policy, or of a person: approve, edit, reject
	Rule     string   `json:"rule,omitempty"`
	Why      string   `json:"why,omitempty"` // the decision's reason
	Changed  []string `json:"revisions,omitempty"`
	By       string   `json:"by,omitempty"`
	Channel  string   `json:"channel,omitempty"`
	Sure     string   `json:"assurance,omitempty"`
	Comment  string   `json:"comment,omitempty"`
	Grant    string   `json:"grant,omitempty"` // the approval that a call uses
	Share    string   `json:"share,omitempty"` // of a plan that was approved whole: the step whose share the call uses
	Tokens   int      `json:"tokens,omitempty"`
	// Models lists the models that were asked in turn, if the first did not answer. The last one answered, or none did.
	Models  []string `json:"models,omitempty"`
	Child   string   `json:"child_run_id,omitempty"` // of a call that began a run
	Person           // the part about a person
	Because          // the part about the policy

	act    string // of a call: its idempotency key
	policy string // hash of the policy that judged it
	// proposed is {args} of a call that was changed and made at once.
	proposed json.RawMessage
	input    json.RawMessage
	output   json.RawMessage
	ended    int64 // when the outcome was recorded; 0: no outcome
	began    int64
	requests int    // of an answer: how many requests went to a model
	who      string // a model's name or rules; "" if not known
}

// Who returns the words for the author of a proposal or an answer: "the model" or "the offline rules". It returns "" if the author is
// not known.
func (r Row) Who() string {
	switch {
	case r.Kind != string(patterns.ModelEffect) || r.who == "":
		return ""
	case r.who == patterns.ByRules:
		return theOfflineRules
	}
	return theModel
}

// Branch returns the path of the row's branch: "task#2" of "task#2/payments_worker#1"; "" is the run itself.
func (r Row) Branch() string {
	if at := strings.LastIndexByte(r.Key, '/'); at >= 0 {
		return r.Key[:at]
	}
	return ""
}

// Input returns the request or the proposal; nil if there is none.
func (r Row) Input() json.RawMessage { return r.input }

// Waits reports whether the row is about waiting: for a person, for the caller, or a pause.
func (r Row) Waits() bool {
	return r.Kind == string(patterns.HumanEffect) || r.Kind == string(patterns.TimerEffect) || r.awaitsCaller()
}

func (r Row) awaitsCaller() bool { return r.Kind == string(patterns.CallerEffect) && r.Name == "turn" }

// envelope is the part of the end event's result that is read.
type envelope struct {
	Answered string                    `json:"answered"`
	Budget   map[string]patterns.Spent `json:"budget"`
	Effects  []effectShown             `json:"effects"`
	Plan     json.RawMessage           `json:"plan"`
	Usage    struct {
		Model string `json:"model"`
	} `json:"usage"`
}

// effectShown is a call in the form that a result shows.
type effectShown struct {
	Key      string `json:"key"`
	ArgsHash string `json:"args_hash"` // a redacted hash is a text
	Status   string `json:"status"`
}

// Read returns the story of a record.
func Read(events []patterns.Event) Story {
	s := Story{events: events, Status: string(patterns.Running), Rows: []Row{}}
	if len(events) == 0 {
		return s
	}
	head := patterns.HeadOf(events)
	_, hash, _ := strings.Cut(head.String(), " ")
	s.Record = Kept{head.Events, hash}
	s.CreatedAt = clock(events[0].At)
	s.Took = seconds(events[len(events)-1].At - events[0].At)
	for _, e := range events {
		s.take(e)
	}
	for i := range s.Rows {
		s.finish(&s.Rows[i])
	}
	if s.rests != nil && s.EndedAt == "" {
		s.Status = string(patterns.Parked)
		s.Waited += max(0, s.Took-*s.rests)
	}
	if s.Status == string(patterns.Parked) {
		s.Answered = s.answered()
	}
	s.Waited = thousandths(s.Waited)
	s.spent()
	return s
}

// take enters an event.
func (s *Story) take(e patterns.Event) {
	row := Row{Seq: e.Seq, After: seconds(e.At - s.events[0].At), Key: e.Key, began: e.At}
	body, err := patterns.DecodeBody(e)
	if err != nil {
		row.Kind, row.Reason, row.Name = Unreadable, err.Error(), string(e.Kind)
		s.Rows = append(s.Rows, row)
		return
	}
	switch body := body.(type) {
	case *patterns.StartBody:
		s.begin(*body)
		return
	case *patterns.EndBody:
		s.end(*body, e.At)
		return
	case *patterns.IntentBody:
		row.intent(*body, s.Kind)
		row.Attempt = s.attempt(row)
	case *patterns.OutcomeBody:
		s.Usage.Usage = s.Usage.Plus(body.Usage.Usage)
		s.Models = patterns.PlusModels(s.Models, body.Usage.Models)
		if i := s.openRow(e); i >= 0 {
			s.Rows[i].outcome(*body, e.At)
			return
		}
		row.outcome(*body, e.At)
		row.Took = nil
		row.Name, row.Kind = nameOf(e.Key), Late
		if e.Kind == patterns.OutcomeEvent { // it was not begun
			row.Kind = string(patterns.ToolEffect)
		}
		if body.Reason == patterns.ReasonNoTime {
			row.Kind = string(patterns.TimerEffect)
		}
	case *patterns.JudgedBody:
		row.judged(*body)
	case *patterns.NoteBody:
		row.Kind, row.Name, row.By, row.Channel, row.Comment = Note, body.What, body.By, body.Channel, body.Reason
		row.acted(*body)
		s.rested(row)
	}
	s.Rows = append(s.Rows, row)
}

// rested adds the time in which the run waited with a child run, while no row of its own waited.
func (s *Story) rested(note Row) {
	switch {
	case note.Name == "rest" && !slices.ContainsFunc(s.Rows, func(r Row) bool { return r.State == Open && r.Waits() }):
		since := note.After
		s.rests = &since
	case s.rests != nil && (note.Name == "wake" || note.Name == "takeover"):
		s.Waited += note.After - *s.rests
		s.rests = nil
	}
}

func (s *Story) begin(b patterns.StartBody) {
	s.RunID, s.Pattern, s.Kind, s.Version, s.Principal, s.Client, s.Arguments = b.RunID, b.Pattern, b.PatternKind, b.Version, b.Principal, b.Client, b.Arguments
	s.Parent = b.Parent
	var limits map[string]float64
	if ijson.DecodeKnown(b.Budget, &limits) != nil {
		return
	}
	s.Budget = make(map[string]patterns.Spent, len(limits))
	for name, limit := range limits {
		s.Budget[name] = patterns.Spent{Limit: limit}
	}
}

func (s *Story) end(b patterns.EndBody, at int64) {
	s.Status, s.StopReason, s.Phase, s.EndedAt = b.Status, b.StopReason, b.Phase, clock(at)
	s.Took = seconds(at - s.events[0].At)
	if s.Usage.Model = b.Usage.Model; b.Usage.Usage != (patterns.Usage{}) {
		s.Usage.Usage = b.Usage.Usage
	}
	if plain := patterns.RedactedAsText(b.Envelope); plain != nil {
		b.Envelope = plain
	}
	_ = ijson.DecodeKnown(b.Envelope, &s.envelope) // another form is not shown
	s.Answered = s.envelope.Answered
	s.Usage.Model = cmp.Or(s.Usage.Model, s.envelope.Usage.Model)
	if s.envelope.Budget != nil {
		s.Budget = s.envelope.Budget
	}
}

// openRow returns the index of the row that an outcome ends; -1 if there is none.
func (s *Story) openRow(e patterns.Event) int {
	if e.Kind != patterns.OutcomeEvent {
		return -1
	}
	return slices.IndexFunc(s.Rows, func(r Row) bool { return r.Key == e.Key && r.State == Open })
}

// finish completes a row after all events are known.
func (s *Story) finish(r *Row) {
	if r.Waits() && r.Took != nil && !s.meanwhile(*r) {
		s.Waited += *r.Took
	}
	if r.State == Open && s.EndedAt == "" && r.Waits() {
		s.Status = string(patterns.Parked)
		s.Waited += max(0, s.Took-r.After)
	}
	if r.who == "" && s.Usage.Model != "caller" {
		r.who = s.Usage.Model
	}
	for _, e := range s.envelope.Effects {
		if e.Key == r.Key && !strings.HasPrefix(e.ArgsHash, "{") {
			r.ArgsHash = e.ArgsHash
		}
	}
}

// attempt returns the attempt number of a tool call or model question. It is 1 more than the earlier equal ones in the same branch
// that ended without success. Without such earlier ones, or for other kinds, it is 0.
func (s *Story) attempt(r Row) int {
	n := 1
	for i := range s.Rows {
		before := &s.Rows[i]
		same := before.Kind == r.Kind && before.Name == r.Name && string(before.input) == string(r.input) && s.sameBranch(*before, r)
		if same && before.State != string(patterns.OK) && before.State != Open {
			n++
		}
	}
	if n == 1 || r.Kind != string(patterns.ToolEffect) && r.Kind != string(patterns.ModelEffect) {
		return 0
	}
	return n
}

func (r *Row) intent(b patterns.IntentBody, kind string) {
	r.Kind, r.Name, r.State, r.Effect, r.Grant, r.input = string(b.EffectKind), b.Name, Open, b.Effect, b.Grant, b.Input
	r.Share = b.Share
	r.Phase = b.Phase
	if r.Phase == "" {
		r.Phase = phaseOf(kind, b)
	}
	if b.EffectKind == patterns.HumanEffect {
		r.Rule, r.Why = ruleOf(b), b.Reason
		r.Because = because(b.Text, b.Values, 0)
		r.asked(b)
	}
	if v := b.Verdict; v != nil {
		r.Decision, r.Rule, r.Why, r.Changed = v.Decision, v.Rule, v.Reason, v.Revisions
		r.Because = because(v.Text, v.Values, v.Passes)
		r.policy, r.proposed = v.Policy, v.Proposed
	}
	if b.EffectKind == patterns.ToolEffect {
		r.ArgsHash, r.act = argsHash(b.Input), b.IdempotencyKey
	}
}

func (r *Row) outcome(b patterns.OutcomeBody, at int64) {
	took := seconds(at - r.began)
	r.State, r.Reason, r.Took, r.ended, r.output = string(b.State), b.Reason, &took, at, b.Output
	r.requests = b.Usage.Requests
	r.Tokens = b.Usage.InputTokens + b.Usage.OutputTokens
	if models := b.Usage.Models; len(models) > 1 && r.Kind == string(patterns.ModelEffect) {
		for _, m := range models {
			r.Models = append(r.Models, m.Model)
		}
	}
	if models := b.Usage.Models; len(models) > 0 {
		r.who = models[len(models)-1].Model
	}
	r.Child = b.ChildRunID
	if r.Kind == string(patterns.HumanEffect) && b.State == patterns.OK {
		r.decided(b)
	}
}

// clock returns a time of the record in RFC 3339, UTC.
func clock(at int64) string { return time.UnixMicro(at).UTC().Format(time.RFC3339) }

// seconds converts microseconds to seconds with three decimals.
func seconds(micros int64) float64 { return math.Round(float64(micros)/1000) / 1000 }

// thousandths rounds a sum or difference of seconds to three decimals.
func thousandths(s float64) float64 { return math.Round(s*1000) / 1000 }
