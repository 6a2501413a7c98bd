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

// BuiltinPatterns are the names of the built-in patterns, in the order in which they are listed. The first four are the
// tools of the reference patterns. The last one is the prefix of the planning tools' names.
var BuiltinPatterns = []string{"run_task_decomposition", "run_orchestrator", "route_ticket", "supervised_refund", "plan"}

// builtinKinds are the kinds of the built-in patterns, by name.
var builtinKinds = map[string]gateway.Kind{
	"run_task_decomposition": gateway.TaskDecomposition,
	"run_orchestrator":       gateway.Orchestrator,
	"route_ticket":           gateway.Routing,
	"supervised_refund":      gateway.Supervisor,
	"plan":                   gateway.Planning,
}

// DemoTools are the names of all demo tools.
var DemoTools = slices.Concat(demo.DecompositionTools, demo.OrchestratorWorkers, demo.Specialists, demo.RefundTools)

// Completions are the argument values that a client offers to a person who fills in a kind's prompt. They come from the
// demo.
var Completions = map[gateway.Kind]map[string][]string{
	gateway.TaskDecomposition: {"goal": {demo.DecompositionGoal}},
	gateway.Orchestrator:      {"goal": {demo.OrchestratorGoal}, "report_date": {demo.ReportDate}, "region": {demo.Region}},
	gateway.Routing:           {"ticket": {demo.RoutingTicket}},
	gateway.Supervisor:        {"goal": {demo.RefundGoal}},
}

// NameOfKind returns the name of the built-in pattern of a kind. For a kind without one it returns the kind.
func NameOfKind(kind gateway.Kind) string {
	for _, n := range BuiltinPatterns {
		if builtinKinds[n] == kind {
			return n
		}
	}
	return string(kind)
}

// KindNamed returns the kind of a built-in pattern. The name can also be one of the tools of a built-in planning pattern.
func KindNamed(name string) (kind gateway.Kind, known bool) {
	if kind, known = builtinKinds[name]; known {
		return kind, true
	}
	if pattern, verb, cut := strings.Cut(name, "_"); cut && builtinKinds[pattern] == gateway.Planning && slices.Contains(PlanVerbs, patterns.PlanVerb(verb)) {
		return gateway.Planning, true
	}
	return "", false
}

// PlanVerbs are the suffixes of the names of a planning pattern's tools.
var PlanVerbs = []patterns.PlanVerb{patterns.DecomposeVerb, patterns.ExecuteVerb, patterns.ReplanVerb, patterns.StatusVerb}

// patternNotes holds what the checks across keys need from the reading of patterns.
type patternNotes struct {
	// strange are the names in allow lists that the embedded default does not have. The file may declare them.
	strange []strangeName
}

// strangeName is a name in an allow list and its place in the file.
type strangeName struct {
	at    yamldoc.Place
	path  *yamldoc.Path
	name  string
	known []string
	kind  gateway.Kind
}

// readKnownNames reads a list of tool names. A null in the list is a fault. An unknown name is only noted for a later
// warning, since a call of it ends with *_missing.
func readKnownNames(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, known []string, kind gateway.Kind) ([]string, bool) {
	if n.Kind != yamldoc.List {
		want := wantNames
		if n.Kind == yamldoc.Text && grammar.ToolName.MatchString(n.Text) {
			want = wantListOf(n.Text)
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
			r.Faults.Add(item.At, at, yamldoc.Fault{Reason: notName, Got: item.Shown(), Want: wantName})
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

// unknownName returns the fault for a name that no tool, worker or route has.
func unknownName(name string, known []string, kind gateway.Kind) yamldoc.Fault {
	noun := map[gateway.Kind]string{gateway.Orchestrator: "worker", gateway.Routing: "route"}[kind]
	if noun == "" {
		noun = "tool"
	}
	f := yamldoc.Fault{Reason: "no " + noun + " " + name, DidYouMean: gateway.NearTyped(name, known)}
	if f.DidYouMean == "" {
		f.Want = thereAre(strings.Join(known, ", "))
	}
	return f
}
