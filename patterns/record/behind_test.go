package record

import (
	"fmt"
	"strings"
	"testing"
)

// What stands behind a question is read from the record: who wrote the call, what a rule changed since, and what earlier calls
// returned. Later results are not in it.
func TestBehind(t *testing.T) {
	for name, tt := range map[string]struct {
		usage, revised string
		by, words      string
	}{
		"rules":        {`{"llm_calls":0,"input_tokens":0,"output_tokens":0}`, "", "rules", "the offline rules, not a model or a person; they wrote the text of reason"},
		"a model":      {`{"llm_calls":1,"input_tokens":9,"output_tokens":9}`, "", "model", "a model; it wrote the text of reason"},
		"a rule since": {`{"llm_calls":1,"input_tokens":9,"output_tokens":9}`, "cap", "model", "a model; rule cap of the policy wrote reason"},
	} {
		lines := []string{
			`1 start - {"run_id":"run_00000000000000a1","pattern":"p","pattern_kind":"supervisor"}`,
			`2 intent look#1 {"effect_kind":"tool","name":"look","effect":"read","input":{"user_id":42}}`,
			`3 outcome look#1 {"state":"ok","output":{"customer":{"name":"Anna","plan":"annual"},"last_charge_usd":1200,"odd/name":[1,{}]}}`,
			`4 intent action#1 {"effect_kind":"model","name":"action","input":{}}`,
			`5 outcome action#1 {"state":"ok","output":"{}","usage":` + tt.usage + `}`,
		}
		if tt.revised != "" {
			lines = append(lines, `6 judged pay#j {"phase":"supervisor","decision":"revise","rule":"`+tt.revised+`","proposal":{"kind":"tool","name":"pay","args":{"amount":5}}}`)
		}
		lines = append(lines,
			`7 intent approve#1 {"effect_kind":"human","name":"approve","input":{"rule":"big","action":{"kind":"tool","name":"pay"}},"object":{"args":{"amount":5,"reason":"late"},"expires":"2026-11-22T09:30:00Z"}}`,
			`8 intent later#1 {"effect_kind":"tool","name":"later","effect":"read","input":{}}`,
			`9 outcome later#1 {"state":"ok","output":{"secret":1}}`)
		story := Read(events(lines...))
		if who := story.Receipt().ProposedBy; len(who) != 1 || who[0] != tt.by {
			t.Errorf("%s: the receipt of the waiting run says that %v proposed, want %s", name, who, tt.by)
		}
		b := story.Behind("approve#1")
		if b.ProposedBy != tt.by || b.WrittenBy(map[string]any{"amount": 5.0, "reason": "late"}) != tt.words {
			t.Errorf("%s: proposed by %q, %q; want %q, %q", name, b.ProposedBy, b.WrittenBy(map[string]any{"reason": "late"}), tt.by, tt.words)
		}
		var seen []string
		for _, o := range b.Observed {
			for _, v := range o.Result {
				seen = append(seen, o.Tool+" "+v.Name+"="+v.Text())
			}
		}
		want := `look /customer/name="Anna"; look /customer/plan="annual"; look /last_charge_usd=1200; look /odd~1name/0=1; look /odd~1name/1={}`
		if got := strings.Join(seen, "; "); got != want {
			t.Errorf("%s: observed %s, want %s", name, got, want)
		}
	}
	if b := Read(nil).Behind("approve#1"); b.ProposedBy != "" || b.WrittenBy(nil) != "" || len(b.Observed) > 0 {
		t.Errorf("of nothing: %+v", b)
	}
}

// What a rule changed in one step of a plan does not count for a later step, nor for another tool.
func TestBehindIsOfOneCall(t *testing.T) {
	const (
		plan    = `1 start - {"run_id":"run_00000000000000a1","pattern":"p","pattern_kind":"planning"}` + "\n" + `2 intent plan#1 {"effect_kind":"model","name":"plan","input":{}}` + "\n" + `3 outcome plan#1 {"state":"ok","output":"{}","usage":{"llm_calls":1,"input_tokens":9,"output_tokens":9}}`
		revised = `4 judged pay#j {"phase":"planning","decision":"revise","rule":"cap","proposal":{"kind":"tool","name":"pay","args":{"reason":"no"}}}`
		asks    = `8 intent approve#2 {"effect_kind":"human","name":"approve","input":{"rule":"big","action":{"kind":"tool","name":"pay"}},"object":{"args":{"reason":"late"},"expires":"2026-11-22T09:30:00Z"}}`
	)
	for name, tt := range map[string]struct {
		between string
		by      string
	}{
		"the same call":       {"", "[cap] [reason]"},
		"another branch":      {`5 intent t#1/look#1 {"effect_kind":"tool","name":"look","effect":"read","input":{}}`, "[cap] [reason]"},
		"a call between":      {`5 intent pay#1 {"effect_kind":"tool","name":"pay","effect":"write","input":{"reason":"late"}}`, "[] []"},
		"a question between":  {`5 intent approve#1 {"effect_kind":"human","name":"approve","input":{"action":{"name":"pay"}}}`, "[] []"},
		"its own after":       {`5 intent look#1 {"effect_kind":"tool","name":"look","effect":"read","input":{}}` + "\n" + strings.Replace(revised, "cap", "late", 1), "[late] [reason]"},
		"of another tool too": {strings.Replace(strings.Replace(revised, `"pay"`, `"mail"`, 1), "cap", "late", 1), "[cap] [reason]"},
	} {
		lines := append(strings.Split(plan, "\n"), revised)
		if tt.between != "" {
			lines = append(lines, strings.Split(tt.between, "\n")...)
		}
		b := Read(events(append(lines, asks)...)).Behind("approve#2")
		if got := fmt.Sprint(b.RevisedBy, b.Revised); got != tt.by {
			t.Errorf("%s: changed by %s, want %s", name, got, tt.by)
		}
	}
	other := strings.Replace(revised, `"pay"`, `"mail"`, 1)
	if b := Read(events(append(strings.Split(plan, "\n"), other, asks)...)).Behind("approve#2"); b.ProposedBy != "model" || len(b.RevisedBy)+len(b.Revised) > 0 {
		t.Errorf("another tool: %+v", b)
	}
}

// Long results and many of them are cut, and how many are left is said.
func TestBehindIsBounded(t *testing.T) {
	list := "[" + strings.Repeat("1,", 99) + "1]"
	lines := []string{`1 start - {"run_id":"run_00000000000000a1","pattern":"p","pattern_kind":"supervisor"}`}
	for range maxObserved + 2 {
		n := len(lines)
		key := "look#" + string(rune('a'+n))
		lines = append(lines, `2 intent `+key+` {"effect_kind":"tool","name":"look","effect":"read","input":{}}`, `3 outcome `+key+` {"state":"ok","output":`+list+`}`)
	}
	lines = append(lines, `4 intent approve#1 {"effect_kind":"human","name":"approve","input":{}}`)
	b := Read(events(lines...)).Behind("approve#1")
	if len(b.Observed) != maxObserved || b.Left != 2 || len(b.Observed[0].Result) != maxResult || b.Observed[0].Left != 100-maxResult {
		t.Errorf("%d calls and %d more, %d values and %d more", len(b.Observed), b.Left, len(b.Observed[0].Result), b.Observed[0].Left)
	}
}
