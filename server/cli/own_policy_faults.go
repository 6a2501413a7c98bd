package cli

import (
	"strconv"
	"strings"

	"patterngate/server/settings/yamldoc"
)

// policyFault places what is wrong with a policy: at the very character of an expression, else at the value or key, under a path
// that names rules by their id and tests by their name.
func (l Loaded) policyFault(f policyFault) yamldoc.Fault {
	out := yamldoc.Fault{Reason: f.Reason, DidYouMean: f.DidYouMean, Severity: yamldoc.SeverityFault}
	if f.Want != "" && f.DidYouMean == "" {
		out.Want = "write " + f.Want
	}
	if f.row != "" {
		out.Reason, out.Want = f.row, "change the rule or the row"
	}
	if f.Warning {
		out.Severity = yamldoc.SeverityWarning
	}
	root, path := f.of.node, (*yamldoc.Path)(nil).Key("policies").Key(f.of.Name)
	if f.Pattern != "" {
		path = (*yamldoc.Path)(nil).Key("patterns").Key(f.Pattern)
		_, root = l.root.Find(path)
	}
	if f.of.embedded && f.Pattern == "" { // it stands in no file: who names it is told
		return l.misfit(f.of, out)
	}
	key, value, below := locate(root, f.Member, path)
	at := value.At
	switch {
	case f.Key:
		at = key
	case f.Line > 0 && value.Kind == yamldoc.Text:
		at = l.characterOf(f.of, value, f.Offset)
	}
	return placed(out, at, below, l.Path)
}

// misfit is a fault of the embedded policy, which is not what its user took it for.
func (l Loaded) misfit(p *PolicyConfig, f yamldoc.Fault) yamldoc.Fault {
	f.Reason = p.Name + " does not fit: " + f.Reason
	for _, q := range l.Patterns {
		if q.Judge == p.Name && !l.demoRefunds(&q) {
			return l.FaultAt(f, "patterns", q.Name, "policy")
		}
	}
	return l.FaultAt(f, "policies", p.Name)
}

// characterOf is where a byte of a text of a policy stands, in the file that holds it.
func (l Loaded) characterOf(p *PolicyConfig, value *yamldoc.Node, offset int) yamldoc.Place {
	file, text := l.Path, l.text
	if p.file != "" && value.At.Source == p.file {
		file, text = p.file, p.text
	}
	return value.Character(file, text, offset)
}

// locate follows a member such as rules[2].when from a policy's node: where the last key stands that was found, its value, and
// the path to it in words.
func locate(n *yamldoc.Node, member string, path *yamldoc.Path) (key yamldoc.Place, value *yamldoc.Node, below *yamldoc.Path) {
	if n == nil {
		return yamldoc.Place{}, &yamldoc.Node{}, path
	}
	key, list := n.At, ""
	for member != "" {
		if n.Kind == yamldoc.List {
			i, rest, ok := indexed(member)
			if !ok || i >= len(n.Items) {
				return key, n, path
			}
			n, member = n.Items[i], rest
			key, path = n.At, itemStep(list, n, path, i)
			continue
		}
		m := longest(n, member)
		if m == nil {
			return key, n, wordPath(path, member)
		}
		member = strings.TrimPrefix(strings.TrimPrefix(member, m.Key), ".")
		key, n, path, list = m.At, m.Value, path.Key(m.Key), m.Key
	}
	return key, n, path
}

// wordPath names what is not there too: policies.refunds.rules.
func wordPath(path *yamldoc.Path, member string) *yamldoc.Path {
	name, _, _ := strings.Cut(member, ".")
	if yamldoc.IsPlainKey(name) {
		return path.Key(name)
	}
	return path
}

// longest is the member whose name a way begins with; the longest of several, as names of arguments may hold dots.
func longest(n *yamldoc.Node, way string) *yamldoc.Member {
	found := -1
	for i, m := range n.Members {
		rest, ok := strings.CutPrefix(way, m.Key)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') && (found < 0 || len(m.Key) > len(n.Members[found].Key)) {
			found = i
		}
	}
	if found < 0 {
		return nil
	}
	return &n.Members[found]
}

// indexed takes [2]. off a way.
func indexed(way string) (i int, rest string, ok bool) {
	inner, open := strings.CutPrefix(way, "[")
	digits, rest, closed := strings.Cut(inner, "]")
	i, err := strconv.Atoi(digits)
	return i, strings.TrimPrefix(rest, "."), open && closed && err == nil && i >= 0
}

// itemStep is the step to a rule or test, by its name.
func itemStep(list string, n *yamldoc.Node, path *yamldoc.Path, i int) *yamldoc.Path {
	switch list {
	case "rules":
		return ruleItems.step(n, path, i)
	case "tests":
		return rowItems.step(n, path, i)
	}
	return path.Item(i)
}
