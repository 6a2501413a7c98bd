package server

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
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
		Joining: patterns.Joining{ByKey: c.Key, Equal: arguments.Fingerprint(t.Spec, c.Arguments)}, Present: t.kept(c.Arguments),
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

// stateOf presents the current state of a run.
func (s *Server) stateOf(r patterns.Snapshot) envelope.Envelope {
	t := s.shownBy(r)
	c := t.NewCall(nil)
	e := t.stateOf(c, r)
	advised := e.Next.Tool
	if e.Next = s.onlyOffered(e.Next); advised != "" && e.Next.Tool == "" { // the summary asks for a call that cannot be made here
		e.Next.Say = sentence.Paragraph(e.Next.Say, outcome.WrittenSoFar(c, r.Ended))
	}
	return e
}

// onlyOffered returns the advice without a tool that clients of this server do not see.
func (s *Server) onlyOffered(n envelope.Next) envelope.Next {
	switch tool := n.Tool; {
	case tool == "" || s.offers(tool):
		return n
	case tool == arguments.ListTool && s.offers(arguments.StatusTool):
		n.Tool, n.Arguments, n.Say = arguments.StatusTool, map[string]any{}, unknownRun
		return n
	case slices.Contains(ownTools, tool):
		return envelope.Next{Action: envelope.ActionTell, Say: sentence.Paragraph(toolNotOffered(tool), n.Say)}
	default:
		return envelope.Next{Action: envelope.ActionTell, Say: sentence.Paragraph(outcome.NotOffered(printable.Name(tool)), n.Say)}
	}
}

// stateOf presents the current state of a run to a call that continues it or looks at it.
func (t *tool) stateOf(c arguments.Call, s patterns.Snapshot) envelope.Envelope {
	c.Run = &s
	switch {
	case s.State == patterns.Running:
		return outcome.Running(c, s)
	case s.State == patterns.Over && len(s.Kept) > 0:
		if e, ok := envelope.Kept(s); ok {
			return e
		}
	}
	switch {
	case s.State == patterns.Over && s.Ended.Result.StopReason == "":
		return outcome.Fault(c, s.Ended, runFault(s.RunID))
	case s.State == patterns.Over && s.Ended.Result.StopReason == outcome.RecordBroken:
		return outcome.Broken(c, s.Ended)
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
		text, err := envelope.AppendJSON(nil, e)
		if err != nil {
			text = nil
		}
		return patterns.Presented{Envelope: text, Summary: e.Summary}
	}
}

// unrecorded presents a call whose run could not begin or continue, because nothing can be recorded.
func unrecorded(t *tool, c arguments.Call) envelope.Envelope {
	if c.Run != nil {
		e := t.server.shownBy(*c.Run).stateOf(c, *c.Run)
		e.Problems = append([]document.Problem{{
			Pointer: "/run_id", Reason: arguments.ReasonNotTaken, Got: document.Got(c.Run.RunID),
			Want: outcome.WantRecorded,
		}}, e.Problems...)
		return e
	}
	return outcome.Unrecorded(c)
}
