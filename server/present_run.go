package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/sentence"
)

// Runs can be shown long after the call that began them, perhaps by another process. A run is shown by the spec and
// arguments that it began with, if they are known. Otherwise it is shown as the record kept it.

// JobOf returns the job of a run that has begun, for a process that continues it (see [patterns.Source]). The job
// equals the one that the first call made. configured has the same meaning as in [Config].
func JobOf(spec patterns.Spec, model patterns.Model, configured bool, b patterns.Begun) patterns.Job {
	t := lightTool(nil, spec, model.Name())
	c := t.NewCall(b.Arguments)
	j := t.job(c, model, configured)
	j.Principal, j.Client, j.Config = b.Principal, b.Client, b.Config
	j.Size += ijson.Weight(b.Arguments)
	return j
}

// job returns the job of a call without problems, with the parts that depend only on the request.
func (t *tool) job(c arguments.Call, model patterns.Model, configured bool) patterns.Job {
	return patterns.Job{
		Spec: t.Spec, Task: c.Task(configured), Model: model, Arguments: c.Arguments, Size: c.Size,
		ByKey: c.Key, Equal: arguments.Fingerprint(t.Spec, c.Arguments), Present: t.kept(c.Arguments),
	}
}

// lightTool returns a tool for a pattern that is not served, to show its runs. s may be nil if nothing is looked up.
func lightTool(s *Server, spec patterns.Spec, model string) *tool {
	return &tool{Reader: arguments.NewReader(spec, arguments.KeyRow()), server: s, model: model}
}

// shownBy returns the tool that shows a run: the spec it began with, or if that is not known, the tool that is served
// under its name.
func (s *Server) shownBy(r patterns.Snapshot) *tool {
	if r.Spec.Name != "" {
		return lightTool(s, r.Spec, r.Model)
	}
	if t := s.toolOf(r.Pattern); t != nil {
		return t
	}
	return lightTool(s, patterns.Spec{Name: r.Pattern}, r.Model)
}

// stateOf presents the current state of a run. If the advice names a tool that this server does not offer, the advice
// says so instead.
func (s *Server) stateOf(r patterns.Snapshot) Envelope {
	t := s.shownBy(r)
	e := t.stateOf(t.NewCall(nil), r)
	if tool := e.Next.Tool; tool != "" && !slices.Contains(ownTools, tool) && !s.offers(tool) {
		e.Next = next{Action: actionTell, Say: sentence.Paragraph("This server does not offer "+printable.Name(tool)+
			", with which the run of that pattern would go on or be begun anew; one that is configured for it does.", e.Next.Say)}
	}
	return e
}

// stateOf presents the current state of a run to a call that continues it or looks at it.
func (t *tool) stateOf(c arguments.Call, s patterns.Snapshot) Envelope {
	c.Run = &s
	switch {
	case s.State == patterns.Running:
		return runningEnvelope(c, s)
	case s.State == patterns.Over && len(s.Kept) > 0:
		if e, ok := keptEnvelope(s); ok {
			return e
		}
	}
	switch {
	case s.State == patterns.Over && s.Ended.Result.StopReason == "":
		return faultEnvelope(c, s.Ended, runFault(s.RunID))
	case s.State == patterns.Over && s.Ended.Result.StopReason == brokenRecord:
		return brokenEnvelope(c, s.Ended)
	}
	return t.envelope(c, s.Ended)
}

// runFault returns the opaque id of the fault that ended a run. It is the same for everyone.
func runFault(runID string) string {
	sum := sha256.Sum256([]byte(runID))
	return "f_" + hex.EncodeToString(sum[:4])
}

// kept returns a function that makes what the record and its lists keep of a run's end: the uncut result of a call with
// these arguments.
func (t *tool) kept(arguments map[string]any) func(patterns.Ended, error) patterns.Presented {
	return func(ended patterns.Ended, fault error) (p patterns.Presented) {
		defer func() {
			if recover() != nil { // the run is then shown by what it began with, or not at all
				p = patterns.Presented{}
			}
		}()
		run := patterns.Snapshot{RunID: ended.RunID, Pattern: t.Spec.Name, Arguments: arguments, State: patterns.Over, Ended: ended}
		switch {
		case fault != nil:
			run.Ended.Result = patterns.Result{}
		case ended.Waiting != nil:
			run.State = patterns.Parked
		}
		e := t.stateOf(t.NewCall(nil), run)
		text, err := appendJSON(nil, e)
		if err != nil {
			text = nil
		}
		return patterns.Presented{Envelope: text, Summary: e.Summary}
	}
}

// maxKeptResult is the largest kept result that is read, in bytes. Observations and intents are bounded before.
const maxKeptResult = 16 << 20

