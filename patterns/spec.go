package patterns

import (
	"slices"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
)

// Spec declares one pattern tool: which tools it may use, its budget, its policy and its prompts. Pattern code has no such constants,
// so a file can declare patterns too. The zero Spec allows nothing.
type Spec struct {
	Name string // of the MCP tool
	Kind gateway.Kind

	Catalog   *catalog.Catalog // all tools that exist
	Tools     []string         // the tools that the pattern was declared with
	Policy    []string         // the tools that a plan, route or action may name
	Execution []string         // the tools that may be called
	Budget    gateway.Budget
	Reviewer  gateway.Reviewer // nil: only the allowlists decide
	Approver  Approver
	Prompts   Prompts
	// Tool is the tool that a pattern of kind call calls.
	Tool string
	// RulesMayWrite lets rules propose real tools that write. It is set if the configuration itself selects the rules (llm: {provider:
	// rules}).
	RulesMayWrite bool
	// Aggregate joins the results of an orchestrator's tasks; nil: [Joined].
	Aggregate func(Inputs, []TaskRow) Aggregate

	// For patterns that a file declares (spec/config.md section 7); all may be zero.

	// Goal is the name of the argument with the goal; "": goal, or ticket for routing.
	Goal string
	// Input is the schema of Task.Inputs, the arguments in addition to those of the kind; nil: none.
	Input *catalog.Schema
	// Instructions returns the text for the model after our own prompts, with the inputs as data between marks; nil: no text.
	Instructions func(Inputs) (string, error)
	// Critical lists workers without whose result the run stops, even if the plan does not call them critical.
	Critical []string
	// Reroute holds a function per route that reports whether a result means that another route must take over. Any other result of
	// that route is done. The results of a route without a function must have the status done or needs_reroute.
	Reroute map[string]func(observation any) bool
	// Answer is the schema of the final answer, which must be JSON; nil: any text.
	Answer *catalog.Schema
	// Finalize is the default of the argument finalize.
	Finalize Finalize
	// RepairTurns is how often a model gets back its refused reply with the problems.
	RepairTurns int
	// Prices are the prices for the estimates of questions, for Budget.MaxCost.
	Prices Prices
	// LLM says that a language model is configured; rules are not one.
	LLM bool

	// How the pattern makes its questions and fills arguments. All may be zero; package reference sets them for the built-in patterns.

	// Supplied are arguments that the pattern sets itself in every tool that has them: [RequestIDArgument], [TicketArgument]. A tool
	// may name more for itself, see [Spec.Supplies].
	Supplied []string
	// FillsUnfit fills an input into a tool's argument of its name even if it does not fit the argument's schema, so the gate
	// refuses it. False: such an input is left out.
	FillsUnfit bool
	// TextInputs are inputs beside those of Input that a caller must give, as texts that are not blank.
	TextInputs []TextInput
	// InputsOnTop puts the inputs beside the goal in the payload of an orchestrator's plan, and into no other question. False: all
	// questions have them, in one member.
	InputsOnTop bool
	// Unmarked sends the payloads of questions without marks around them.
	Unmarked bool
	// OverrunsTokens asks the question that exceeds Budget.MaxTokens, and none after it. False: that question is not asked either.
	OverrunsTokens bool

	// ShowsAggregate writes the aggregate of a run into the text of its result too.
	ShowsAggregate bool
	// Words are the pattern's own words for its callers.
	Words Words

	// For planning:
	Plans    string          // the pattern's own name, for its stored plans; also the prefix of its tools' names
	Envelope RequireApproval // which plans a person must approve whole before anything of them runs
}

// TextInput is an input that is a text.
type TextInput struct{ Name, Words string }

// Words describe a pattern to its callers. For an empty field there are general words.
type Words struct {
	Title    string   // names the pattern in listings
	About    string   // says in listings what the pattern does and when to use it
	Use      string   // when to use the pattern; "": for what its description says
	Goal     string   // describes the goal of a routing pattern
	Request  string   // what a routing pattern hands over, in one word
	Target   string   // to whom it hands that, in one word
	Args     string   // describes the arguments of a task's or route's tool
	LeftOut  []string // the arguments that a proposal may leave out by these words; nil: those that the call or the pattern fills
	Continue string   // describes the id of the run that a call continues
	Closing  string   // describes the answer of an action that ends a run
}

// Finalize says whether a final text is written if the call does not say. With the zero Finalize, none is written if the intent is the
// caller's and no model is configured.
type Finalize string

// The values of Finalize in a configuration.
const (
	FinalizeAuto Finalize = ""
	FinalizeYes  Finalize = "true"
	FinalizeNo   Finalize = "false"
)

