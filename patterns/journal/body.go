package journal

import (
	"encoding/json"
	"fmt"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// The stored form of a body is canonical JSON with the members of spec/surface.md section 7. [Decode] reads what replay needs.

// StartBody is the body of a run's first event: what was asked for, by whom, and under which configuration.
type StartBody struct {
	RunID     string
	Pattern   string
	Kind      string
	Principal string
	Client    string
	// ClientVersion and Era are as in [patterns.Caller].
	ClientVersion, Era string
	More               map[string]any // the members that replay does not need
	Arguments          map[string]any
	Config             string
	Parent             *patterns.Parent // of a child run
	// Code is the version of pattern code's decisions. A later build replays the record by it. 0 is a build before version 1.
	Code int
}

// NewestCode is the [StartBody.Code] of new runs. Since version 1 the engine decides whether a task's retry has time left.
const NewestCode = 1

// Earlier reports whether an earlier build began the run, whose pattern code decides differently.
func (b StartBody) Earlier() bool { return b.Code < NewestCode }

// ParentNumber returns the number of the run that began this child run. It is 0 for a run without a parent.
func (b StartBody) ParentNumber() int64 {
	if b.Parent == nil {
		return 0
	}
	n, _ := RunNumber(b.Parent.RunID)
	return n
}

// IntentBody is the body of an intent: an effect that is about to be performed.
type IntentBody struct {
	Kind   patterns.EffectKind
	Name   string
	Input  json.RawMessage // canonical
	Once   string          // of a tool effect: its idempotency key
	Effect string          // of a tool effect: read, write or destructive
	Rule   string          // of a human effect
	// Verdict is how a call was judged, as decoded values; nil for other effects.
	Verdict map[string]any
	Grant   string // of a tool effect: the approval that it spends; "" for none
	Share   string // and of which step, where that is of a whole plan; else ""
	// The next members belong to a question that waits for a person: the question in canonical form, its digest, and its deadline.
	Object         json.RawMessage
	Digest, Reason string
	Text           string
	Values         map[string]any
	Until          time.Time
	Assurance      gateway.Assurance // that was required when the question was asked; "" is user
}

// OutcomeBody is the body of an outcome or of a late result: what happened to an effect.
type OutcomeBody struct {
	State  patterns.State
	Output any
	Reason string
	Bytes  int    // of the whole output, where it was cut
	Child  string // of a call that began a run: the id of that run
	patterns.Cost
	Again bool // of a call: it may succeed a moment later, after that time
	After time.Duration
	// Human is set if a person or a simulated approver decided. Decision is the canonical form that they signed or could have
	// signed, and Signature is their signature.
	Human     bool
	Decision  json.RawMessage
	Signature string
}

// JudgedBody is the body of a judgment of a proposal that has no intent, as decoded values.
type JudgedBody map[string]any

// NoteBody is the body of a note: an act on the run from outside.
type NoteBody struct {
	What string // cancel, seize, takeover, detach, settle, reload, rest, wake
	patterns.Note
	Act gateway.SignedAct // by which it was done; zero where none was needed
}

// EndBody is the body of a run's last event: its status and result.
type EndBody struct {
	Status     string
	StopReason string
	Phase      string
	Envelope   json.RawMessage // uncut
	Usage      patterns.Usage
	Model      string // who answered: a model's name, rules, or caller where none was asked; "" where that is not known
}

// IntentOf returns the body of an effect's intent. once is the idempotency key of a tool effect.
func IntentOf(e patterns.Effect, once string) IntentBody {
	b := IntentBody{Kind: e.Kind(), Name: e.Name, Input: e.Input}
	switch a := e.Act.(type) {
	case patterns.CallAct:
		b.Once, b.Effect = once, string(a.Permit.Effect())
		b.Verdict, b.Grant, b.Share = a.Permit.Verdict().Value(), a.Permit.Approval(), a.Permit.Share()
	case patterns.ConsentAct:
		if a.Approval != nil {
			b.Rule = a.Approval.Rule
		}
		if w := a.Waiting; IsQuestion(e) && w.Approval != "" {
			b.Object, b.Digest, b.Reason, b.Until = w.Question.Object(), w.Question.Digest(), w.Reason, w.Until
			b.Text, b.Values, b.Assurance = w.Text, w.Values, w.Question.Assurance
		}
	}
	return b
}

// OutcomeOf returns the body of an effect's outcome.
func OutcomeOf(e patterns.Effect, out patterns.Outcome) OutcomeBody {
	return OutcomeBody{
		State: stateOf(out), Output: out.Output, Reason: out.Reason, Bytes: out.Bytes, Child: out.Child, Cost: out.Cost, Human: e.Kind() == patterns.HumanEffect,
		Again: out.Again, After: out.After,
	}
}

// duplicate is the recorded state of a call that was not sent because an equal call was done before.
const duplicate patterns.State = "duplicate"

// stateOf returns the recorded state of an outcome.
func stateOf(out patterns.Outcome) patterns.State {
	if out.Duplicate && out.State == patterns.OK {
		return duplicate
	}
	return out.State
}

// Outcome returns the outcome that pattern code receives when the body is replayed.
func (b OutcomeBody) Outcome() patterns.Outcome {
	out := patterns.Outcome{
		State: b.State, Output: b.Output, Reason: b.Reason, Bytes: b.Bytes, Child: b.Child, Cost: b.Cost, Again: b.Again, After: b.After,
	}
	if b.State == duplicate {
		out.State, out.Duplicate = patterns.OK, true
	}
	return out
}

// Encode returns the canonical form of a body (RFC 8785). A value that is not a body of this package becomes {}.
func Encode(body any) []byte {
	switch b := body.(type) {
	case IntentBody:
		return b.encode()
	case OutcomeBody:
		return b.encode()
	case StartBody:
		return b.encode()
	case EndBody:
		return b.encode()
	case NoteBody:
		return ijson.Canonical(b.value())
	case JudgedBody:
		return ijson.Canonical(map[string]any(b))
	}
	return []byte("{}")
}

// object writes members in the order of the calls. The caller must give them in the order of their names.
type object struct {
	dst   []byte
	begun bool
}

func (o *object) member(name string) {
	if o.dst = append(o.dst, ','); !o.begun {
		o.dst[len(o.dst)-1], o.begun = '{', true
	}
	o.dst = append(append(append(o.dst, '"'), name...), '"', ':')
}

func (o *object) value(name string, v any) {
	o.member(name)
	o.dst = ijson.Append(o.dst, v)
}

func (o *object) raw(name string, canonical []byte) {
	o.member(name)
	o.dst = append(o.dst, canonical...)
}

// text writes a text that is not empty.
func (o *object) text(name, v string) {
	if v != "" {
		o.value(name, v)
	}
}

func (o *object) end() []byte {
	if !o.begun {
		o.dst = append(o.dst, '{')
	}
	return append(o.dst, '}')
}

func (b IntentBody) encode() []byte {
	o := object{dst: make([]byte, 0, 256+len(b.Input)+len(b.Object))}
	o.text("digest", b.Digest)
	o.text("effect", b.Effect)
	o.value("effect_kind", string(b.Kind))
	o.text("grant", b.Grant)
	o.text("idempotency_key", b.Once)
	if len(b.Input) > 0 {
		o.raw("input", b.Input)
	}
	o.value("name", b.Name)
	if len(b.Object) > 0 {
		o.raw("object", b.Object)
	}
	o.text("reason", b.Reason)
	o.text("rule", b.Rule)
	o.text("share", b.Share)
	o.text("text", b.Text)
	if len(b.Values) > 0 {
		o.value("values", b.Values)
	}
	if b.Verdict != nil {
		o.value("verdict", b.Verdict)
	}
	return o.end()
}

func (b OutcomeBody) encode() []byte {
	o := object{dst: make([]byte, 0, 512)}
	if b.After > 0 {
		o.value("after_seconds", b.After.Seconds())
	}
	if b.Again {
		o.value("again", true)
	}
	var human map[string]any
	if b.Human {
		human, _ = b.Output.(map[string]any)
	}
	word := func(name string) {
		if s, _ := human[name].(string); s != "" {
			o.value(name, s)
		}
	}
	word("assurance")
	word("by")
	if b.Calls > 0 {
		o.value("calls", float64(b.Calls))
	}
	word("channel")
	o.text("child_run_id", b.Child)
	if approved, ok := human["approved"].(bool); len(b.Decision) > 0 {
		o.raw("decision", b.Decision)
	} else if ok {
		o.value("decision", decision(approved))
	}
	if b.Output != nil {
		o.value("output", b.Output)
	}
	o.text("reason", b.Reason)
	o.text("signature", b.Signature)
	o.value("state", string(b.State))
	if b.Usage != (patterns.Usage{}) {
		usage := usageValue(b.Usage)
		if len(b.Models) > 0 {
			usage["models"] = modelsValue(b.Models)
		}
		o.value("usage", usage)
	}
	return o.end()
}

// decision names what a person decided.
func decision(approved bool) string {
	if approved {
		return "approve"
	}
	return "reject"
}

func usageValue(u patterns.Usage) map[string]any {
	v := map[string]any{
		"llm_calls": float64(u.Requests), "input_tokens": float64(u.InputTokens), "output_tokens": float64(u.OutputTokens),
	}
	if u.CostUSD != 0 {
		v["cost_usd"] = u.CostUSD
	}
	return v
}

func modelsValue(list []patterns.ModelUsage) []any {
	rows := make([]any, len(list))
	for i, m := range list {
		row := usageValue(m.Usage)
		row["model"] = m.Model
		rows[i] = row
	}
	return rows
}

func (b StartBody) encode() []byte {
	v := map[string]any{
		"run_id": b.RunID, "pattern": b.Pattern, "pattern_kind": b.Kind, "principal": b.Principal, "config": b.Config,
		"arguments": b.Arguments,
	}
	if b.Arguments == nil {
		v["arguments"] = map[string]any{}
	}
	for name, more := range b.More {
		v[name] = more
	}
	if b.Code > 0 {
		v["code"] = float64(b.Code)
	}
	if p := b.Parent; p != nil {
		names := make([]any, len(p.Within))
		for i, name := range p.Within {
			names[i] = name
		}
		v["parent"] = map[string]any{"run_id": p.RunID, "key": p.Key, "within": names, "share": p.Share.Value()}
	}
	return ijson.Canonical(v)
}

func (b NoteBody) value() map[string]any {
	v := map[string]any{"what": b.What}
	for name, text := range map[string]string{"by": b.By, "channel": b.Channel, "reason": b.Reason} {
		if text != "" {
			v[name] = text
		}
	}
	if b.Act.Signature != "" {
		v["signature"], v["act"] = b.Act.Signature, b.Act.Value()
	}
	return v
}

func (b EndBody) encode() []byte {
	o := object{dst: make([]byte, 0, 256+len(b.Envelope))}
	if len(b.Envelope) > 0 {
		if canonical, err := ijson.Canonicalize(b.Envelope); err == nil {
			o.raw("envelope", canonical)
		}
	}
	o.text("phase", b.Phase)
	o.value("status", b.Status)
	o.value("stop_reason", b.StopReason)
	usage := usageValue(b.Usage)
	if b.Model != "" {
		usage["model"] = b.Model
	}
	o.value("usage", usage)
	return o.end()
}

// IsQuestion reports whether an effect asks a person and the run waits for the answer.
func IsQuestion(e patterns.Effect) bool {
	a, isConsent := e.Act.(patterns.ConsentAct)
	return isConsent && a.Waiting != nil && a.Waiting.Kind == patterns.ForApproval
}

// DecodeTrusted reads what this program wrote: what came from outside was judged then, and lies deeper now.
func DecodeTrusted(text []byte) (v any, err error) {
	if len(text) > maxBody {
		return nil, fmt.Errorf("%d bytes, want at most %d", len(text), maxBody)
	}
	err = json.Unmarshal(text, &v)
	return v, err
}

// WindowsMember of a judged event says that it is a [patterns.JudgeEffect]: what was looked at, by the windows' names.
const WindowsMember = "windows"

// Weighed reports whether the body of a judged event is what a [patterns.JudgeEffect] came to.
func (b JudgedBody) Weighed() bool {
	_, looked := b[WindowsMember].(map[string]any)
	return looked
}
