package gateway_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/gateway/document"
)

var workers = []string{"sales_worker", "payments_worker", "inventory_worker"}

// taskRules fill two arguments of the sales worker and none of the others.
var taskRules = gateway.TaskRules{Max: 4, Allowed: workers, Fill: func(worker string) map[string]any {
	if worker != "sales_worker" {
		return nil
	}
	return map[string]any{"report_date": "2026-02-26", "region": "US"}
}}

func tasksOf(tasks ...string) string {
	return `{"kind":"plan","tasks":[` + strings.Join(tasks, ",") + `]}`
}

const goodTask = `{"id":"t1","worker":"sales_worker","args":{},"critical":true}`

func TestParseTasksRefuses(t *testing.T) {
	tests := map[string]struct {
		reply string
		want  []string
	}{
		"prose":            {"Here is the plan", []string{"invalid_plan:non_json", " non_json"}},
		"null":             {"null", []string{"invalid_plan:non_json", " non_json"}},
		"list":             {"[" + tasksOf(goodTask) + "]", []string{"invalid_plan:non_json", " non_json"}},
		"empty object":     {"{}", []string{"invalid_plan:kind", `/kind kind /kind="plan"`, "/tasks tasks"}},
		"kind invalid":     {`{"kind":"invalid","raw":"x"}`, []string{"invalid_plan:kind", "/kind kind", "/tasks tasks"}},
		"kind capitals":    {`{"kind":"Plan","tasks":[` + goodTask + `]}`, []string{"invalid_plan:kind", `/kind kind ?plan /kind="plan"`}},
		"tasks missing":    {`{"kind":"plan"}`, []string{"invalid_plan:tasks", "/tasks tasks"}},
		"tasks null":       {`{"kind":"plan","tasks":null}`, []string{"invalid_plan:tasks", "/tasks tasks"}},
		"tasks an object":  {`{"kind":"plan","tasks":{"a":1}}`, []string{"invalid_plan:tasks", "/tasks tasks"}},
		"no task":          {tasksOf(), []string{"invalid_plan:max_tasks", "/tasks max_tasks"}},
		"too many":         {tasksOf("1", "2", "3", "4", "5"), []string{"invalid_plan:max_tasks", "/tasks max_tasks"}},
		"kind, then count": {`{"kind":"p","tasks":[]}`, []string{"invalid_plan:kind", "/kind kind", "/tasks max_tasks"}},
		"other types":      {tasksOf("null", `"sales_worker"`), []string{"invalid_plan:task_shape", "/tasks/0 task_shape", "/tasks/1 task_shape"}},
		"nothing there": {tasksOf("{}"), []string{"invalid_plan:missing_keys",
			"/tasks/0/id missing_keys", "/tasks/0/worker missing_keys", "/tasks/0/args missing_keys", "/tasks/0/critical missing_keys"}},
		"missing key before the others' faults": {tasksOf(`{"id":"","worker":"x","critical":2}`), []string{"invalid_plan:missing_keys",
			"/tasks/0/args missing_keys", "/tasks/0/id task_id", "/tasks/0/worker worker_not_allowed:x", "/tasks/0/critical critical"}},
		"every member wrong": {tasksOf(`{"id":"","worker":"x","args":1,"critical":2}`), []string{"invalid_plan:task_id",
			"/tasks/0/id task_id", "/tasks/0/worker worker_not_allowed:x", "/tasks/0/args args", "/tasks/0/critical critical"}},
		"id a number":         {tasksOf(`{"id":1,"worker":"sales_worker","args":{},"critical":true}`), []string{"invalid_plan:task_id", `/tasks/0/id task_id /tasks/0/id="1"`}},
		"worker null":         {tasksOf(`{"id":"a","worker":null,"args":{},"critical":true}`), []string{"invalid_plan:worker", "/tasks/0/worker worker"}},
		"worker blank":        {tasksOf(`{"id":"a","worker":"\u001d","args":{},"critical":true}`), []string{"invalid_plan:worker", "/tasks/0/worker worker"}},
		"worker misspelt":     {tasksOf(`{"id":"a","worker":" sale_worker","args":{},"critical":true}`), []string{"invalid_plan:worker_not_allowed:sale_worker", `/tasks/0/worker worker_not_allowed:sale_worker ?sales_worker /tasks/0/worker="sales_worker"`}},
		"args null":           {tasksOf(`{"id":"a","worker":"sales_worker","args":null,"critical":true}`), []string{"invalid_plan:args", "/tasks/0/args args"}},
		"critical a text":     {tasksOf(`{"id":"a","worker":"sales_worker","args":{},"critical":"true"}`), []string{"invalid_plan:critical", "/tasks/0/critical critical /tasks/0/critical=true"}},
		"critical no":         {tasksOf(`{"id":"a","worker":"sales_worker","args":{},"critical":"no"}`), []string{"invalid_plan:critical", "/tasks/0/critical critical"}},
		"critical null":       {tasksOf(`{"id":"a","worker":"sales_worker","args":{},"critical":null}`), []string{"invalid_plan:critical", "/tasks/0/critical critical"}},
		"critical a number":   {tasksOf(`{"id":"a","worker":"sales_worker","args":{},"critical":1}`), []string{"invalid_plan:critical", "/tasks/0/critical critical"}},
		"equal after strip":   {tasksOf(goodTask, `{"id":"\u2028t1 ","worker":"sales_worker","args":{},"critical":true}`), []string{"invalid_plan:duplicate_task_id", `/tasks/1/id duplicate_task_id /tasks/1/id="t1_2"`}},
		"duplicate, worker":   {tasksOf(goodTask, `{"id":"t1","worker":"","args":{},"critical":true}`), []string{"invalid_plan:duplicate_task_id", `/tasks/1/id duplicate_task_id /tasks/1/id="t1_2"`, "/tasks/1/worker worker"}},
		"the first task's":    {tasksOf(`{"id":"a","worker":"sales_worker","args":{},"critical":0}`, "{}"), []string{"invalid_plan:critical", "/tasks/0/critical critical", "/tasks/1/id missing_keys", "/tasks/1/worker missing_keys", "/tasks/1/args missing_keys", "/tasks/1/critical missing_keys"}},
		"a model fills not":   {tasksOf(`{"id":"a","worker":"sales_worker","args":{}}`), []string{"invalid_plan:missing_keys", "/tasks/0/critical missing_keys"}},
		"a model has no kind": {`{"tasks":[` + goodTask + `]}`, []string{"invalid_plan:kind", `/kind kind /kind="plan"`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			plan, refusal := gateway.ParseTasks(document.ReadReply(tt.reply), taskRules)
			if diff := cmp.Diff(tt.want, verdict(refusal)); diff != "" {
				t.Errorf("ParseTasks(%s), -want +got:\n%s", tt.reply, diff)
			}
			if plan.Tasks != nil || plan.Filled != nil {
				t.Errorf("ParseTasks(%s) refused and gave %v", tt.reply, plan)
			}
		})
	}
}

