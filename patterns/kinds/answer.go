package kinds

import (
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// reply is a final answer: a text, or what the pattern declares that it must be.
type reply struct {
	text  string // of a value its canonical JSON
	value any    // decoded; nil: it is a text
}

// answer asks for the final answer and judges it.
func (l *log) answer(payload map[string]any) (reply, *stop) {
	var text string
	var r reply
	q := patterns.Question{Ask: patterns.AskAnswer, Prompt: l.spec.Prompts.Answer, Payload: payload, Tools: l.tools}
	s := l.mended(q, func(q patterns.Question) (_ document.Intent, s *stop) {
		text, s = l.ask(patterns.PhaseFinalize, "writing the answer", q)
		return document.ReadReply(text), s
	}, func(document.Intent) (_ *stop, byModel bool) {
		var refusal *document.Refusal
		if r, refusal = l.readAnswer(text); refusal != nil {
			return l.refusedAnswer(patterns.PhaseFinalize, refusal, text), true
		}
		return nil, true
	})
	return r, s
}

// readAnswer judges a final answer by what the pattern declares of it.
func (l *log) readAnswer(text string) (reply, *document.Refusal) {
	text = ijson.Trim(text)
	if l.spec.Answer == nil {
		return reply{text: text}, nil
	}
	v, refusal := gateway.ParseAnswer(text, l.spec.Answer)
	if refusal != nil {
		return reply{}, refusal
	}
	return reply{text: string(ijson.Canonical(v)), value: v}, nil
}

// refusedAnswer is the stop of a final answer that was not accepted; it is noted.
func (l *log) refusedAnswer(phase string, r *document.Refusal, text string) *stop {
	l.judged = append(l.judged, unread(phase, answerName, r, document.ReadReply(text).Raw()))
	return &stop{phase, r.Reason, func(result *patterns.Result) { result.Problems = r.Problems }}
}

// answerName is what the record calls a final answer that was judged.
const answerName = "answer"

// withAnswer sets the final answer; a text is cut to what a result keeps.
func withAnswer(r patterns.Result, a reply) patterns.Result {
	r.Answer, r.AnswerValue = ijson.Cut(a.text, patterns.MaxAnswer), a.value
	if len(r.Answer) < len(a.text) {
		r.AnswerBytes = len(a.text)
	}
	return r
}
