package patterns

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Model answers questions. Its answer is a proposal, never an act: untrusted text that the gateway reads. An implementation must be
// safe for concurrent use and must return when ctx ends.
type Model interface {
	// Name returns the name that a result's usage shows: a model's name, or "rules".
	Name() string
	// Ask returns the text of the answer as it came. If the model does not answer, it returns a [*ModelFault]; usage counts in both
	// cases. If ctx ended, it returns the error of ctx.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Ask names the kind of a question.
type Ask string

// These are the questions that patterns ask.
const (
	AskPlan   Ask = "plan"   // {"kind":"plan","steps":[{id,title,tool,args}]}
	AskTasks  Ask = "tasks"  // {"kind":"plan","tasks":[{id,worker,args,critical}]}
	AskRoute  Ask = "route"  // {"kind":"route","target","args":{"ticket"}}
	AskAction Ask = "action" // {"kind":"tool","name","args"} or {"kind":"final","answer"}
	AskAnswer Ask = "answer" // plain text, made from the observations
	// For planning (spec/planning-reference.md section 15):
	AskSubtasks Ask = "subtasks" // {"kind":"plan","subtasks":[{id,description,dependencies,tool,args}]}
	AskReplan   Ask = "replan"   // the same for the rest of the plan, with adjustment_rationale
	AskWork     Ask = "work"     // plain text: a subtask's result
)

// Intent returns the name of the answer: all kinds of plans are "plan".
func (a Ask) Intent() string {
	switch a {
	case AskTasks, AskSubtasks, AskReplan:
		return string(AskPlan)
	}
	return string(a)
}

// Choosing returns the words of progress for a question that asks for a proposal, such as "choosing steps", and "" for other questions.
func (a Ask) Choosing() string {
	switch a {
	case AskPlan:
		return "choosing steps"
	case AskTasks:
		return "choosing tasks"
	case AskRoute:
		return "choosing a route"
	case AskAction:
		return "choosing an action"
	case AskSubtasks, AskReplan:
		return "choosing subtasks"
	}
	return ""
}

// ByRules is the model name of the offline rules; see [Model].
const ByRules = "rules"

// DoneBy returns what the effect does, in words. If it asks for a proposal, the words name the proposer: the rules or a model.
func (e Effect) DoneBy(model Model) string {
	a, isAsked := e.Act.(AskAct)
	switch {
	case model == nil || !isAsked || a.Question == nil || a.Question.Ask.Choosing() == "":
		return e.Doing
	case model.Name() == ByRules:
		return e.Doing + " (rules)"
	}
	return e.Doing + " (model)"
}

// Question is one question to a model. The spec (sections 2-5) defines its payload; Prompt is the product's own.
type Question struct {
	Ask    Ask
	Prompt string // the system prompt
	// Payload is the user message: an object of decoded values as in package ijson.
	Payload map[string]any
	// JSON is Payload in canonical form, made once by the pattern. It is recorded and sent.
	JSON json.RawMessage
	// Tools are the tools that the answer may choose from, in the allowlist's order, with their schemas. Rules read them; a language
	// model sees their names, descriptions and arguments inside Payload.
	Tools []catalog.Tool
	// Hidden lists arguments that the pattern sets itself (request_id). A proposal need not hold them.
	Hidden []string
	// Least is the minimum number of steps in a plan; 0: that of the built-in pattern.
	Least int
	// RulesMayWrite is that of the Spec. If it is false, rules propose only those real tools that read.
	RulesMayWrite bool
	// Unmarked is that of the Spec. If it is true, the payload goes to the model without marks.
	Unmarked bool
	// Mark is the text in the lines before and after the payload. The authors of the payload could not know it,
	// and the payload does not contain it. [AskModel] makes it; "": the payload has no marks.
	Mark string
	// Answer is the schema of a final answer, also of that in a final action: it must be JSON of this schema; nil: any text.
	Answer *catalog.Schema
	// MaxRequests limits the requests for this question, retries included; negative: no limit.
	MaxRequests int
}

// Decision reports whether the answer must be one JSON object. [AskAnswer] and [AskWork] expect prose, unless a final answer has a
// schema.
func (q Question) Decision() bool {
	return q.Ask != AskWork && (q.Ask != AskAnswer || q.Answer != nil)
}

// Canonical returns the payload in canonical form.
func (q Question) Canonical() json.RawMessage {
	if q.JSON != nil {
		return q.JSON
	}
	const usual = 2 << 10 // bytes of most payloads
	return ijson.Append(make([]byte, 0, usual), q.Payload)
}

// Answer is a model's reply and its cost.
type Answer struct {
	Text  string
	Usage Usage
	// Models is the cost per model, in the order in which they were asked; nil: all by the model itself.
	Models []ModelUsage
}

// Usage counts the cost of models. The zero Usage is no cost.
type Usage struct {
	Requests     int `json:"llm_calls"` // requests begun, retries included
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// CostUSD is the cost of the models that have a price.
	CostUSD float64 `json:"cost_usd,omitempty"`
}

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Requests + v.Requests, u.InputTokens + v.InputTokens, u.OutputTokens + v.OutputTokens, RoundUSD(u.CostUSD + v.CostUSD)}
}

// ModelFault says why a model gave no answer. Reason is a stop reason (llm_timeout, llm_unreachable, llm_error:CLASS,
// goal_incomplete:TOOL.ARGUMENT, goal_unclear, route_unclear).
type ModelFault struct {
	Reason string
	// Say is the question for the person, if only a person can resolve the reason; from rules only.
	Say string
	// Candidates lists similar names, for goal_unclear and route_unclear.
	Candidates []string
	// Cause goes to the log only.
	Cause error
}

func (f *ModelFault) Error() string {
	if f.Cause != nil {
		return f.Reason + ": " + f.Cause.Error()
	}
	return f.Reason
}

// Unwrap returns the cause.
func (f *ModelFault) Unwrap() error { return f.Cause }

// markOf returns the mark of a question's payload. It is a hash of the run's id, which cannot be guessed, so a replay makes the same
// mark. A mark that became known cannot be misused: a payload that holds the mark gets another one.
func markOf(run string, payload []byte) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256([]byte(run + "/mark/" + strconv.Itoa(n)))
		mark := hex.EncodeToString(sum[:8])
		if !bytes.Contains(payload, []byte(mark)) {
			return mark
		}
	}
}