func TestParseTasksAccepts(t *testing.T) {
	reply := `{"kind":"plan","why":"unknown members are ignored","tasks":[
		{"id":" t1\u00a0","worker":"\tsales_worker","args":{"region":" us "},"critical":false,"note":[]},
		{"id":"t2","worker":"sales_worker","args":{},"critical":true}]}`
	want := []gateway.Task{
		{ID: "t1", Worker: "sales_worker", Args: map[string]any{"region": " us "}},
		{ID: "t2", Worker: "sales_worker", Args: map[string]any{}, Critical: true},
	}
	plan, refusal := gateway.ParseTasks(document.ReadReply(reply), taskRules)
	if refusal != nil {
		t.Fatalf("ParseTasks: %v %v", refusal, lines(refusal.Problems))
	}
	if diff := cmp.Diff(want, plan.Tasks); diff != "" {
		t.Errorf("ParseTasks, -want +got:\n%s", diff)
	}
	if plan.Filled != nil {
		t.Errorf("ParseTasks of a model's reply filled %v", plan.Filled)
	}
}

func TestParseTasksOfACaller(t *testing.T) {
	tests := map[string]struct {
		value  string
		want   []string
		tasks  string // of an accepted plan
		filled string
	}{
		"all that may be left out": {`{"tasks":[{"id":"a","worker":" sales_worker "}]}`, nil,
			`[{"id":"a","worker":"sales_worker","args":{"region":"US","report_date":"2026-02-26"},"critical":false}]`,
			`[{"pointer":"/it/kind","value":"plan"},{"pointer":"/it/tasks/0/critical","value":false},` +
				`{"pointer":"/it/tasks/0/args/region","value":"US"},{"pointer":"/it/tasks/0/args/report_date","value":"2026-02-26"}]`},
		"one argument given, and wrong": {tasksOf(`{"id":"a","worker":"sales_worker","critical":true,"args":{"region":null}}`), nil,
			`[{"id":"a","worker":"sales_worker","args":{"region":null,"report_date":"2026-02-26"},"critical":true}]`,
			`[{"pointer":"/it/tasks/0/args/report_date","value":"2026-02-26"}]`},
		"worker without such arguments": {tasksOf(`{"id":"a","worker":"payments_worker","critical":true}`), nil,
			`[{"id":"a","worker":"payments_worker","args":{},"critical":true}]`, `[{"pointer":"/it/tasks/0/args","value":{}}]`},
		"all given": {tasksOf(`{"id":"a","worker":"payments_worker","critical":true,"args":{}}`), nil,
			`[{"id":"a","worker":"payments_worker","args":{},"critical":true}]`, "null"},
		"args null":       {tasksOf(`{"id":"a","worker":"sales_worker","args":null}`), []string{"invalid_plan:args", "/it/tasks/0/args args"}, "null", "null"},
		"critical null":   {tasksOf(`{"id":"a","worker":"sales_worker","critical":null}`), []string{"invalid_plan:critical", "/it/tasks/0/critical critical"}, "null", "null"},
		"id left out":     {tasksOf(`{"worker":"sales_worker"}`), []string{"invalid_plan:missing_keys", "/it/tasks/0/id missing_keys"}, "null", "null"},
		"worker misspelt": {tasksOf(`{"id":"a","worker":"sales_workr"}`), []string{"invalid_plan:worker_not_allowed:sales_workr", `/it/tasks/0/worker worker_not_allowed:sales_workr ?sales_worker /it/tasks/0/worker="sales_worker"`}, "null", "null"},
		"a list":          {"[]", []string{"invalid_plan:non_json", "/it non_json"}, "null", "null"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			intent := byCaller(t, tt.value)
			plan, refusal := gateway.ParseTasks(intent, taskRules)
			if diff := cmp.Diff(tt.want, verdict(refusal)); diff != "" {
				t.Errorf("ParseTasks(%s), -want +got:\n%s", tt.value, diff)
			}
			if got := compact(plan.Tasks); got != tt.tasks {
				t.Errorf("ParseTasks(%s) = %s, want %s", tt.value, got, tt.tasks)
			}
			if got := compact(plan.Filled); got != tt.filled {
				t.Errorf("ParseTasks(%s) filled %s, want %s", tt.value, got, tt.filled)
			}
			if diff := cmp.Diff(decoded(t, tt.value), intent.Value()); diff != "" {
				t.Errorf("ParseTasks changed the caller's value, -want +got:\n%s", diff)
			}
		})
	}
}

func TestZeroTaskRulesAllowNothing(t *testing.T) {
	for _, reply := range []string{tasksOf(goodTask), tasksOf(), "{}", "x"} {
		if plan, refusal := gateway.ParseTasks(document.ReadReply(reply), gateway.TaskRules{}); refusal == nil {
			t.Errorf("ParseTasks(%s) under no rules accepted %v", reply, plan)
		}
	}
	plan, refusal := gateway.ParseTasks(byCaller(t, `{"tasks":[{"id":"a","worker":"w"}]}`), gateway.TaskRules{Max: 1, Allowed: []string{"w"}})
	if refusal != nil || compact(plan.Tasks) != `[{"id":"a","worker":"w","args":{},"critical":false}]` {
		t.Errorf("ParseTasks without a Fill = %s, %v", compact(plan.Tasks), refusal)
	}
}
