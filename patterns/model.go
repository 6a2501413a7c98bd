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

// Model answers questions. What it answers is a proposal, never an act: untrusted text that the gateway reads.
// An implementation is safe for concurrent use and ends when ctx does.
type Model interface {
	// Name is shown in a result's usage: a model's name, or "rules".
	Name() string
	// Ask returns the answer's text as it came. A model that does not answer returns a [*ModelFault]; usage is
	// counted in both cases. When ctx ended, ctx's error is returned.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Ask names what a question asks for.
type Ask string

// The questions patterns ask.
const (
	AskPlan   Ask = "plan"   // {"kind":"plan","steps":[{id,title,tool,args}]}
	AskTasks  Ask = "tasks"  // {"kind":"plan","tasks":[{id,worker,args,critical}]}
	AskRoute  Ask = "route"  // {"kind":"route","target","args":{"ticket"}}
	AskAction Ask = "action" // {"kind":"tool","name","args"} or {"kind":"final","answer"}
	AskAnswer Ask = "answer" // plain text, made from what was observed
	// Of planning (spec/planning-reference.md section 15):
	AskSubtasks Ask = "subtasks" // {"kind":"plan","subtasks":[{id,description,dependencies,tool,args}]}
	AskReplan   Ask = "replan"   // the same for what remains, with adjustment_rationale
	AskWork     Ask = "work"     // plain text: a subtask's result
)

// Intent is what the answer is called: both plans are one.
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

// ByRules is the model name that stands for the offline rules; see [Model].
const ByRules = "rules"

// DoneBy returns what the effect does, in words. If it asks for a proposal, the words name the proposer: the rules or a model.
func (e Effect) DoneBy(model Model) string {
	switch {
	case model == nil || e.Kind != ModelEffect || e.Question == nil || e.Question.Ask.Choosing() == "":
		return e.Doing
	case model.Name() == ByRules:
		return e.Doing + " (rules)"
	}
	return e.Doing + " (model)"
}

// Question is one question to a model. Its payload is the contract of spec sections 2-5; Prompt is the product's own.
type Question struct {
	Ask    Ask
	Prompt string // the system prompt
	// Payload is the user message: an object of decoded values as in package ijson.
	Payload map[string]any
	// JSON is Payload in canonical form, made once by the pattern; what is recorded and sent.
	JSON json.RawMessage
	// Tools are what the question may choose from, in the allowlist's order, with their schemas. Rules read them;
	// a language model sees their names, descriptions and arguments inside Payload.
	Tools []catalog.Tool
	// Hidden are arguments that the pattern sets itself (request_id); no proposal needs to hold them.
	Hidden []string
	// Least is how many steps a plan has at least; 0: as the built-in pattern's.
	Least int
	// RulesMayWrite is of the Spec: without it rules propose of real tools only those that read.
	RulesMayWrite bool
	// Declared is of the Spec: what travels to the model stands between marks.
	Declared bool
	// Mark stands in the lines before and after the payload of a declared pattern: nobody who wrote anything in it knew it, and
	// it is not in it. It is made by [AskModel]; "": the payload travels bare.
	Mark string
	// Answer is what a final answer must be, also that of a final action: JSON of that schema; nil: any text.
	Answer *catalog.Schema
	// MaxRequests bounds the requests this question may cost, retries included; negative means no bound.
	MaxRequests int
}

// Decision reports whether the answer must be one JSON object; [AskAnswer] and [AskWork] want prose, unless the answer has a
// schema.
func (q Question) Decision() bool {
	return q.Ask != AskWork && (q.Ask != AskAnswer || q.Answer != nil)
}

// Canonical is the payload in canonical form.
func (q Question) Canonical() json.RawMessage {
	if q.JSON != nil {
		return q.JSON
	}
	const usual = 2 << 10 // bytes of most payloads
	return ijson.Append(make([]byte, 0, usual), q.Payload)
}

// Answer is what a model said, with what it cost.
type Answer struct {
	Text  string
	Usage Usage
	// Models says which models cost what of it, in the order in which they were asked; nil: the one that has the name.
	Models []ModelUsage
}

// Usage counts what models cost. The zero Usage is nothing.
type Usage struct {
	Requests     int `json:"llm_calls"` // requests begun, retries included
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// CostUSD is what the models with a price cost.
	CostUSD float64 `json:"cost_usd,omitempty"`
}

// Plus adds two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Requests + v.Requests, u.InputTokens + v.InputTokens, u.OutputTokens + v.OutputTokens, RoundUSD(u.CostUSD + v.CostUSD)}
}

// ModelFault is why a model gave no answer. Reason is a stop reason (llm_timeout, llm_unreachable, llm_error:CLASS,
// goal_incomplete:TOOL.ARGUMENT, goal_unclear, route_unclear).
type ModelFault struct {
	Reason string
	// Say is what to ask the person, for reasons that only a person can mend; from rules only.
	Say string
	// Candidates are names that came near, for goal_unclear and route_unclear.
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

// markOf is the mark of a question's payload: of the run's id, which nobody can guess, by hash, so that a replay makes the same.
// Who has learned it meanwhile gains nothing: a payload that holds the mark has another one.
func markOf(run string, payload []byte) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256([]byte(run + "/mark/" + strconv.Itoa(n)))
		mark := hex.EncodeToString(sum[:8])
		if !bytes.Contains(payload, []byte(mark)) {
			return mark
		}
	}
}
