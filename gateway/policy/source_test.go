package policy_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/policy"
)

// sourceFile reads a policy that is written as JSON, in the members of spec/config.md section 5.
func sourceFile(t testing.TB, name, file string) policy.Source {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var in struct {
		Description string
		Params      ordered
		Vars        ordered
		Rules       []struct {
			ID, When, Say string
			Match         any
			Block         *struct {
				Reason    string
				Retryable bool
				Need      []string
			}
			Revise   ordered
			Escalate *struct {
				Reason  string
				Expires float64 `json:"expires_seconds"`
				Least   string  `json:"min_assurance"`
			}
			Approve *struct{}
		}
		Tests []rowJSON
	}
	if err := json.Unmarshal(text, &in); err != nil {
		t.Fatal(err)
	}
	s := policy.Source{Name: name, Description: in.Description}
	for _, p := range in.Params {
		var v any
		_ = json.Unmarshal(p.raw, &v)
		s.Params = append(s.Params, policy.Param{Name: p.name, Value: v, Fraction: bytes.ContainsAny(p.raw, ".eE") && p.raw[0] != '"'})
	}
	for _, v := range in.Vars {
		s.Vars = append(s.Vars, policy.Named{Name: v.name, Text: v.text()})
	}
	for _, r := range in.Rules {
		rule := policy.RuleSource{ID: r.ID, When: r.When, Say: r.Say, Approve: r.Approve != nil}
		switch m := r.Match.(type) {
		case string:
			rule.Match = []string{m}
		case []any:
			for _, one := range m {
				rule.Match = append(rule.Match, one.(string))
			}
		}
		if r.Block != nil {
			rule.Block = &policy.BlockSource{Reason: r.Block.Reason, Retryable: r.Block.Retryable, Need: r.Block.Need}
		}
		if r.Escalate != nil {
			rule.Escalate = &policy.EscalateSource{Reason: r.Escalate.Reason, Expires: time.Duration(r.Escalate.Expires * 1e9), Least: gateway.Assurance(r.Escalate.Least)}
		}
		for _, to := range r.Revise {
			rule.Revise = append(rule.Revise, policy.ReviseSource{Argument: to.name, Text: to.text()})
		}
		s.Rules = append(s.Rules, rule)
	}
	for _, row := range in.Tests {
		s.Tests = append(s.Tests, row.row())
	}
	return s
}

type rowJSON struct {
	Name string
	Call struct {
		Tool string
		Args map[string]any
	}
	Effects []struct {
		Tool, Status string
		OK           *bool
		Args, Result map[string]any
		Ago          float64 `json:"seconds_ago"`
		Other        bool    `json:"other_run"`
	}
	Approved bool
	Want     string
	Reason   string         `json:"want_reason"`
	Rule     string         `json:"want_rule"`
	Args     map[string]any `json:"want_args"`
	Need     []string       `json:"want_need"`
}

func (r rowJSON) row() policy.Row {
	row := policy.Row{Name: r.Name, Call: policy.RowCall{Tool: r.Call.Tool, Args: r.Call.Args}, Approved: r.Approved, WantReason: r.Reason, WantRule: r.Rule, WantArgs: r.Args, WantNeed: r.Need}
	for _, e := range r.Effects {
		row.Effects = append(row.Effects, policy.RowEffect{
			Tool: e.Tool, Status: gateway.EffectStatus(e.Status), OK: e.OK, Args: e.Args, Result: e.Result, SecondsAgo: e.Ago, OtherRun: e.Other,
		})
	}
	row.Want = map[string]gateway.Decision{"approve": gateway.Approve, "revise": gateway.Revise, "escalate": gateway.Escalate}[r.Want]
	return row
}

// ordered are the members of an object in the order of the text.
type ordered []memberJSON

type memberJSON struct {
	name string
	raw  json.RawMessage
}

// text is a member that is a text.
func (m memberJSON) text() (s string) {
	_ = json.Unmarshal(m.raw, &s)
	return s
}

func (o *ordered) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		*o = append(*o, memberJSON{name.(string), raw})
	}
	return nil
}
