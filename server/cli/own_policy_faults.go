package cli

import (
	"strconv"
	"strings"
)

// policyFault places what is wrong with a policy: at the very character of an expression, else at the value or key, under a path
// that names rules by their id and tests by their name.
func (l LoadedConfig) policyFault(f policyFault) Fault {
	out := Fault{Reason: f.Reason, DidYouMean: f.DidYouMean, Severity: SeverityFault}
	if f.Want != "" && f.DidYouMean == "" {
		out.Want = "write " + f.Want
	}
	if f.row != "" {
		out.Reason, out.Want = f.row, "change the rule or the row"
	}
	if f.Warning {
		out.Severity = SeverityWarning
	}
	root, path := f.of.node, (*keyPath)(nil).key("policies").key(f.of.Name)
	if f.Pattern != "" {
		path = (*keyPath)(nil).key("patterns").key(f.Pattern)
		_, root = l.root.walk(path)
	}
	if f.of.embedded && f.Pattern == "" { // it stands in no file: who names it is told
		return l.misfit(f.of, out)
	}
	key, value, below := root.locate(f.Member, path)
	at := value.at
	switch {
	case f.Key:
		at = key
	case f.Line > 0 && value.kind == yamlText:
		at = l.characterOf(f.of, value, f.Offset)
	}
	return placed(out, at, below, l.Path)
}

// misfit is a fault of the embedded policy, which is not what its user took it for.
func (l LoadedConfig) misfit(p *PolicyConfig, f Fault) Fault {
	f.Reason = p.Name + " does not fit: " + f.Reason
	for _, q := range l.Patterns {
		if q.Judge == p.Name && !l.demoRefunds(&q) {
			return l.FaultAt(f, "patterns", q.Name, "policy")
		}
	}
	return l.FaultAt(f, "policies", p.Name)
}

// characterOf is where a byte of a text of a policy stands, in the file that holds it.
func (l LoadedConfig) characterOf(p *PolicyConfig, value *yamlNode, offset int) place {
	file, text := l.Path, l.text
	if p.file != "" && value.at.source == p.file {
		file, text = p.file, p.text
	}
	if in, ok := prepareText(file, text, &configFaults{}); ok {
		return value.character(in, offset)
	}
	return value.at
}

// locate follows a member such as rules[2].when from a policy's node: where the last key stands that was found, its value, and
// the path to it in words.
func (n *yamlNode) locate(member string, path *keyPath) (key place, value *yamlNode, below *keyPath) {
	if n == nil {
		return place{}, &yamlNode{}, path
	}
	key, list := n.at, ""
	for member != "" {
		if n.kind == yamlList {
			i, rest, ok := indexed(member)
			if !ok || i >= len(n.items) {
				return key, n, path
			}
			n, member = n.items[i], rest
			key, path = n.at, itemStep(list, n, path, i)
			continue
		}
		m := n.longest(member)
		if m == nil {
			return key, n, wordPath(path, member)
		}
		member = strings.TrimPrefix(strings.TrimPrefix(member, m.key), ".")
		key, n, path, list = m.at, m.value, path.key(m.key), m.key
	}
	return key, n, path
}

// wordPath names what is not there too: policies.refunds.rules.
func wordPath(path *keyPath, member string) *keyPath {
	name, _, _ := strings.Cut(member, ".")
	if plainKey(name) {
		return path.key(name)
	}
	return path
}

// longest is the member whose name a way begins with; the longest of several, as names of arguments may hold dots.
func (n *yamlNode) longest(way string) *yamlMember {
	found := -1
	for i, m := range n.members {
		rest, ok := strings.CutPrefix(way, m.key)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') && (found < 0 || len(m.key) > len(n.members[found].key)) {
			found = i
		}
	}
	if found < 0 {
		return nil
	}
	return &n.members[found]
}

// indexed takes [2]. off a way.
func indexed(way string) (i int, rest string, ok bool) {
	inner, open := strings.CutPrefix(way, "[")
	digits, rest, closed := strings.Cut(inner, "]")
	i, err := strconv.Atoi(digits)
	return i, strings.TrimPrefix(rest, "."), open && closed && err == nil && i >= 0
}

// itemStep is the step to a rule or test, by its name.
func itemStep(list string, n *yamlNode, path *keyPath, i int) *keyPath {
	switch list {
	case "rules":
		return ruleItems.step(n, path, i)
	case "tests":
		return rowItems.step(n, path, i)
	}
	return path.item(i)
}
