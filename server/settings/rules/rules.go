package rules

import (
	"math"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

var ruleItems = grammar.Items[policy.RuleSource]{
	Name: "id", Fits: func(s string) bool { return grammar.ServerNames.Fits.MatchString(s) }, Most: MaxPolicyMembers,
	Keys: ruleKeys, Finish: finishRule,
}

// Outcomes are the outcomes that a rule can have. Each rule has exactly one.
var Outcomes = grammar.NamesOf(outcomeKeys(&policy.RuleSource{}))

func ruleKeys(rule *policy.RuleSource) []grammar.Key {
	return append([]grammar.Key{
		grammar.Spelled("id", &rule.ID, grammar.ServerNames).Need(wantRuleID).Means("Its name, unique in the policy. Required."),
		matchKey("match", &rule.Match).Means("The calls that the rule judges. Names of tools, of patterns used as worker or route, or `final`. Not set: every tool, not `final`."),
		grammar.Expression("when", &rule.When).Means("CEL of type bool: whether the rule fires. Not set: always."),
		grammar.Short("say", &rule.Say, maxSay).Means("What people read when the rule fires."),
	}, outcomeKeys(rule)...)
}

// outcomeKeys returns the keys of which a rule has one.
func outcomeKeys(rule *policy.RuleSource) []grammar.Key {
	return []grammar.Key{
		blockKey("block", &rule.Block).Means(blockMeaning(blockNames)),
		reviseKey("revise", &rule.Revise).Means("Changes arguments: each to the value of a CEL expression, or to a number or boolean."),
		escalateKey("escalate", &rule.Escalate).Means(escalateMeaning(escalateNames)),
		approveKey("approve", &rule.Approve).Means("Lets the call pass: {}."),
	}
}

// finishRule checks that a rule has exactly one outcome.
func finishRule(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, _ *policy.RuleSource) {
	var has []yamldoc.Member
	for _, m := range n.Members {
		if slices.Contains(Outcomes, m.Key) && m.Value.Kind != yamldoc.Null {
			has = append(has, m)
		}
	}
	switch {
	case len(has) == 0:
		r.Faults.Add(n.At, path, yamldoc.Fault{Reason: noOutcome, Want: wantOutcome(yamldoc.Alternatives(Outcomes))})
	case len(has) > 1:
		many := "two"
		if len(has) > 2 {
			many = yamldoc.NumberText(float64(len(has)))
		}
		names := make([]string, len(has))
		for i, m := range has {
			names[i] = m.Key
		}
		r.Faults.Add(has[1].At, path, yamldoc.Fault{Reason: many + " outcomes, " + anded(names), Want: wantOneOutcome})
	}
}

// anded joins names in words: a, b and c.
func anded(names []string) string {
	last := len(names) - 1
	text := names[0]
	for _, name := range names[1:last] {
		text += ", " + name
	}
	return text + " and " + names[last]
}

// matchKey returns the key of one name, or a list of names.
func matchKey(name string, target *[]string) grammar.Key {
	return grammar.Key{
		Name: name, Takes: nameOrNames,
		Form: func() map[string]any {
			return map[string]any{"anyOf": []any{grammar.NameForm, grammar.ListForm(grammar.NameForm)}}
		},
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind == yamldoc.Text && grammar.ToolName.MatchString(n.Text) {
				*target = []string{n.Text}
				return
			}
			if n.Kind == yamldoc.List && len(n.Items) == 0 {
				r.Faults.Add(n.At, path, yamldoc.Fault{Reason: emptyMatch, Want: wantMatch})
				return
			}
			*target = readSomeNames(r, n, path, grammar.ToolNames, MaxPolicyMembers)
		},
		Show: func() any { return *target },
		Keep: func() any { return listOrNil(*target) },
	}
}

// readSomeNames reads a list of at most most names that follow rule.
func readSomeNames(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, rule grammar.NameRule, most int) []string {
	if !grammar.CheckMost(r, n, path, len(n.Items), most) {
		return nil
	}
	names := []string{}
	r.List(n, path, func(item *yamldoc.Node, at *yamldoc.Path) {
		if item.Kind != yamldoc.Text || !rule.Fits.MatchString(item.Text) {
			r.Faults.Add(item.At, at, yamldoc.Fault{Reason: notName, Got: item.Shown(), Want: rule.Want})
			return
		}
		names = append(names, item.Text)
	})
	return names
}

// namesListKey returns the key of a list of names. The list is nil if the file does not set it.
func namesListKey(name string, target *[]string, rule grammar.NameRule, most int) grammar.Key {
	return grammar.Key{
		Name: name, Takes: listOfNames, Form: func() map[string]any { return grammar.ListForm(grammar.TextForm) },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			*target = readSomeNames(r, n, path, rule, most)
		},
		Show: func() any { return *target },
		Keep: func() any { return listOrNil(*target) },
	}
}

