package settings

import (
	"slices"
	"strings"

	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// BuiltinPatterns are the built-in patterns, in the order in which they are listed: the tools of the four reference patterns,
// and what the names of the planning tools begin with.
var BuiltinPatterns = []string{"run_task_decomposition", "run_orchestrator", "route_ticket", "supervised_refund", "plan"}

// BuiltinKinds are their kinds.
var BuiltinKinds = map[string]gateway.Kind{
	"run_task_decomposition": gateway.TaskDecomposition,
	"run_orchestrator":       gateway.Orchestrator,
	"route_ticket":           gateway.Routing,
	"supervised_refund":      gateway.Supervisor,
	"plan":                   gateway.Planning,
}

// DemoTools are all tools that a pattern over the demo may name.
var DemoTools = slices.Concat(demo.DecompositionTools, demo.OrchestratorWorkers, demo.Specialists, demo.RefundTools)

// Completions are the values that a person is offered while they fill in a kind's prompt: those of the demo.
var Completions = map[gateway.Kind]map[string][]string{
	gateway.TaskDecomposition: {"goal": {demo.DecompositionGoal}},
	gateway.Orchestrator:      {"goal": {demo.OrchestratorGoal}, "report_date": {demo.ReportDate}, "region": {demo.Region}},
	gateway.Routing:           {"ticket": {demo.RoutingTicket}},
	gateway.Supervisor:        {"goal": {demo.RefundGoal}},
}

func NameOfKind(kind gateway.Kind) string {
	for _, n := range BuiltinPatterns {
		if BuiltinKinds[n] == kind {
			return n
		}
	}
	return string(kind)
}

// KindNamed is the kind of a built-in pattern, or of the pattern that a tool is one of.
func KindNamed(name string) (kind gateway.Kind, known bool) {
	if kind, known = BuiltinKinds[name]; known {
		return kind, true
	}
	if pattern, verb, cut := strings.Cut(name, "_"); cut && BuiltinKinds[pattern] == gateway.Planning && slices.Contains(PlanVerbs, patterns.PlanVerb(verb)) {
		return gateway.Planning, true
	}
	return "", false
}

// PlanVerbs are what the names of a planning pattern's tools end with.
var PlanVerbs = []patterns.PlanVerb{patterns.DecomposeVerb, patterns.ExecuteVerb, patterns.ReplanVerb, patterns.StatusVerb}

// patternNotes is what the reading of patterns leaves for the checks across keys.
type patternNotes struct {
	// strange are names of allow lists that the embedded default does not have; the file may.
	strange []strangeName
}

// strangeName is a name in an allow list, and where it stands.
type strangeName struct {
	at    yamldoc.Place
	path  *yamldoc.Path
	name  string
	known []string
	kind  gateway.Kind
}

// readKnownNames reads a list of tools' names; null within is no name. Names that nobody knows are warnings, since a call
// of them ends with *_missing.
func readKnownNames(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, known []string, kind gateway.Kind) ([]string, bool) {
	if n.Kind != yamldoc.List {
		want := "write a list of names, [] for none"
		if n.Kind == yamldoc.Text && grammar.ToolName.MatchString(n.Text) {
			want = "write a list: [" + n.Text + "]"
		}
		r.Wrong(n, path, want)
		return nil, false
	}
	names, ok := make([]string, 0, len(n.Items)), true
	for i, item := range n.Items {
		at := path.Item(i)
		switch {
		case item.Kind == yamldoc.Unreadable:
			ok = false
		case item.Kind != yamldoc.Text || !grammar.ToolName.MatchString(item.Text):
			r.Faults.Add(item.At, at, yamldoc.Fault{Reason: "not a name", Got: item.Shown(), Want: "write a name: 1 to 64 letters, digits, _ and -"})
			ok = false
		case !slices.Contains(known, item.Text):
			notes := grammar.NotesOf[patternNotes](r)
			notes.strange = append(notes.strange, strangeName{item.At, at, item.Text, known, kind})
			fallthrough
		default:
			names = append(names, item.Text)
		}
	}
	return names, ok
}

// unknownName is the warning for a name that no tool, worker or route has.
func unknownName(name string, known []string, kind gateway.Kind) yamldoc.Fault {
	noun := map[gateway.Kind]string{gateway.Orchestrator: "worker", gateway.Routing: "route"}[kind]
	if noun == "" {
		noun = "tool"
	}
	f := yamldoc.Fault{Reason: "no " + noun + " " + name, DidYouMean: gateway.Near(name, known)}
	if f.DidYouMean == "" {
		f.Want = "there are " + strings.Join(known, ", ")
	}
	return f
}
