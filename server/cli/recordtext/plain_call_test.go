package recordtext

import (
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/patterns/record/recordtest"
)

// The caller proposes a plain call, and nothing is asked. A process that takes a run over needs no channel.
func TestPlainCallShown(t *testing.T) {
	r := recordtest.Recorder{T: t, ID: "run_00000000000000a8"}
	r.Start("lend", "call", `{"book":"b-1"}`, `{}`)
	r.Call(0.1, 0.2, "lend#1", "write", `{"book":"b-1"}`, `{"decision":"approve","rule":"fine"}`, `{"state":"ok","output":{}}`)
	r.Add(0.3, patterns.NoteEvent, "", `{"what":"takeover","channel":"engine"}`)
	r.Add(0.4, patterns.EndEvent, "", `{"status":"ok","stop_reason":"success","usage":{"llm_calls":0,"input_tokens":0,"output_tokens":0},"envelope":{"usage":{"model":"rules"}}}`)
	story := record.Read(r.Events)
	timeline, receipt := Timeline(story, 120), Receipt(story.Receipt(), 120)
	for _, want := range []string{"taken over from a process that ended\n", "Model    none asked\n"} {
		if !strings.Contains(timeline, want) {
			t.Errorf("no %q in\n%s", want, timeline)
		}
	}
	if !strings.Contains(receipt, "Proposed by  the caller\n") {
		t.Errorf("the receipt names another author:\n%s", receipt)
	}
	if plan := Timeline(record.Read(recordtest.All(t)["report"]), 120); !strings.Contains(plan, "Model    rules, 2 requests") {
		t.Errorf("the rules that proposed a plan are not named:\n%s", plan)
	}
}
