package policy

import (
	"math"
	"slices"

	"patterngate/gateway/policy/expr"
	"patterngate/ijson"
)

// Value returns the policy in force as a decoded value: rules, vars, windows and params. It also names the params that
// are double although neither name nor value shows it. The hash is over its canonical form. It leaves out texts for
// people: the policy's name and description, the rules' say texts, and the tests.
func (j *Judge) Value() map[string]any {
	if j == nil {
		return map[string]any{}
	}
	return valueOf(j.policy.source, params{j.policy.params.fields, j.given})
}

// HashOf returns the hash that the [Judge] of a policy has if the params laid replace its own. It compiles nothing. It
// returns "" if the params are wrong.
func HashOf(source Source, laid map[string]any) string {
	own, faults := readParams(source.Params)
	over, wrong := own.over(laid)
	if len(faults)+len(wrong) > 0 {
		return ""
	}
	return hashOf(valueOf(source, over))
}

func hashOf(value map[string]any) string { return ijson.Hash(ijson.Canonical(value)) }

// valueOf returns a policy's canonical form with the params in force.
func valueOf(source Source, in params) map[string]any {
	vars, windows, rules := map[string]any{}, map[string]any{}, make([]any, len(source.Rules))
	for _, v := range source.Vars {
		vars[v.Name] = v.Text
	}
	for _, w := range source.Windows {
		windows[w.Name] = windowForm(w)
	}
	for i, r := range source.Rules {
		rules[i] = ruleForm(r)
	}
	given := map[string]any{}
	for name, v := range in.values {
		given[name] = v
	}
	form := map[string]any{"rules": rules, "vars": vars, "windows": windows, "params": given}
	if doubles := in.doubles(); len(doubles) > 0 {
		form["doubles"] = doubles
	}
	return form
}

// doubles returns the names of params that are double although neither their names nor their values show it. As JSON, 7
// and 7.0 are the same value, but rules divide and print them differently.
func (p params) doubles() []any {
	var names []string
	for _, f := range p.fields {
		values, isList := p.values[f.Name].([]any)
		is := f.Type
		if isList {
			is = f.Type.Item()
		} else {
			values = []any{p.values[f.Name]}
		}
		whole := len(values) > 0 && !slices.ContainsFunc(values, func(v any) bool {
			n, isNumber := v.(float64)
			return !isNumber || n != math.Trunc(n)
		})
		if whole && is.Kind() != expr.IntKind && !fractional(f.Name) {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return textsForm(names)
}

func windowForm(w WindowSource) map[string]any {
	form := map[string]any{"tools": textsForm(w.Tools), "scope": "everyone"}
	if w.Principal {
		form["scope"] = "principal"
	}
	if w.Calendar == "" {
		form["seconds"] = w.Seconds
		return form
	}
	form["calendar"], form["timezone"] = w.Calendar, w.Timezone
	if w.Timezone == "" {
		form["timezone"] = "UTC"
	}
	return form
}

func ruleForm(r RuleSource) map[string]any {
	form := map[string]any{"id": r.ID}
	if r.Match != nil {
		form["match"] = textsForm(r.Match)
	}
	if r.When != "" {
		form["when"] = r.When
	}
	switch {
	case r.Block != nil:
		form["block"] = blockForm(r)
	case r.Revise != nil:
		set := map[string]any{}
		for _, to := range r.Revise {
			if set[to.Argument] = to.Value; to.Text != "" {
				set[to.Argument] = to.Text
			}
		}
		form["revise"] = set
	case r.Escalate != nil:
		form["escalate"] = escalateForm(r)
	case r.Approve:
		form["approve"] = map[string]any{}
	}
	return form
}

func blockForm(r RuleSource) map[string]any {
	form := map[string]any{"reason": reasonOf(r.Block.Reason, r.ID)}
	if r.Block.Retryable {
		form["retryable"] = true
	}
	if len(r.Block.Need) > 0 {
		form["need"] = textsForm(r.Block.Need)
	}
	return form
}

func escalateForm(r RuleSource) map[string]any {
	form := map[string]any{"reason": reasonOf(r.Escalate.Reason, r.ID)}
	if r.Escalate.Expires > 0 {
		form["expires_seconds"] = r.Escalate.Expires.Seconds()
	}
	if r.Escalate.Least != "" {
		form["min_assurance"] = string(r.Escalate.Least)
	}
	return form
}

func reasonOf(reason, id string) string {
	if reason == "" {
		return id
	}
	return reason
}

func textsForm(texts []string) []any {
	list := make([]any, len(texts))
	for i, t := range texts {
		list[i] = t
	}
	return list
}
