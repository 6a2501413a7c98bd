package record

import (
	"fmt"
	"strings"
	"testing"

	"patterngate/patterns"
)

const aPlan = "plan_9f2c31d07ab4e856"

// planned is the record of a run that takes a plan, works side by side, tries one subtask again and gives the plan back.
func planned() []patterns.Event {
	step := func(name, more string) string {
		return `{"effect_kind":"plan","name":"` + name + `","input":{"plan_id":"` + aPlan + `","pattern":"plan"` + more + `}}`
	}
	return events(
		`0 start - {"run_id":"run_00000000000000a1","pattern":"plan_execute","pattern_kind":"planning","arguments":{"plan_id":"`+aPlan+`"}}`,
		`1 intent load#1 `+step("load", `,"claim":true`),
		`2 outcome load#1 {"state":"ok","output":{"version":1}}`,
		`3 intent kpis#1/calculate_monthly_kpis#1 {"effect_kind":"tool","name":"calculate_monthly_kpis","effect":"read","input":{"month":"2026-04"}}`,
		`4 intent text#1/work#1 {"effect_kind":"model","name":"work","input":{}}`,
		`5 outcome kpis#1/calculate_monthly_kpis#1 {"state":"failed","reason":"timeout"}`,
		`6 intent retry#1/sleep#1 {"effect_kind":"timer","name":"sleep","input":null}`,
		`7 outcome retry#1/sleep#1 {"state":"ok"}`,
		`8 intent kpis#2/calculate_monthly_kpis#1 {"effect_kind":"tool","name":"calculate_monthly_kpis","effect":"read","input":{"month":"2026-04"}}`,
		`9 outcome kpis#2/calculate_monthly_kpis#1 {"state":"ok","output":{}}`,
		`10 outcome text#1/work#1 {"state":"ok","output":"x"}`,
		`11 intent replan#1 {"effect_kind":"model","name":"replan","input":{}}`,
		`12 outcome replan#1 {"state":"ok","output":"{}","usage":{"llm_calls":1,"input_tokens":9,"output_tokens":9}}`,
		`13 intent commit#1 `+step("commit", `,"revision":2,"keep":true`),
		`14 outcome commit#1 {"state":"ok"}`,
		`15 intent turn#1 {"effect_kind":"caller","name":"turn","input":{}}`,
		`16 outcome turn#1 {"state":"ok"}`,
		`17 intent answer#1 {"effect_kind":"model","name":"answer","input":{}}`,
		`18 outcome answer#1 {"state":"ok","output":"x"}`,
		`19 intent commit#2 `+step("commit", `,"revision":2,"keep":false`),
		`20 outcome commit#2 {"state":"ok"}`,
		`21 end - {"status":"ok","stop_reason":"success"}`,
	)
}

// Of a planning run it is told which subtask a branch is at, which attempt it is, in which phase, and what became of the plan.
func TestReadPlanning(t *testing.T) {
	s := Read(planned())
	var got []string
	for _, r := range s.Rows {
		got = append(got, strings.TrimRight(fmt.Sprintf("%s %s %s %d %s", r.Key, r.Phase, r.Subtask(), r.Attempt, r.PlanWords()), " "))
	}
	want := []string{
		"load#1   0 claimed " + aPlan,
		"kpis#1/calculate_monthly_kpis#1 execute kpis 0",
		"text#1/work#1 execute text 0",
		"retry#1/sleep#1 execute  0",
		"kpis#2/calculate_monthly_kpis#1 execute kpis 2",
		"replan#1 replan  0",
		"commit#1   0 stored the progress of " + aPlan + ", revision 2",
		"turn#1 execute  0",
		"answer#1 finalize  0",
		"commit#2   0 stored the progress of " + aPlan + ", revision 2, and released it",
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Errorf("row %d: got %q, want %q", i, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), want[i])
		}
	}
	if s.PlanID() != aPlan {
		t.Errorf("the plan is %q, want %s", s.PlanID(), aPlan)
	}
	if found, ok := s.Step("kpis"); !ok || len(found.Rows) != 2 || len(found.Events) != 4 {
		t.Errorf("the step kpis: %v, %d rows of %d events; want its 2 attempts, 4 events", ok, len(found.Rows), len(found.Events))
	}
	if found, ok := s.Step("kpis#2"); !ok || len(found.Rows) != 1 {
		t.Errorf("the step kpis#2: %v, %+v; want the second attempt", ok, found.Rows)
	}
	if who := s.Receipt().ProposedBy; len(who) != 1 || who[0] != "model" { // who replanned; the work itself proposes nothing
		t.Errorf("proposed by %v, want [model]", who)
	}
}

func TestPlanID(t *testing.T) {
	const made = "plan_00000000000000b2"
	create := func(state string) []string {
		return []string{
			`1 intent create#1 {"effect_kind":"plan","name":"create","input":{"plan_id":"` + made + `","revision":1}}`, `2 outcome create#1 {"state":"` + state + `"}`,
		}
	}
	for name, test := range map[string]struct {
		kind, arguments string
		more            []string
		want            string
	}{
		"made":         {"planning", `{}`, create("ok"), made},
		"not made":     {"planning", `{}`, create("failed"), ""},
		"next round":   {"planning", `{"parent_plan_id":"` + aPlan + `"}`, create("failed"), aPlan},
		"by arguments": {"planning", `{"plan_id":"` + aPlan + `"}`, nil, aPlan},
		"no plan":      {"planning", `{"plan_id":"plan_x\"><b>"}`, nil, ""},
		"a number":     {"planning", `{"plan_id":7}`, nil, ""},
		"another kind": {"routing", `{"plan_id":"` + aPlan + `"}`, create("ok"), ""},
		"no id":        {"planning", `{}`, []string{`1 intent create#1 {"effect_kind":"plan","name":"create","input":{"plan_id":"../x"}}`, `2 outcome create#1 {"state":"ok"}`}, ""},
	} {
		lines := append([]string{`0 start - {"run_id":"run_00000000000000a1","pattern_kind":"` + test.kind + `","arguments":` + test.arguments + `}`}, test.more...)
		if got := Read(events(lines...)).PlanID(); got != test.want {
			t.Errorf("%s: PlanID = %q, want %q", name, got, test.want)
		}
	}
}

func TestPlanWords(t *testing.T) {
	for name, test := range map[string]struct{ op, input, want string }{
		"read":      {"load", `{"plan_id":"` + aPlan + `","claim":false}`, "read " + aPlan},
		"made":      {"create", `{"plan_id":"` + aPlan + `","revision":1}`, "stored " + aPlan + ", revision 1"},
		"released":  {"release", `{"plan_id":"` + aPlan + `"}`, "released " + aPlan + " unchanged"},
		"no id":     {"release", `{"plan_id":"plan_\u001b[2J"}`, "released a plan unchanged"},
		"no object": {"load", `[]`, "read a plan"},
		"unknown":   {"burn", `{}`, ""},
	} {
		s := Read(events(`0 start - {"pattern_kind":"planning"}`, `1 intent x#1 {"effect_kind":"plan","name":"`+test.op+`","input":`+test.input+`}`))
		if got := s.Rows[0].PlanWords(); got != test.want {
			t.Errorf("%s: PlanWords = %q, want %q", name, got, test.want)
		}
	}
}
