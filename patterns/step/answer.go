package step

import (
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Reply is a final answer: a text, or what the pattern declares that it must be.
type Reply struct {
	Text  string // of a value its canonical JSON
	value any    // decoded; nil: it is a text
}

// Answer asks for the final answer and judges it.
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

// ReadAnswer judges a final answer by what the pattern declares of it.
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

// RefusedAnswer is the stop of a final answer that was not accepted; it is noted.
func (l *Log) RefusedAnswer(phase string, r *document.Refusal, text string) *Stop {
	l.NewJudged = append(l.NewJudged, unread(phase, answerName, r, document.ReadReply(text).Raw()))
	return &Stop{phase, r.Reason, func(result *patterns.Result) { result.Problems = r.Problems }}
}

// answerName is what the record calls a final answer that was judged.
const answerName = "answer"

// WithAnswer sets the final answer; a text is cut to what a result keeps.
func WithAnswer(r patterns.Result, a Reply) patterns.Result {
	r.Answer, r.AnswerValue = ijson.Cut(a.Text, patterns.MaxAnswer), a.value
	if len(r.Answer) < len(a.Text) {
		r.AnswerBytes = len(a.Text)
	}
	return r
}
