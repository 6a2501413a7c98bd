package recordtest

import (
	"testing"

	"patterngate/patterns"
)

// plan returns a run that carries out a stored plan: two subtasks side by side, of which one is tried again, then the caller's, then
// a final text.
func plan(t testing.TB) []patterns.Event {
	r := Recorder{T: t, ID: "run_00000000000000b7"}
	step := func(name, more string) string {
		return `{"effect_kind":"plan","name":"` + name + `","input":{"plan_id":"plan_9f2c31d07ab4e856","pattern":"plan"` + more + `}}`
	}
	r.Start("plan_execute", "planning", `{"plan_id":"plan_9f2c31d07ab4e856","parallel":true,"on_subtask_failure":"retry"}`, `{"max_tool_calls":200,"max_seconds":600}`)
	r.intent(0.001, "load#1", step("load", `,"claim":true,"over":false`))
	r.outcome(0.002, "load#1", `{"state":"ok","output":{"version":1,"plan":{"goal":"April note"}}}`)
	r.Call(0.003, 0, "kpis#1/calculate_monthly_kpis#1", "read", `{"month":"2026-04"}`, allowlisted, "")
	r.intent(0.003, "outlook#1/work#1", `{"effect_kind":"model","name":"work","input":{"goal":"April note"}}`)
	r.outcome(0.504, "kpis#1/calculate_monthly_kpis#1", `{"state":"unknown","reason":"timeout"}`)
	r.intent(0.505, "retry#1/sleep#1", `{"effect_kind":"timer","name":"sleep","input":null}`)
	r.outcome(1.105, "outlook#1/work#1", `{"state":"ok","output":"Rising.","usage":{"llm_calls":1,"input_tokens":120,"output_tokens":8}}`)
	r.outcome(1.507, "retry#1/sleep#1", `{"state":"ok"}`)
	r.Call(1.508, 1.6, "kpis#2/calculate_monthly_kpis#1", "read", `{"month":"2026-04"}`, allowlisted, `{"state":"ok","output":{"net_sales_usd":26825}}`)
	r.intent(1.601, "turn#1", `{"effect_kind":"caller","name":"turn","input":{"argument":"results","turn":1,"refused":0}}`)
	r.outcome(61.6, "turn#1", `{"state":"ok","output":{"results":{"note":{"status":"completed","result":"x"}}}}`)
	r.intent(61.601, "answer#1", `{"effect_kind":"model","name":"answer","input":{}}`)
	r.outcome(62.2, "answer#1", `{"state":"ok","output":"Net sales rose.","usage":{"llm_calls":1,"input_tokens":90,"output_tokens":20}}`)
	r.intent(62.201, "commit#1", step("commit", `,"revision":1,"version":1,"keep":false,"sha256":"00"`))
	r.outcome(62.202, "commit#1", `{"state":"ok"}`)
	r.Add(62.203, patterns.EndEvent, "", `{"status":"ok","stop_reason":"success","usage":{"llm_calls":2,"input_tokens":210,"output_tokens":28},
		"envelope":{"usage":{"model":"gpt-4.1-mini"},"budget":{"max_tool_calls":{"limit":200,"used":2},"max_seconds":{"limit":600,"used":2.2}}}}`)
	return r.Events
}
