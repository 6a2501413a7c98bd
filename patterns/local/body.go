package local

import (
	"cmp"
	"encoding/json"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// The bodies of events as the engine uses them. What is stored is their canonical form, with the members of
// spec/surface.md section 7; [decodeBody] reads back what replay needs.

// StartBody says what was asked for.
type StartBody struct {
	RunID     string
	Pattern   string
	Kind      string
	Principal string
	Client    string
	// ClientVersion and Era are as in [patterns.Job].
	ClientVersion, Era string
	More               map[string]any // the members that replay does not need
	Arguments          map[string]any
	Config             string
	Parent             *patterns.Parent // of a child run
	// Code numbers how pattern code decides, so that a later build replays the record as it was; 0: a build before [newestCode] 1.
	Code int
}

// newestCode is the [StartBody.Code] of new runs. Since 1 the engine decides whether a task's retry has time left.
const newestCode = 1

// earlier reports whether a build began the run that decided otherwise.
func (b StartBody) earlier() bool { return b.Code < newestCode }

// parent is the number of the run whose call began it; 0: nobody's did.
func (b StartBody) parent() int64 {
	if b.Parent == nil {
		return 0
	}
	n, _ := numberOf(b.Parent.RunID)
	return n
}

// IntentBody is an effect before it is performed.
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
	// Of a question to a person who takes their time: what is asked, in canonical form, with its digest and until when.
	Object         json.RawMessage
	Digest, Reason string
	Text           string
	Values         map[string]any
	Until          time.Time
	Assurance      gateway.Assurance // that counted when it was asked; "": user
}

// OutcomeBody is what became of an effect; also of a late one.
type OutcomeBody struct {
	State  patterns.State
	Output any
	Reason string
	Bytes  int // of the whole output, where it was cut
	Usage  patterns.Usage
	Models []patterns.ModelUsage // of it
	Again  bool                  // of a call: it may succeed a moment later, after that time
	After  time.Duration
	// Of a call that began a run: its id, and how many calls it made.
	Child string
	Calls int
	// Human is set where a person, or who stands for one, decided. Decision is what they signed or would have, in canonical
	// form, and Signature theirs.
	Human     bool
	Decision  json.RawMessage
	Signature string
}

// JudgedBody is a proposal that got no intent, as decoded values.
type JudgedBody map[string]any

// NoteBody is what happened to the run from outside.
type NoteBody struct {
	What string // cancel, seize, takeover, detach, settle, reload
	patterns.Note
	Act gateway.SignedAct // by which it was done; zero where none was needed
}

// EndBody says how the run ended.
type EndBody struct {
	Status     string
	StopReason string
	Phase      string
	Envelope   json.RawMessage // uncut
	Usage      patterns.Usage
	Model      string // who answered: a model's name, rules, or caller where none was asked; "" where that is not known
}

// startOf is the first event's body.
func startOf(r *run, version string) StartBody {
	job := r.job
	more := map[string]any{"version": version, "budget": patterns.Limits(job.Spec)}
	for name, v := range map[string]string{"policy": job.Policy, "catalog": job.Catalog, "idempotency_key": job.ByKey} {
		if v != "" {
			more[name] = v
		}
	}
	client := map[string]any{"name": job.Client}
	for name, v := range map[string]string{"version": job.ClientVersion, "era": job.Era} {
		if v != "" {
			client[name] = v
		}
	}
	more["client"] = client
	return StartBody{
		RunID: r.id, Pattern: job.Spec.Name, Kind: string(job.Spec.Kind), Principal: job.Principal, Client: job.Client,
		ClientVersion: job.ClientVersion, Era: job.Era, Arguments: job.Arguments, Config: job.Config, More: more,
		Parent: job.Parent, Code: newestCode,
	}
}

func intentOf(e patterns.Effect, once string) IntentBody {
	b := IntentBody{Kind: e.Kind, Name: e.Name, Input: e.Input}
	switch e.Kind {
	case patterns.ToolEffect:
		b.Once, b.Effect = once, string(e.Permit.Effect())
		b.Verdict, b.Grant, b.Share = e.Permit.Verdict().Value(), e.Permit.Approval(), e.Permit.Share()
	case patterns.HumanEffect:
		if e.Approval != nil {
			b.Rule = e.Approval.Rule
		}
		if w := e.Waiting; isAsking(e) && w.Approval != "" {
			b.Object, b.Digest, b.Reason, b.Until = w.Question.Object(), w.Question.Digest(), w.Reason, w.Until
			b.Text, b.Values, b.Assurance = w.Text, w.Values, w.Question.Assurance
		}
	}
	return b
}

func outcomeOf(e patterns.Effect, out patterns.Outcome) OutcomeBody {
	return OutcomeBody{
		State: stateOf(out), Output: out.Output, Reason: out.Reason, Bytes: out.Bytes, Usage: out.Usage, Models: out.Models, Human: e.Kind == patterns.HumanEffect,
		Again: out.Again, After: out.After, Child: out.Child, Calls: out.Calls,
	}
}

// duplicate is the recorded state of a call that was not sent, because its act was done before.
const duplicate patterns.State = "duplicate"

// stateOf is an outcome's state as it is recorded.
func stateOf(out patterns.Outcome) patterns.State {
	if out.Duplicate && out.State == patterns.OK {
		return duplicate
	}
	return out.State
}

// learned is what an outcome says, as pattern code is told.
func (b OutcomeBody) learned() patterns.Outcome {
	out := patterns.Outcome{
		State: b.State, Output: b.Output, Reason: b.Reason, Bytes: b.Bytes, Usage: b.Usage, Models: b.Models, Again: b.Again, After: b.After,
		Child: b.Child, Calls: b.Calls,
	}
	if b.State == duplicate {
		out.State, out.Duplicate = patterns.OK, true
	}
	return out
}

// encodeBody is a body in canonical form: members by name, as RFC 8785 wants it.
func encodeBody(body any) []byte {
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

// object writes members in the order in which they are given, which must be that of their names.
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

// answeredBy is who answered a run's questions, as its result shows it.
func answeredBy(job patterns.Job, r patterns.Result) string {
	if !r.Asked && (job.Task.Caller != nil || len(r.Proposed) > 0) {
		return cmp.Or(r.Answerers(""), "caller")
	}
	return r.Answerers(modelOf(job))
}

// modelOf is the name of a run's model; "": it has none.
func modelOf(job patterns.Job) string {
	if job.Model == nil {
		return ""
	}
	return job.Model.Name()
}
