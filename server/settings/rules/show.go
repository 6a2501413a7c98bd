package rules

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/ijson"
	"patterngate/server/settings/grammar"
)

// shown returns a policy as people read it, inline or from a file.
func (p *Policy) shown() []grammar.Key {
	shown, p := []grammar.Key{}, p.Whole()
	for _, k := range p.keys(false) {
		switch v := k.Show().(type) {
		case nil:
		case json.RawMessage:
			if len(v) > 2 { // {} is empty
				shown = append(shown, k)
			}
		case grammar.JSONLines:
			if len(v) > 0 {
				shown = append(shown, k)
			}
		case []grammar.Key: // windows
			if len(p.Windows) > 0 {
				shown = append(shown, rawShown("windows", windowsJSON(p.Windows)))
			}
		default:
			shown = append(shown, k)
		}
	}
	return shown
}

func rawShown(name string, text json.RawMessage) grammar.Key {
	return grammar.Key{Name: name, Show: func() any { return text }}
}

// Kept returns the part of a policy that judges calls, with vars in their order. A snapshot holds it. Description and tests
// are not included.
func (p *Policy) Kept() json.RawMessage {
	var members []string
	add := func(name string, value json.RawMessage) {
		if len(value) > 2 { // {} and [] are empty
			members = append(members, `"`+name+`":`+string(value))
		}
	}
	add("params", paramsJSON(p.Params))
	add("vars", varsJSON(p.Vars))
	add("windows", windowsJSON(p.Windows))
	rules := make([]any, len(p.Rules))
	for i := range p.Rules {
		rules[i] = ruleValue(&p.Rules[i])
	}
	add("rules", ijson.Canonical(rules))
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

// paramsJSON returns params as JSON. It sorts them, as their order has no meaning, and writes a fraction as one.
func paramsJSON(list []policy.Param) json.RawMessage {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b policy.Param) int { return strings.Compare(a.Name, b.Name) })
	return grammar.OrderedJSON(len(list), func(i int) (string, []byte) {
		text := ijson.Canonical(list[i].Value)
		items, isList := list[i].Value.([]any)
		switch {
		case list[i].Fraction && isList && len(items) > 0:
			first := spelledFraction(ijson.Canonical(items[0]))
			text = slices.Concat([]byte("["), first, []byte(","), ijson.Canonical(items[1:])[1:])
			if len(items) == 1 {
				text = slices.Concat([]byte("["), first, []byte("]"))
			}
		case list[i].Fraction:
			text = spelledFraction(text)
		}
		return list[i].Name, text
	})
}

func spelledFraction(number []byte) []byte {
	if strings.ContainsAny(string(number), ".eE") {
		return number
	}
	return append(number, ".0"...)
}

func varsJSON(list []policy.Named) json.RawMessage {
	return grammar.OrderedJSON(len(list), func(i int) (string, []byte) { return list[i].Name, ijson.Canonical(list[i].Text) })
}

func windowsJSON(list []policy.WindowSource) json.RawMessage {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b policy.WindowSource) int { return strings.Compare(a.Name, b.Name) })
	return grammar.OrderedJSON(len(list), func(i int) (string, []byte) { return list[i].Name, ijson.Canonical(windowValue(&list[i])) })
}

func windowValue(w *policy.WindowSource) map[string]any {
	v := map[string]any{"tools": grammar.TextValues(w.Tools)}
	if w.Seconds > 0 {
		v["seconds"] = w.Seconds
	}
	putText(v, "calendar", w.Calendar)
	putText(v, "timezone", w.Timezone)
	if w.Principal {
		v["scope"] = "principal"
	}
	return v
}

func putText(v map[string]any, name, text string) {
	if text != "" {
		v[name] = text
	}
}

func ruleValue(r *policy.RuleSource) map[string]any {
	v := map[string]any{}
	putText(v, "id", r.ID)
	putText(v, "when", r.When)
	putText(v, "say", r.Say)
	if r.Match != nil {
		v["match"] = grammar.TextValues(r.Match)
	}
	if b := r.Block; b != nil {
		block := map[string]any{}
		putText(block, "reason", b.Reason)
		if b.Retryable {
			block["retryable"] = true
		}
		if len(b.Need) > 0 {
			block["need"] = grammar.TextValues(b.Need)
		}
		v["block"] = block
	}
	if r.Revise != nil {
		v["revise"] = reviseValue(r.Revise)
	}
	if e := r.Escalate; e != nil {
		escalate := map[string]any{}
		putText(escalate, "reason", e.Reason)
		putText(escalate, "min_assurance", string(e.Least))
		if e.Expires > 0 {
			escalate["expires_seconds"] = e.Expires.Seconds()
		}
		v["escalate"] = escalate
	}
	if r.Approve {
		v["approve"] = map[string]any{}
	}
	return v
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

func rowValue(row *policy.Row) map[string]any {
	v := map[string]any{"want": row.Want.String(), "call": map[string]any{"tool": row.Call.Tool, "args": ObjectOr(row.Call.Args)}}
	putText(v, "name", row.Name)
	putText(v, "want_reason", row.WantReason)
	putText(v, "want_rule", row.WantRule)
	putText(v, "pattern", row.Pattern)
	for name, object := range map[string]map[string]any{"want_args": row.WantArgs, "params": row.Params, "input": row.Input} {
		if object != nil {
			v[name] = object
		}
	}
	if row.WantNeed != nil {
		v["want_need"] = grammar.TextValues(row.WantNeed)
	}
	if len(row.Effects) > 0 {
		effects := make([]any, len(row.Effects))
		for i := range row.Effects {
			effects[i] = effectValue(&row.Effects[i])
		}
		v["effects"] = effects
	}
	if row.Principal != (gateway.Principal{}) {
		of := map[string]any{}
		putText(of, "id", row.Principal.ID)
		putText(of, "kind", row.Principal.Kind)
		putText(of, "name", row.Principal.Name)
		v["principal"] = of
	}
	if row.Client != (gateway.Client{}) {
		of := map[string]any{}
		putText(of, "name", row.Client.Name)
		putText(of, "version", row.Client.Version)
		v["client"] = of
	}
	if !row.Now.IsZero() {
		v["now"] = row.Now.Format(time.RFC3339Nano)
	}
	if row.Approved {
		v["approved"] = true
	}
	return v
}

func effectValue(e *policy.RowEffect) map[string]any {
	v := map[string]any{"tool": e.Tool}
	putText(v, "status", string(e.Status))
	if e.OK != nil {
		v["ok"] = *e.OK
	}
	if e.Args != nil {
		v["args"] = e.Args
	}
	if e.Result != nil {
		v["result"] = e.Result
	}
	if e.SecondsAgo > 0 {
		v["seconds_ago"] = e.SecondsAgo
	}
	if e.OtherRun {
		v["other_run"] = true
	}
	return v
}

// ObjectOr returns object, or an empty object if it is nil.
func ObjectOr(object map[string]any) map[string]any {
	if object == nil {
		return map[string]any{}
	}
	return object
}
