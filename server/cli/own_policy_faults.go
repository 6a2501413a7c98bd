package cli

import (
	"patterngate/server/settings"
	"patterngate/server/settings/rules"
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
	root, path := f.of.Node, (*yamldoc.Path)(nil).Key("policies").Key(f.of.Name)
	if f.Pattern != "" {
		path = (*yamldoc.Path)(nil).Key("patterns").Key(f.Pattern)
		_, root = l.Root.Find(path)
	}
	if f.of.Embedded && f.Pattern == "" { // it stands in no file: who names it is told
		return l.misfit(f.of, out)
	}
	key, value, below := rules.Locate(root, f.Member, path)
	at := value.At
	switch {
	case f.Key:
		at = key
	case f.Line > 0 && value.Kind == yamldoc.Text:
		at = l.characterOf(f.of, value, f.Offset)
	}
	return settings.Placed(out, at, below, l.Path)
}

// misfit is a fault of the embedded policy, which is not what its user took it for.
func (l Loaded) misfit(p *rules.Policy, f yamldoc.Fault) yamldoc.Fault {
	f.Reason = p.Name + " does not fit: " + f.Reason
	for _, q := range l.Patterns {
		if q.Judge == p.Name && !l.DemoRefunds(&q) {
			return l.FaultAt(f, "patterns", q.Name, "policy")
		}
	}
	return l.FaultAt(f, "policies", p.Name)
}

// characterOf is where a byte of a text of a policy stands, in the file that holds it.
func (l Loaded) characterOf(p *rules.Policy, value *yamldoc.Node, offset int) yamldoc.Place {
	file, text := l.Path, l.Text
	if p.File != "" && value.At.Source == p.File {
		file, text = p.File, p.Text
	}
	return value.Character(file, text, offset)
}