// RequireApproval says which plans a person must approve before anything of them runs. The zero RequireApproval means every plan.
type RequireApproval string

// The values of RequireApproval.
const (
	RequireNone  RequireApproval = "none"
	RequirePlan  RequireApproval = "plan"  // every plan
	RequireWrite RequireApproval = "write" // plans in which a tool writes or destroys
)

// Prompts are the system prompts of a pattern's questions.
type Prompts struct {
	Decide string // for a plan, route or action
	Answer string // for the final text
	Replan string // for the rest of a plan of subtasks
	Work   string // for the result of a subtask
}

// Inputs holds a pattern's own arguments apart from the goal, by name, as decoded values of their schema.
type Inputs map[string]any

// Task is the request of a caller.
type Task struct {
	Goal   string // or the ticket
	Inputs Inputs
	// Caller holds the caller's own proposals, in order; nil if a model must propose.
	Caller []document.Intent
	// Handover lets the model continue when no more of the caller's proposals are left; otherwise the run waits for more.
	Handover bool
	// Finalize asks for a final text; without it, history and aggregate are the answer.
	Finalize bool
	Plan     *PlanCall      // for planning
	Args     map[string]any // for kind call: the tool's arguments

	// Principal is the owner of the run. Client is the program that asked, by its own statement. The engine sets both from the job,
	// see [Job.Asked]. Rules see them, and they are the same on every replay.
	Principal string
	Client    gateway.Client
	// Earlier says that an earlier build began the run's record. That build counted the waiting for people in other tasks against a
	// task's retry. Such a run continues and replays as that build decided. The engine sets it from the start of the record.
	Earlier bool
}

// Offers returns the tools that a proposer may choose from: the existing tools of the policy allowlist, in its order. If there are
// none, it returns the pattern's own tools, like the reference programs: the gateway then refuses the proposal.
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

// The arguments that a pattern sets by itself, see [Spec.Supplies].
const (
	RequestIDArgument = "request_id" // an orchestrator sets it to the run's id, whatever the plan says
	TicketArgument    = "ticket"     // holds the goal of a routing pattern; a model must repeat it, a caller may leave it out
)

// Offered describes the tools for a model: name, description and arguments.
func (s Spec) Offered(tools []catalog.Tool) []any {
	list := make([]any, len(tools))
	for i, t := range tools {
		var less []string
		if s.Supplies(t, RequestIDArgument) {
			less = []string{RequestIDArgument}
		}
		list[i] = map[string]any{"name": t.Name, "description": t.Description, "args": t.ArgumentWords(less...)}
	}
	return list
}

// OfferedWithReturns also describes what the tools return, for plans in which one call uses the result of another.
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
func TakesArgument(t catalog.Tool, argument string) bool { return t.Input.HasProperty(argument) }

// GoalArgument returns the name of the argument with the run's goal.
func (s Spec) GoalArgument() string {
	switch {
	case s.Goal != "":
		return s.Goal
	case s.Kind == gateway.Routing:
		return "ticket"
	}
	return "goal"
}

// Finalizes reports whether a final text is written if the call does not say. The flag proposes means that the intent is the caller's.
// The flag configured means that the user has configured a model.
func (s Spec) Finalizes(proposes, configured bool) bool {
	switch s.Finalize {
	case FinalizeYes:
		return true
	case FinalizeNo:
		return false
	}
	return configured || !proposes
}

// Supplies reports whether a tool has an argument that the pattern sets by itself, because the pattern or the tool says so.
func (s Spec) Supplies(t catalog.Tool, argument string) bool {
	return (slices.Contains(s.Supplied, argument) || slices.Contains(t.Supplied, argument)) && TakesArgument(t, argument)
}

// Reached returns the tools that the pattern may call and that its catalog has.
func (s Spec) Reached() []catalog.Tool {
	tools := make([]catalog.Tool, 0, len(s.Execution))
	for _, name := range s.Execution {
		if t, ok := s.Catalog.Tool(name); ok {
			tools = append(tools, t)
		}
	}
	return tools
}

// Simulated reports whether the pattern may call a simulated tool.
func (s Spec) Simulated() bool {
	return slices.ContainsFunc(s.Execution, func(name string) bool {
		t, ok := s.Catalog.Tool(name)
		return ok && t.Simulated
	})
}

// Asks says whether a person may be asked before the pattern calls a tool. If the pattern has a policy, the policy decides.
func (s Spec) Asks(tool string) gateway.Asks {
	return gateway.AsksBefore(s.Reviewer, tool)
}
