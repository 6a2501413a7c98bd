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
			title:       decomposeTitle,
			description: decomposeAbout(spec.Budget.MinPlanSteps, spec.Budget.MaxPlanSteps),
		}
	case gateway.Orchestrator:
		return listing{
			title:       tasksTitle,
			description: tasksAbout(spec.Budget.MaxTasks),
		}
	case gateway.Routing:
		return listing{
			title:       routeTitle,
			description: routeAbout,
		}
	case gateway.Supervisor:
		return listing{
			title:       superviseTitle,
			description: superviseAbout,
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
		return nil, errNoKind(p.Spec.Kind)
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
	t.declared.Title, t.declared.RawOutputSchema = p.Title, envelope.Brief(p.Spec)
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
		l.description = singleAbout(arguments.TitleOf(t))
	}
	return l
}