// listOrNil returns a list of names, or nil for none. An empty list is not the same as none.
func listOrNil(names []string) any {
	if names == nil {
		return nil
	}
	return names
}

func blockKey(name string, target **policy.BlockSource) grammar.Key {
	return grammar.Held(name, target, func() policy.BlockSource { return policy.BlockSource{} }, blockKeys)
}

var blockNames = grammar.Braced(blockKeys(&policy.BlockSource{}))

func blockKeys(b *policy.BlockSource) []grammar.Key {
	need := namesListKey("need", &b.Need, grammar.ArgumentNames, maxNeed)
	need.Keep = need.Show // an empty list is the same as none
	return []grammar.Key{
		grammar.Spelled("reason", &b.Reason, grammar.ServerNames).Means("The reason in one word, part of the stop reason. Not set: the rule's id."),
		grammar.Bool("retryable", &b.Retryable).Means("Whether the same call can pass later."),
		need.Means("Tools that must be called first, or arguments that must be given."),
	}
}

func escalateKey(name string, target **policy.EscalateSource) grammar.Key {
	return grammar.Held(name, target, func() policy.EscalateSource { return policy.EscalateSource{} }, escalateKeys)
}

var escalateNames = grammar.Braced(escalateKeys(&policy.EscalateSource{}))

func escalateKeys(e *policy.EscalateSource) []grammar.Key {
	const least, most = 60, 30 * 86_400 // seconds
	expires := grammar.Scaled("expires_seconds", grammar.Bounds{Min: least, Max: most, Whole: true, Unit: grammar.InSeconds},
		func() any {
			if e.Expires == 0 {
				return nil
			}
			return e.Expires.Seconds()
		},
		func(v float64) { e.Expires = time.Duration(math.Round(v)) * time.Second }).Means("How long the person can take. Not set: as the pattern's approver says; the shorter counts.")
	expires.Numeric = false
	return []grammar.Key{
		grammar.Spelled("reason", &e.Reason, grammar.ServerNames).Means("The reason in one word. Not set: the rule's id."),
		expires,
		grammar.Word("min_assurance", &e.Least, gateway.UserAssurance, gateway.SignedAssurance).Means("Whose answer counts. Not set: as the pattern's approver says; the stricter counts."),
	}
}

// approveKey returns the key of an empty mapping.
func approveKey(name string, target *bool) grammar.Key {
	return grammar.Key{
		Name: name, Takes: "`{}`", Form: func() map[string]any { return grammar.ObjectForm(map[string]any{}) },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Mapping {
				r.Wrong(n, path, "write {}")
				return
			}
			for _, m := range n.Members {
				r.Faults.Add(m.At, path.Key(m.Key), yamldoc.Fault{Reason: unknownKey, Want: "write {}"})
			}
			*target = true
		},
		Show: func() any {
			if !*target {
				return nil
			}
			return map[string]any{}
		},
	}
}

// reviseValue returns the new values of arguments, or nil if nothing is revised.
func reviseValue(list []policy.ReviseSource) any {
	if list == nil {
		return nil
	}
	v := make(map[string]any, len(list))
	for _, r := range list {
		if v[r.Argument] = r.Value; r.Text != "" {
			v[r.Argument] = r.Text
		}
	}
	return v
}

// reviseKey returns the key of a mapping of arguments to their new values.
func reviseKey(name string, target *[]policy.ReviseSource) grammar.Key {
	return grammar.Key{
		Name: name, Takes: mappingOfArguments,
		Form: func() map[string]any {
			return grammar.MapForm(map[string]any{"anyOf": []any{grammar.ExpressionForm, map[string]any{"type": "number"}, map[string]any{"type": "boolean"}}})
		},
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			list := []policy.ReviseSource{}
			r.Each(n, path, grammar.ArgumentNames, func(m yamldoc.Member, below *yamldoc.Path) {
				switch m.Value.Kind {
				case yamldoc.Number, yamldoc.Bool:
					list = append(list, policy.ReviseSource{Argument: m.Key, Value: m.Value.Decoded()})
				case yamldoc.Text:
					if text, ok := r.Expression(m.Value, below); ok {
						list = append(list, policy.ReviseSource{Argument: m.Key, Text: text})
					}
				default:
					r.Wrong(m.Value, below, wantRevised)
				}
			})
			if n.Kind == yamldoc.Mapping && len(n.Members) == 0 {
				r.Faults.Add(n.At, path, yamldoc.Fault{Reason: emptyRevise, Want: wantRevise})
			}
			*target = list
		},
		Show: func() any { return reviseValue(*target) },
	}
}
