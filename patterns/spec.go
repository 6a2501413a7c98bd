package patterns

import (
	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
)

// Spec declares one pattern tool: what it may use, how much, by which policy and with which words. Pattern code
// knows no constants, so that a file can declare patterns too. The zero Spec allows nothing.
type Spec struct {
	Name string // of the MCP tool
	Kind gateway.Kind

	Catalog   *catalog.Catalog // what exists
	Tools     []string         // what the pattern was declared with
	Policy    []string         // what a plan, route or action may name
	Execution []string         // what may be called
	Budget    gateway.Budget
	Reviewer  gateway.Reviewer // nil: the allowlists alone decide
	Approver  Approver
	Prompts   Prompts
	// Tool is what a pattern of kind call calls.
	Tool string
	// RulesMayWrite lets rules propose real tools that write: the configuration names them itself (llm: {provider: rules}).
	RulesMayWrite bool
	// Aggregate joins what an orchestrator's tasks returned; nil: [Joined].
	Aggregate func(Inputs, []TaskRow) Aggregate

	// Of patterns that a file declares (spec/config.md section 7); all may be zero.

	// Declared says that the file declares the pattern: its inputs travel to models under one name, and its replies are held to
	// their schema. False: it is a built-in one.
	Declared bool
	// Goal is what the argument with the goal is called; "": goal, of routing ticket.
	Goal string
	// Input is the schema of Task.Inputs, the arguments besides the kind's own; nil: none.
	Input *catalog.Schema
	// Instructions words what the model is told after our own prompts, with the inputs as data between marks; nil: nothing.
	Instructions func(Inputs) (string, error)
	// Critical are workers without whose result the run stops, whatever the plan says.
	Critical []string
	// Reroute says by route whether what it returned means that another is to take over; a route without one is done in any
	// case unless it is the demo's.
	Reroute map[string]func(observation any) bool
	// Answer is what the final answer must be: JSON of that schema; nil: any text.
	Answer *catalog.Schema
	// Finalize is the default of the argument.
	Finalize Finalize
	// RepairTurns is how often a model's refused reply goes back to it with its problems.
	RepairTurns int
	// Prices are what questions are estimated at, for Budget.MaxCost.
	Prices Prices
	// LLM says that a language model is configured; rules are none.
	LLM bool

	// Of planning:
	Plans    string          // the pattern's own name, under which its plans are kept; the prefix of its tools' names
	Envelope RequireApproval // which plans a person approves whole before anything of them runs
}

// Finalize says whether a final text is written where the call does not say. The zero Finalize decides by itself: not where the
// intent is the caller's and no model is configured.
type Finalize string

// What a configuration may say of it.
const (
	FinalizeAuto Finalize = ""
	FinalizeYes  Finalize = "true"
	FinalizeNo   Finalize = "false"
)

// RequireApproval says which plans are put to a person before anything of them runs. The zero RequireApproval is every
// plan.
type RequireApproval string

// Which plans a person approves.
const (
	RequireNone  RequireApproval = "none"
	RequirePlan  RequireApproval = "plan"  // every plan
	RequireWrite RequireApproval = "write" // those in which a tool writes or destroys
)

// Prompts are the system prompts of a pattern's questions.
type Prompts struct {
	Decide string // for a plan, route or action
	Answer string // for the final text
	Replan string // for what remains of a plan of subtasks
	Work   string // for the result of a subtask
}

// Inputs are a pattern's own arguments besides the goal, by name: decoded values, as their schema has them.
type Inputs map[string]any

// Task is what a caller wants done.
type Task struct {
	Goal   string // or the ticket
	Inputs Inputs
	// Caller are the caller's own proposals, in order; nil where a model is to propose.
	Caller []document.Intent
	// Handover lets the model go on when the caller's proposals have run out; else the run waits for more.
	Handover bool
	// Finalize asks for a final text; without it history and aggregate are the answer.
	Finalize bool
	Plan     *PlanCall      // of planning
	Args     map[string]any // of kind call: the tool's arguments

	// Principal is whose run it is, Client the program that asked, as it says itself. The engine sets them from the job, see
	// [Job.Asked]: rules see them, and they are the same on every replay.
	Principal string
	Client    gateway.Client
	// Earlier says that the run's record was begun by a build which counted people's time of other tasks against a task's retry.
	// Such a run goes on, and replays, as that build decided. The engine sets it from the record's start.
	Earlier bool
}

// Offers are what a proposer may choose from: the tools of the policy allowlist that exist, in its order. Where the
// list allows none, the pattern's own are named all the same, as in the seeds: the gate refuses, not the payload.
func (s Spec) Offers() []catalog.Tool {
	if list := s.existing(s.Policy); len(list) > 0 {
		return list
	}
	return s.existing(s.Tools)
}

func (s Spec) existing(names []string) []catalog.Tool {
	var list []catalog.Tool
	for _, n := range names {
		if t, ok := s.Catalog.Tool(n); ok {
			list = append(list, t)
		}
	}
	return list
}

// RequestIDArgument is the argument that an orchestrator sets for workers that take it.
const RequestIDArgument = "request_id"

// Offered words the tools for a model: name, description and arguments.
func (s Spec) Offered(tools []catalog.Tool) []any {
	list := make([]any, len(tools))
	for i, t := range tools {
		var less []string
		if !s.Declared || s.SetsRequestID(t) {
			less = []string{RequestIDArgument}
		}
		list[i] = map[string]any{"name": t.Name, "description": t.Description, "args": t.ArgumentWords(less...)}
	}
	return list
}

// OfferedWithReturns words what they return too, for plans in which one call takes what another found.
func (s Spec) OfferedWithReturns(tools []catalog.Tool) []any {
	list := s.Offered(tools)
	for i, t := range tools {
		if words := t.ReturnWords(); words != nil {
			list[i].(map[string]any)["returns"] = words
		}
	}
	return list
}

// TakesArgument reports whether a tool has an argument.
func TakesArgument(t catalog.Tool, argument string) bool {
	for _, p := range t.Input.Properties() {
		if p.Name == argument {
			return true
		}
	}
	return false
}

// GoalArgument is what the argument with the run's goal is called.
func (s Spec) GoalArgument() string {
	switch {
	case s.Goal != "":
		return s.Goal
	case s.Kind == gateway.Routing:
		return "ticket"
	}
	return "goal"
}

// Finalizes reports whether a final text is written where the call does not say: proposes is whether the intent is the caller's,
// configured whether the user set a model up.
func (s Spec) Finalizes(proposes, configured bool) bool {
	switch s.Finalize {
	case FinalizeYes:
		return true
	case FinalizeNo:
		return false
	}
	return configured || !proposes
}

// SetsRequestID reports whether an orchestrator gives a worker the run's id, whatever the plan says: those of the demo, and where
// the pattern is a built-in one all that take it.
func (s Spec) SetsRequestID(t catalog.Tool) bool {
	return (!s.Declared || t.Demo) && TakesArgument(t, RequestIDArgument)
}

// Asks says whether a person may be asked before the pattern calls a tool: where it has a policy, that says so.
func (s Spec) Asks(tool string) gateway.Asks {
	return gateway.AsksBefore(s.Reviewer, tool)
}
