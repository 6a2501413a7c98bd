package envelope

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/sentence"
)

// AppendText appends the text channel of a result that has no observations.
func (e *Envelope) AppendText(dst []byte) []byte { return e.text(dst, nil) }

// text returns the text channel of a result (spec/surface.md section 1, "Text channel"). It is one block of lines that
// is enough for a reader of nothing else. Control and bidi characters in texts of models, tools and people are escaped.
// None of their lines can look like a line of Patterngate. Answers are behind "| ", and names that begin a line are
// quoted unless they are plain.
//
// The slice dst is empty space. The observations are those of the history, as JSON.
func (e *Envelope) text(dst []byte, observations []observation) []byte {
	dst = e.appendHeadline(dst)
	dst = append(append(dst, '\n'), e.Summary...)
	dst = append(dst, "\nNEXT "...)
	dst = e.appendNext(dst)
	dst = append(dst, '\n')
	dst = e.appendProblems(dst)
	dst = e.appendWaiting(dst)
	dst = e.appendBlocked(dst)
	dst = e.appendAnswer(dst)
	dst = e.appendAggregate(dst)
	dst = e.appendChanges(dst)
	dst = e.appendObservations(dst, observations)
	dst = e.appendEffects(dst)
	dst = e.appendJudged(dst)
	dst = e.appendStep(dst)
	dst = e.appendSubtasks(dst)
	dst = e.appendPlans(dst)
	return bytes.TrimSuffix(dst, []byte("\n"))
}

// appendHeadline writes the status, stop reason, tool and run, and whether the tools are simulated.
func (e *Envelope) appendHeadline(dst []byte) []byte {
	words := cmp.Or(e.dryHeadline(), e.noResultHeadline())
	switch dst = append(dst, cmp.Or(words, strings.ToUpper(e.Status))...); {
	case words != "":
	case e.WaitingFor != nil && e.Status == StatusWaiting: // the state of a plan can have waiting_for too
		dst = append(append(dst, ' '), e.WaitingFor.Head().Kind...)
	case e.StopReason != "":
		dst = printable.Append(append(dst, ' '), e.StopReason)
	}
	dst = e.appendAnswered(dst)
	dst = append(append(dst, " | "...), e.Tool...)
	if e.RunID != "" {
		dst = append(append(dst, " | "...), e.RunID...)
	}
	if e.Simulated {
		dst = append(dst, " | "+SimulatedData...)
	}
	return dst
}

func (e *Envelope) appendNext(dst []byte) []byte {
	at := len(dst)
	dst, _ = AppendJSON(dst, e.Next) // the same value is in structuredContent, where a fault is reported
	return revealed(dst, at)
}

func (e *Envelope) appendProblems(dst []byte) []byte {
	if len(e.Problems) == 0 {
		return dst
	}
	dst = append(dst, "PROBLEMS\n"...)
	var nearest []string
	for _, p := range e.Problems {
		if p.Reason == reasonCandidate {
			nearest = append(nearest, candidateName(p))
			continue
		}
		dst = appendProblem(dst, p)
	}
	if len(nearest) > 0 {
		dst = append(append(dst, cameNearest(sentence.List(nearest))...), '\n')
	}
	return dst
}

// reasonCandidate is the reason of a problem that names a tool that the goal may mean.
const reasonCandidate = "candidate"

// candidateName returns the name in a candidate's problem, for a text.
func candidateName(p document.Problem) string {
	name := ""
	_ = json.Unmarshal(p.Got, &name) // a long name is an object here, and becomes an empty label
	return sentence.Label(name)
}

func appendProblem(dst []byte, p document.Problem) []byte {
	if p.Pointer == "" {
		dst = append(dst, `""`...)
	}
	dst = printable.Append(dst, string(p.Pointer))
	dst = printable.Append(append(dst, ' '), p.Reason)
	for _, part := range []struct{ word, text string }{
		{gotPart, string(p.Got)}, {wantPart, p.Want}, {didYouMeanPart, p.DidYouMean},
	} {
		if part.text != "" {
			dst = printable.Append(append(dst, part.word...), part.text)
		}
	}
	if p.Turn > 0 {
		dst = strconv.AppendInt(append(dst, replyPart...), int64(p.Turn), 10)
	}
	return append(dst, '\n')
}

// appendWaiting writes what the run waits for.
func (e *Envelope) appendWaiting(dst []byte) []byte {
	if e.WaitingFor == nil {
		return dst
	}
	dst = append(dst, "WAITING_FOR "...)
	at := len(dst)
	dst, _ = AppendJSON(dst, e.WaitingFor) // the same value is in structuredContent, where a fault is reported
	return append(revealed(dst, at), '\n')
}

