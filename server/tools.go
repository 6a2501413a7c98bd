package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/kinds"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
)

// tool is one pattern in the form that is served. It does not change after it is made.
type tool struct {
	arguments.Reader
	server   *Server
	model    string         // name of the model that answers questions
	answers  patterns.Model // that model, for a pattern that is served
	policy   string         // hash of the current policy
	declared mcp.Tool
}

// take reads the arguments that a principal sent. With problems nothing may run.
func (t *tool) take(raw json.RawMessage, principal string) (arguments.Call, []document.Problem) {
	return t.Reader.Take(raw, t.server.runsOf(principal))
}

// runsOf returns how the runs of a principal are found.
func (s *Server) runsOf(principal string) arguments.FindRun {
	return func(id string) (patterns.Snapshot, bool) { return s.config.Engine.Run(principal, id) }
}

// listing holds the words that a kind of pattern is listed with (spec/surface.md section 2).
type listing struct{ title, description string }

func listingOf(spec patterns.Spec) listing {
	switch spec.Kind {
	case gateway.Planning:
		return planListing(spec)
	case gateway.Call:
		return singleListing(spec)
	case gateway.TaskDecomposition:
		return listing{
			title: "Plan and carry out a goal",
			description: "Carries out one goal as a plan of 3 to 6 tool calls in order and combines what they return. Use it for a " +
				"report or question that needs several look-ups. Send your own `plan` (example in its schema) or leave it out; every " +
				"step is checked before it runs. If the result is `stopped` or `waiting`, follow `next`.",
		}
	case gateway.Orchestrator:
		return listing{
			title: "Run tasks in parallel",
			description: "Runs up to 4 independent worker tasks side by side, with time-outs and retries, and joins them into one " +
				"report with a health colour. Use it when the parts of a goal do not need each other. Send your own `plan` or leave it " +
				"out; a failed critical task stops the run. If the result is `stopped` or `waiting`, follow `next`.",
		}
	case gateway.Routing:
		return listing{
			title: "Route a ticket to a specialist",
			description: "Hands one ticket to the one tool that fits and reroutes when that one declines. Use it when a request needs " +
				"exactly one of them. Send your own `route` or leave it out. If the result is `stopped` or `waiting`, follow `next`.",
		}
	case gateway.Supervisor:
		return listing{
			title: "Act under supervision",
			description: "Carries out a goal action by action, each judged by the policy: approved, changed, blocked or put to a person. " +
				"Use it whenever something is changed for somebody. Send your own `actions`, one or several, or leave them out. What the " +
				"policy puts to a person waits for them; you cannot approve it. Follow `next`.",
		}
	}
	return listing{}
}

// remarked adds to the title of a pattern that its tools are simulated, if one is.
func remarked(title string, spec patterns.Spec) string {
	if spec.Simulated() {
		title += " (" + envelope.SimulatedData + ")"
	}
	return title
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// newTool makes and declares a pattern's tool. A pattern without its own title or description gets the built-in ones of
// its kind.
func newTool(s *Server, p Pattern) (*tool, error) {
	if _, ok := kinds.Of(p.Spec.Kind); !ok {
		return nil, fmt.Errorf("no pattern of kind %q", p.Spec.Kind)
	}
	if !toolName.MatchString(p.Spec.Name) {
		return nil, errors.New("a name is 1 to 64 letters, digits, _ or -")
	}
	if p.Spec.Catalog == nil {
		return nil, errors.New("no catalog")
	}
	switch p.Spec.Kind {
	case gateway.Planning:
		if err := checkPlanning(p.Spec); err != nil {
			return nil, err
		}
	case gateway.Call:
		if err := arguments.CheckCall(p.Spec); err != nil {
			return nil, err
		}
	}
	configured := s.config.Configured
	if p.Model != nil {
		configured = p.Configured
	}
	input, err := arguments.Schema(p.Spec, s.config.waits(), configured)
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	if err := envelope.CheckAnswer(p.Spec); err != nil {
		return nil, err
	}
	reach := reachOf(p.Spec)
	built := listingOf(p.Spec)
	if p.Title == "" {
		p.Title = remarked(cmp.Or(p.Spec.Words.Title, built.title), p.Spec)
	}
	p.Description = cmp.Or(p.Description, p.Spec.Words.About, built.description)
	t := &tool{
		Reader: arguments.NewReader(p.Spec, s.config.waits().Row(), arguments.KeyRow()), server: s,
		model: s.config.modelName(), answers: s.config.Model, policy: p.PolicyHash,
	}
	t.Configured = configured
	if p.Model != nil {
		t.model, t.answers = p.Model.Name(), p.Model
	}
	t.declared = mcp.NewToolWithRawSchema(p.Spec.Name, p.Description, input)
	t.declared.Title, t.declared.RawOutputSchema = p.Title, envelope.Schema(p.Spec)
	t.declared.Annotations = reach.annotations()
	return t, nil
}

// reach describes what the tools that a pattern may call can do together.
type reach struct{ readOnly, destructive, real bool }

func reachOf(spec patterns.Spec) reach {
	r := reach{readOnly: true}
	for _, t := range spec.Reached() {
		r.readOnly = r.readOnly && t.Effect == catalog.Read
		r.destructive = r.destructive || t.Effect == catalog.Destructive
		r.real = r.real || !t.Simulated
	}
	return r
}

// annotations sets all four hints, because clients assume the worst for a missing one.
func (r reach) annotations() mcp.ToolAnnotation {
	return mcp.ToolAnnotation{
		ReadOnlyHint: &r.readOnly, DestructiveHint: &r.destructive, IdempotentHint: &r.readOnly, OpenWorldHint: &r.real,
	}
}

// singleListing returns the title and description of a one-tool call, which are the tool's own.
func singleListing(spec patterns.Spec) listing {
	t, _ := arguments.CalledTool(spec)
	l := listing{title: arguments.TitleOf(t), description: t.Description}
	if ijson.Blank(l.description) {
		l.description = "Calls " + arguments.TitleOf(t) + " once, behind the gate."
	}
	return l
}