// keptEnvelope reads a result as [tool.kept] made it, in this version or another. It returns false if it cannot.
func keptEnvelope(s patterns.Snapshot) (Envelope, bool) {
	if len(s.Kept) > maxKeptResult {
		return Envelope{}, false
	}
	var k struct {
		Envelope
		Plan    json.RawMessage   `json:"plan"`
		Trace   []json.RawMessage `json:"trace"`
		History []json.RawMessage `json:"history"`
	}
	err := json.Unmarshal(s.Kept, &k)
	if plain := patterns.RedactedAsText(s.Kept); err != nil && plain != nil { // for example, an answer was redacted
		plan, trace, history := k.Plan, k.Trace, k.History
		k.Plan, k.Trace, k.History = nil, nil, nil
		err = json.Unmarshal(plain, &k)
		k.Plan, k.Trace, k.History = plan, trace, history // rows of any shape are shown as they are
		if strings.HasPrefix(k.Summary, `{"$`) {
			k.Summary = "What became of the run holds values that its record keeps only as hashes."
		}
	}
	if err != nil || k.Status != statusOK && k.Status != statusStopped {
		return Envelope{}, false
	}
	e := k.Envelope
	e.Plan = keptPlan(k.Plan)
	if e.Trace, e.History = nil, nil; k.Trace != nil || k.History != nil { // a call of one tool has none
		e.Trace, e.History = keptRows(k.Trace, true), keptRows(k.History, false)
	}
	e.called = calledOf(s, e)
	if len(e.Expected) > 0 { // next to expected, null is a value
		e.Received, e.BadObservation = nullable(e.Received), nullable(e.BadObservation)
	}
	e.tool, e.author = s.Pattern, "model"
	if e.Usage != nil && (e.Usage.Model == "caller" || e.Usage.Model == patterns.ByRules) {
		e.author = e.Usage.Model
	}
	return e, true
}

// calledOf describes the call of a kept result of a one-tool call. It returns nil for other results.
func calledOf(s patterns.Snapshot, e Envelope) *line {
	if e.Trace != nil || len(e.Effects) == 0 {
		return nil
	}
	called := line{label: "call", name: e.Effects[0].Tool, args: arguments.Call{Spec: s.Spec, Arguments: s.Arguments}.CalledWith()}
	if e.Observation == nil {
		called.stop = e.StopReason
	}
	return &called
}

func nullable(v *any) *any {
	if v == nil {
		return new(any)
	}
	return v
}

// keptPlan returns a plan with the type of its rows, so that it is shown like any other.
func keptPlan(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	if plan, ok := exactly[patterns.ShownPlan](raw); ok {
		return &plan
	}
	if steps, ok := exactly[[]gateway.Step](raw); ok {
		return steps
	}
	if tasks, ok := exactly[[]gateway.Task](raw); ok {
		return tasks
	}
	return anyValue(raw)
}

// keptRows returns rows with their types. Rows of another version are shown as they are.
func keptRows(raw []json.RawMessage, trace bool) []any {
	list := make([]any, 0, len(raw))
	for _, text := range raw {
		list = append(list, keptRow(text, trace))
	}
	return list
}

func keptRow(raw json.RawMessage, trace bool) any {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return anyValue(raw)
	}
	row, ok := any(nil), false
	switch {
	case members["subtask_id"] != nil && trace:
		row, ok = exactly[patterns.AttemptRow](raw)
	case members["subtask_id"] != nil:
		row, ok = exactly[patterns.SubtaskDone](raw)
	case members["plan_step"] != nil:
		row, ok = exactly[patterns.StepDone](raw)
	case members["step_no"] != nil:
		row, ok = exactly[patterns.StepRow](raw)
	case members["task_id"] != nil && trace:
		row, ok = exactly[patterns.TaskTrace](raw)
	case members["task_id"] != nil:
		row, ok = exactly[patterns.TaskRow](raw)
	case members["route"] != nil:
		row, ok = exactly[patterns.Delegation](raw)
	case members["target"] != nil:
		row, ok = exactly[patterns.RouteRow](raw)
	case members["executed_action"] != nil:
		row, ok = exactly[patterns.ActionDone](raw)
	case members["supervisor_decision"] != nil:
		row, ok = exactly[patterns.ActionRow](raw)
	}
	if !ok {
		return anyValue(raw)
	}
	return row
}

// exactly reads JSON that has no members other than those of the type.
func exactly[T any](raw json.RawMessage) (v T, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(&v)
	return v, err == nil
}

func anyValue(raw json.RawMessage) any {
	v, _ := ijson.Decode(raw) // nil if it is not JSON
	return v
}
