package cli

import (
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

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
