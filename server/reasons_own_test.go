package server_test

import (
	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
)

// answering makes a pattern's final answer an object {state, text}.
func answering(s *patterns.Spec) {
	s.Answer = schemaOf(`{"type":"object","properties":{"state":{"type":"string","enum":["open","sent"]},"text":{"type":"string"}},"required":["state","text"],"additionalProperties":false}`)
}

// ownReasons are what answers that must fit a schema end in, and limits of repetition, which every kind may be given.
func ownReasons() []row {
	intent := map[gateway.Kind]llmtest.Reply{td: say(steps(sales...)), or: say(tasks("sales_worker")), rt: say(route("billing_specialist"))}
	var rows []row
	for kind, reply := range intent {
		rows = append(rows,
			row{kind: kind, want: "success", replies: []llmtest.Reply{reply, say(object{"state": "open", "text": "x"})}, change: answering},
			row{kind: kind, want: "invalid_answer:non_json", phase: "finalize", replies: []llmtest.Reply{reply, llmtest.Content("It is open.")}, change: answering},
			row{kind: kind, want: "invalid_answer:bad_schema", phase: "finalize", replies: []llmtest.Reply{reply, say(object{"state": "lost", "text": "x"})}, change: answering})
	}
	final := func(answer any) llmtest.Reply { return say(object{"kind": "final", "answer": answer}) }
	rows = append(rows,
		row{kind: sv, want: "success", replies: []llmtest.Reply{say(lookUp), final(object{"state": "open", "text": "x"})}, change: answering},
		row{kind: sv, want: "invalid_answer:non_json", phase: "worker", replies: []llmtest.Reply{say(lookUp), final("It is open.")}, change: answering},
		row{kind: sv, want: "invalid_answer:bad_schema", phase: "worker", replies: []llmtest.Reply{say(lookUp), final(object{"state": 1})}, change: answering})

	phase := map[gateway.Kind]string{td: "execute", rt: "delegate", cl: "call"}
	perTool := func(s *patterns.Spec) { s.Budget.MaxCallsPerTool = 0 }
	same := func(s *patterns.Spec) { s.Budget.MaxSameCall = 0 }
	for kind, reply := range intent {
		r := row{kind: kind, phase: phase[kind], replies: []llmtest.Reply{reply}}
		if kind == or {
			r.want, r.phase, r.replies = "critical_task_failed", "dispatch", []llmtest.Reply{task(object{"worker": "sales_worker", "critical": true})}
		}
		for reason, change := range map[string]func(*patterns.Spec){"loop_detected:per_tool_limit": perTool, "loop_detected:signature_repeat": same} {
			if kind == td && reason == "loop_detected:signature_repeat" { // there it has no more words
				continue
			}
			if r.change = change; kind == or {
				r.task = reason
			} else {
				r.want = reason
			}
			rows = append(rows, r)
		}
	}
	for reason, change := range map[string]func(*patterns.Spec){"loop_detected:per_tool_limit": perTool, "loop_detected:signature_repeat": same} {
		rows = append(rows, row{kind: cl, want: reason, phase: "call", rules: true, arguments: object{"user_id": 42}, change: change})
	}
	return append(rows, row{kind: or, want: "critical_task_failed", phase: "dispatch", replies: []llmtest.Reply{say(tasks("sales_worker"))},
		change: func(s *patterns.Spec) { s.Critical = []string{"inventory_worker"} }})
}

// viewOf is a catalog in which a pattern's names stand for tools.
func viewOf(base *catalog.Catalog, tools ...catalog.Tool) *catalog.Catalog {
	view, err := base.With(tools...)
	if err != nil {
		panic(err)
	}
	return view
}