// appendAnswer writes the final text, marked as not checked.
func (e *Envelope) appendAnswer(dst []byte) []byte {
	answer := e.answerText()
	if answer == "" {
		return dst
	}
	dst = append(dst, answerHeading(possessive(e.Author))...)
	for l := range strings.SplitSeq(answer, "\n") {
		dst = printable.Append(append(dst, "| "...), l)
		dst = append(dst, '\n')
	}
	return dst
}

// possessive returns the author's name in the possessive form.
func possessive(author string) string {
	if author == patterns.ByRules {
		return offlineRules
	}
	return author + "'s"
}

// appendAggregate writes the values that expressions of a configuration made from tasks. A report shows its
// domains as observations instead.
func (e *Envelope) appendAggregate(dst []byte) []byte {
	if !e.Joins || e.Aggregate == nil {
		return dst
	}
	dst = append(dst, "AGGREGATE "...)
	at := len(dst)
	dst, _ = AppendJSON(dst, e.Aggregate) // the same value is in structuredContent, where a fault is reported
	return append(revealed(dst, at), '\n')
}

// appendObservations writes a line for each call: first the calls that were made, then the one at which the run
// stopped.
func (e *Envelope) appendObservations(dst []byte, observations []observation) []byte {
	header := len(dst)
	dst = append(dst, "OBSERVATIONS\n"...)
	begin := len(dst)
	for i, row := range e.History {
		if l, ok := e.lineOf(row); ok {
			dst = l.append(dst, observations[i].text)
		}
	}
	for _, row := range e.Trace {
		if l, ok := e.lineOf(row); ok {
			dst = l.append(dst, nil)
		}
	}
	if called := e.Called; called != nil && (called.Stop != "" || e.Observation != nil) {
		l := *called
		l.Args = edited(e.Human, l.Args)
		dst = l.append(dst, observations[len(e.History)+1].text)
	}
	if len(dst) == begin {
		return dst[:header]
	}
	return dst
}

func (l Line) append(dst []byte, observation json.RawMessage) []byte {
	dst = append(append(dst, l.Label...), ' ')
	dst = append(append(dst, sentence.Label(l.Name)...), ' ')
	if l.Args != nil {
		at := len(dst)
		dst = ijson.Append(dst, l.Args)
		dst = revealed(dst, at)
		dst = append(dst, ' ')
	}
	if l.Stop != "" {
		dst = printable.Append(append(dst, "stopped: "...), l.Stop)
		return append(dst, '\n')
	}
	dst = append(dst, "-> "...)
	at := len(dst)
	dst = append(dst, observation...)
	return append(revealed(dst, at), '\n')
}

// appendEffects writes the calls that wrote, or may have written, something.
func (e *Envelope) appendEffects(dst []byte) []byte {
	header := len(dst)
	dst = append(dst, "EFFECTS\n"...)
	begin := len(dst)
	for _, row := range e.Effects {
		if row.Effect == "read" {
			continue
		}
		dst = append(dst, sentence.Label(row.Tool)...)
		dst = append(append(append(append(dst, ' '), row.Status...), ' '), row.ArgsHash...)
		dst = printable.Append(append(dst, ' '), row.Key)
		dst = append(dst, '\n')
	}
	if len(dst) == begin {
		return dst[:header]
	}
	return dst
}

// appendStep writes the one step that the call asked for.
func (e *Envelope) appendStep(dst []byte) []byte {
	if e.Step == nil {
		return dst
	}
	for _, part := range []struct {
		word  string
		value any
	}{{"STEP ", e.Step.Row}, {"OBSERVATION ", e.Step.Observation}} {
		dst = append(dst, part.word...)
		at := len(dst)
		dst, _ = AppendJSON(dst, part.value) // the same value is in structuredContent, where a fault is reported
		dst = append(revealed(dst, at), '\n')
	}
	return dst
}

// revealed escapes hidden characters in dst from a place on. They are rare.
func revealed(dst []byte, at int) []byte {
	for _, c := range dst[at:] {
		if c < ' ' || c >= 0x7f {
			return printable.Append(dst[:at], string(dst[at:]))
		}
	}
	return dst
}

// noResultHeadline returns the beginning of the first line if the run ended well and none of its calls returned a result.
// Otherwise it returns "". The stop reason of such a run is success, which says nothing of the calls.
func (e *Envelope) noResultHeadline() string {
	if e.Status == StatusOK && e.Answered == gateway.AnsweredNo {
		return noResult
	}
	return ""
}

// appendAnswered appends to the first line that calls returned no result. It appends nothing if all did, or if the line
// begins with that.
func (e *Envelope) appendAnswered(dst []byte) []byte {
	if words := gateway.AnsweredWords(e.Answered); words != "" && e.noResultHeadline() == "" {
		dst = append(append(dst, ", "...), words...)
	}
	return dst
}

// FirstLines returns the headline, the summary and the next step. That is enough text next to structured content.
func FirstLines(text string) string {
	const lines = 3
	at := 0
	for range lines {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return text
		}
		at += i + 1
	}
	return text[:at-1]
}
