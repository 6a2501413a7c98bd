package assembly

import (
	"patterngate/server/settings"
	"patterngate/server/settings/rules"
	"patterngate/server/settings/yamldoc"
)

// policyFault returns a policy fault with its place. The place is the exact character of an expression, else the value or
// key. The path contains rules by their id and tests by their name.
func (l Loaded) policyFault(f policyFault) yamldoc.Fault {
	out := yamldoc.Fault{Reason: f.Reason, DidYouMean: f.DidYouMean, Severity: yamldoc.SeverityFault}
	if f.Want != "" && f.DidYouMean == "" {
		out.Want = "write " + f.Want
	}
	if f.row != "" {
		out.Reason, out.Want = f.row, wantRuleOrTest
	}
	if f.Warning {
		out.Severity = yamldoc.SeverityWarning
	}
	root, path := f.of.Node, (*yamldoc.Path)(nil).Key("policies").Key(f.of.Name)
	if f.Pattern != "" {
		path = (*yamldoc.Path)(nil).Key("patterns").Key(f.Pattern)
		_, root = l.Root.Find(path)
	}
	if f.of.Embedded && f.Pattern == "" { // it is in no file: the fault goes to the pattern that names it
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

// misfit returns a fault of the embedded policy, at the place that names the policy for tools that it does not fit.
func (l Loaded) misfit(p *rules.Policy, f yamldoc.Fault) yamldoc.Fault {
	f.Reason = doesNotFit(p.Name, f.Reason)
	for _, q := range l.Patterns {
		if q.Judge == p.Name && !l.DemoRefunds(&q) {
			return l.FaultAt(f, "patterns", q.Name, "policy")
		}
	}
	return l.FaultAt(f, "policies", p.Name)
}

// characterOf returns the place of a byte of a policy's text, in the file that holds it.
func (l Loaded) characterOf(p *rules.Policy, value *yamldoc.Node, offset int) yamldoc.Place {
	file, text := l.Path, l.Text
	if p.File != "" && value.At.Source == p.File {
		file, text = p.File, p.Text
	}
	return value.Character(file, text, offset)
}
