package local_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// weighing is a model that says how long its question is.
type weighing struct{}

func (weighing) Name() string { return "weighing" }

func (weighing) Ask(_ context.Context, q patterns.Question) (patterns.Answer, error) {
	return patterns.Answer{Text: fmt.Sprint(len(q.JSON)), Usage: patterns.Usage{Requests: 1}}, nil
}

// References to a long result make what is asked of the caller and of the model only so long.
func TestReferencesDoNotMultiply(t *testing.T) {
	args := object{"all": make([]any, 15)}
	for i := range args["all"].([]any) {
		args["all"].([]any)[i] = "$results.long"
	}
	subtasks := []string{subtaskText("long", "caller", nil), subtaskText("asked", "model", args, "long")}
	for i := range 30 {
		subtasks = append(subtasks, subtaskText(fmt.Sprint("work_", i), "caller", args, "long"))
	}
	e := &local.Engine{}
	defer e.Close()
	task := executing("", nil)
	task.Caller = decomposing(t, planText(subtasks...)).Caller
	id := start(t, e, patterns.Job{Spec: planSpec(t, patterns.ExecuteVerb), Task: task, Model: weighing{}, Caller: patterns.Caller{Principal: mine}}).RunID
	long := strings.Repeat("x", 60_000)
	ended, err := e.Continue(t.Context(), patterns.Continuation{Principal: mine, RunID: id, Given: object{
		"results": object{"long": object{"status": "completed", "result": long}},
	}})
	if err != nil || ended.Waiting == nil || len(ended.Waiting.Ready) != 30 {
		t.Fatalf("Continue = %+v, %v; want 30 subtasks that wait", ended, err)
	}
	bytes, whole := 0, 0
	for _, work := range ended.Waiting.Ready {
		if bytes += len(ijson.Canonical(work.Args)); work.Args["truncated"] == nil {
			whole++
		}
	}
	if bytes > 2<<20 || whole != 1 {
		t.Errorf("the caller's arguments have %d bytes, %d are whole; want at most 2 MiB and the first whole", bytes, whole)
	}
	var asked int
	if _, err := fmt.Sscan(fmt.Sprint(ended.Waiting.SoFar.Planned.Results["asked"]), &asked); err != nil || asked > 64<<10 {
		t.Errorf("the model is asked %d bytes, %v; want at most 64 KiB", asked, err)
	}
}
