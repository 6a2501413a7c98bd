package local_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// The inputs of a declared pattern are kept out of its record where the configuration says so, wherever they went: into questions,
// arguments, the owner's words, answers and the stored plan's loads. Who carries the run on has them all the same.
func TestRedactedInputs(t *testing.T) {
	t.Parallel()
	const iban = "DE89370400440532013000"
	input, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"iban":{"type":"string"},"lines":{"type":"integer"}},"required":["iban"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"to":{"type":"string"}},"required":["to"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	s := spec(t, gateway.TaskDecomposition, 0.01)
	s.Unmarked, s.OverrunsTokens, s.Input, s.Answer, s.Budget.MinPlanSteps = false, false, input, answer, 1
	s.Instructions = func(in patterns.Inputs) (string, error) { return "Pay to " + in["iban"].(string), nil }
	replies := []string{
		`{"kind":"plan","steps":[{"id":"a","title":"Look for ` + iban + `","tool":"get_manager_profile","args":{"manager_id":42}}]}`,
		`{"to":"` + iban + `"}`,
	}
	path, redacted := newState(t), []string{"/input/iban"}
	job := patterns.Job{
		Spec: s, Task: patterns.Task{Goal: "Pay " + iban, Inputs: patterns.Inputs{"iban": iban, "lines": 3.0}, Finalize: true},
		Arguments: map[string]any{"goal": "Pay " + iban, "iban": iban, "lines": 3.0}, Model: &steady{replies: replies}, Caller: patterns.Caller{Principal: "local:1"}, Redact: redacted,
		Present: func(ended patterns.Ended, _ error) patterns.Presented {
			return patterns.Presented{Envelope: []byte(asJSON(t, ended.Result)), Summary: "Paid to " + iban}
		},
	}
	e := redacting(t, path, jobs{s.Name: job}, redacted)
	ended, err := e.Start(t.Context(), job)
	if err != nil || ended.Result.StopReason != patterns.Success {
		t.Fatalf("%s %+v, %v", ended.Result.StopReason, ended.Result.Problems, err)
	}
	if got, _ := ended.Result.AnswerValue.(map[string]any); got["to"] != iban { // who asked is told
		t.Errorf("answer %v", ended.Result.AnswerValue)
	}
	events, err := e.Events("local:1", ended.RunID)
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	for _, event := range events {
		marked += bytes.Count(event.Body, []byte(patterns.Redacted))
	}
	if len(events) == 0 || marked < 5 {
		t.Errorf("%d values were hidden in %d events", marked, len(events))
	}
	e.Close()
	noneIn(t, path, []string{iban})
	notInFiles(t, filepath.Dir(path), iban)
}
