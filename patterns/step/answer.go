package step

import (
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Reply is a final answer. It is a text, or a value if the pattern declares a schema for its answer. The zero Reply is an empty
// text.
type Reply struct {
	Text  string // of a value: its canonical JSON
	value any    // decoded; nil for a text
}

// Answer asks for the final answer and checks it. A refused reply goes back to the model as often as the pattern allows. The
// stop is nil if the answer was accepted.
func (l *Log) Answer(payload map[string]any) (Reply, *Stop) {
	var text string
	var r Reply
	q := patterns.Question{Ask: patterns.AskAnswer, Prompt: l.Spec.Prompts.Answer, Payload: payload, Tools: l.Tools}
	s := l.mended(q, func(q patterns.Question) (_ document.Intent, s *Stop) {
		text, s = l.ask(patterns.PhaseFinalize, "writing the answer", q)
		return document.ReadReply(text), s
	}, func(document.Intent) (_ *Stop, byModel bool) {
		var refusal *document.Refusal
		if r, refusal = l.ReadAnswer(text); refusal != nil {
			return l.RefusedAnswer(patterns.PhaseFinalize, refusal, text), true
		}
		return nil, true
	})
	return r, s
}

// ReadAnswer checks a final answer against the schema that the pattern declares, if any. It removes white space around the text.
// The refusal is nil if the answer fits.
func (l *Log) ReadAnswer(text string) (Reply, *document.Refusal) {
	text = ijson.Trim(text)
	if l.Spec.Answer == nil {
		return Reply{Text: text}, nil
	}
	v, refusal := gateway.ParseAnswer(text, l.Spec.Answer)
	if refusal != nil {
		return Reply{}, refusal
	}
	return Reply{Text: string(ijson.Canonical(v)), value: v}, nil
}

// RefusedAnswer records that a final answer was not accepted and returns the stop for it.
func (l *Log) RefusedAnswer(phase string, r *document.Refusal, text string) *Stop {
	l.NewJudged = append(l.NewJudged, unread(phase, answerName, r, document.ReadReply(text).Raw()))
	return &Stop{phase, r.Reason, func(result *patterns.Result) { result.Problems = r.Problems }}
}

// answerName is the name of a final answer in recorded judgments.
const answerName = "answer"

// WithAnswer returns the result with this final answer. It cuts a text to [patterns.MaxAnswer] bytes. AnswerBytes is then the
// length of the whole text.
func WithAnswer(r patterns.Result, a Reply) patterns.Result {
	r.Answer, r.AnswerValue = ijson.Cut(a.Text, patterns.MaxAnswer), a.value
	if len(r.Answer) < len(a.Text) {
		r.AnswerBytes = len(a.Text)
	}
	return r
}
