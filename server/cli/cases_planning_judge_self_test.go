package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"patterngate/ijson"
	"patterngate/patterns/llm/llmtest"
)

// What the worked sessions expect passes the judge that they are judged by: it holds together, and equal ids are equal.
func TestPlanJudgeOfTheCases(t *testing.T) {
	for _, w := range readSessions(t) {
		j := newPlanJudge()
		for i, c := range w.Calls {
			want, err := object(c.Expect)
			if err != nil {
				t.Fatal(err)
			}
			j.answer(ijson.Pointer("/calls").Index(i), want, want)
		}
		for _, fault := range j.faults {
			t.Errorf("%s: the judge refuses what the case itself expects: %s", w.name, fault)
		}
	}
}

// planJudged is a result in the middle of a plan; in it everything holds together.
const planJudged = `{"status":"stopped","stop_reason":"subtask_failed:b","phase":"execute","run_id":"run_1","plan_id":"plan_1","revision":1,"progress":0.25,"summary":"s",
	"plan_status":{"total":4,"pending":1,"in_progress":0,"completed":1,"failed":1,"skipped":0,"blocked":1,"in_doubt":0,"removed":0},
	"ready":["d"],"running":[],"waiting":[],"failed":["b"],"skipped":[],"blocked":["c"],"in_doubt":[],
	"plan":{"id":"plan_1","subtasks":[
		{"id":"a","dependencies":[],"tool":"t","args":{"x":1,"n":null},"status":"completed","source":"tool"},
		{"id":"b","dependencies":["a"],"tool":"t","status":"failed","stop_reason":null},
		{"id":"c","dependencies":["b"],"tool":"t","status":"blocked","blocked_by":["b"],"reason":"dependency_failed"},
		{"id":"d","dependencies":["a"],"tool":"caller","status":"pending","expect":{"type":"object"}}],"removed":[],"metadata":{"created_at":"x","source":"caller"}},
	"levels":[["a"],["b","d"],["c"]],"subtask_results":{"a":{"v":1}},
	"history":[{"subtask_id":"a","result":{"v":1}}],
	"trace":[{"subtask_id":"b","attempt":2,"delay_seconds":1}],
	"budget":{"max_tool_calls":{"limit":200,"used":2}},"next":{"action":"call","arguments":{"plan_id":"plan_1"}},
	"problems":[{"pointer":"/plan/subtasks/1/args","reason":"bad_args:b"},{"pointer":"/results/b"}]}`

// The judge itself is judged: what it must let pass, and one wrong thing at a time that it must not.
func TestPlanJudge(t *testing.T) {
	tests := map[string]struct {
		at    ijson.Pointer // where the answer is changed
		to    string        // the JSON value put there; "" removes the member
		fault ijson.Pointer // where the judge must complain; "none" nowhere
	}{
		"as expected":                   {"/more", `1`, "none"},
		"another summary":               {"/summary", `"other"`, "none"},
		"another time":                  {"/plan/metadata/created_at", `"y"`, "none"},
		"more metadata":                 {"/plan/metadata/more", `1`, "none"},
		"more of a row":                 {"/plan/subtasks/0/more", `1`, "none"},
		"an expected null is missing":   {"/plan/subtasks/1/stop_reason", ``, "none"},
		"more advice":                   {"/next/arguments/more", `1`, "none"},
		"another limit":                 {"/budget/max_replans", `{"limit":2,"used":0}`, "none"},
		"more problems":                 {"/problems/-", `{"pointer":"","reason":"more"}`, "none"},
		"a problem with more":           {"/problems/0/got", `1`, "none"},
		"a deeper argument":             {"/problems/0/pointer", `"/plan/subtasks/1/args/month"`, "none"},
		"a deeper result":               {"/problems/1/pointer", `"/results/b/result/n"`, "none"},
		"a longer pause":                {"/trace/0/delay_seconds", `1.1`, "none"},
		"another run":                   {"/run_id", `"run_9"`, "none"},
		"no run":                        {"/run_id", ``, "/run_id"},
		"a run without id":              {"/run_id", `""`, "/run_id"},
		"too long a pause":              {"/trace/0/delay_seconds", `1.11`, "/trace/0/delay_seconds"},
		"too short a pause":             {"/trace/0/delay_seconds", `0.99`, "/trace/0/delay_seconds"},
		"a problem of another subtask":  {"/problems/0/pointer", `"/plan/subtasks/10/args"`, "/problems/0"},
		"another reason":                {"/problems/0/reason", `"bad_args:c"`, "/problems/0"},
		"a problem higher up":           {"/problems/0/pointer", `"/plan/subtasks/1"`, "/problems/0"},
		"no problems":                   {"/problems", ``, "/problems"},
		"another plan":                  {"/plan_id", `"plan_2"`, "/plan_id"},
		"another advice":                {"/next/arguments/plan_id", `"plan_2"`, "/next/arguments/plan_id"},
		"no advice":                     {"/next", ``, "/next"},
		"another number":                {"/budget/max_tool_calls/used", `3`, "/budget/max_tool_calls/used"},
		"a member of args":              {"/plan/subtasks/0/args/y", `1`, "/plan/subtasks/0/args/y"},
		"no null in args":               {"/plan/subtasks/0/args/n", ``, "/plan/subtasks/0/args/n"},
		"a member of a result":          {"/history/0/result/more", `1`, "/history/0/result/more"},
		"a member of the results":       {"/subtask_results/a/more", `1`, "/subtask_results/a/more"},
		"a member of what is expected":  {"/plan/subtasks/3/expect/more", `1`, "/plan/subtasks/3/expect/more"},
		"a row more":                    {"/trace/-", `{}`, "/trace"},
		"no rows":                       {"/trace", `{}`, "/trace"},
		"another phase":                 {"/phase", `"plan"`, "/phase"},
		"no phase":                      {"/phase", ``, "/phase"},
		"a stop that is ok":             {"/stop_reason", `"success_partial"`, "/status"},
		"an ok that stopped":            {"/status", `"ok"`, "/status"},
		"ran before its dependency":     {"/plan/subtasks/0/status", `"pending"`, "/plan/subtasks/1"},
		"pending behind a failure":      {"/plan/subtasks/2/status", `"pending"`, "/plan/subtasks/2"},
		"failed after no dependency":    {"/plan/subtasks/2/status", `"failed"`, "/plan/subtasks/2"},
		"counts of other rows":          {"/plan/subtasks/3/status", `"in_doubt"`, "/plan_status/pending"},
		"another total":                 {"/plan_status/total", `5`, "/plan_status/total"},
		"another progress":              {"/progress", `0.3`, "/progress"},
		"running that does not run":     {"/running", `["d"]`, "/running"},
		"failed that did not fail":      {"/failed", `["b","d"]`, "/failed"},
		"ready that is blocked":         {"/ready", `["c"]`, "/ready"},
		"nothing ready":                 {"/ready", `[]`, "/ready"},
		"waiting and ready":             {"/waiting", `["d"]`, "/waiting"},
		"a subtask in no level":         {"/levels", `[["a"],["b"],["c"]]`, "/levels"},
		"a subtask in two levels":       {"/levels", `[["a"],["b","d"],["c","d"]]`, "/levels/2"},
		"a level before its dependency": {"/levels", `[["a","b"],["d"],["c"]]`, "/levels/0"},
		"results of what is not done":   {"/subtask_results/b", `1`, "/subtask_results"},
		"history of what is not done":   {"/history/-", `{"subtask_id":"d","result":1}`, "/history"},
		"two rows of one id":            {"/plan/subtasks/3/id", `"a"`, "/plan/subtasks"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := newPlanJudge()
			j.answer("", decode(t, planJudged).(map[string]any), changed(t, decode(t, planJudged), tt.at, tt.to).(map[string]any))
			if !complains(j.faults, tt.fault) {
				t.Errorf("%s = %s: got faults %q, want %s", tt.at, tt.to, j.faults, tt.fault)
			}
		})
	}
}

// A result must hold together even where the case expects just that.
func TestPlanJudgeHoldsTogether(t *testing.T) {
	tests := map[string]struct {
		rows, lists string
		fault       ijson.Pointer
	}{
		"history in another order": {`{"id":"a","status":"completed","dependencies":[]},{"id":"b","status":"completed","dependencies":[]}`, `"history":[{"subtask_id":"b"},{"subtask_id":"a"}]`, "/history"},
		"lists in another order":   {`{"id":"a","status":"failed","dependencies":[]},{"id":"b","status":"failed","dependencies":[]}`, `"failed":["b","a"]`, "/failed"},
		"a parent before its child": {
			`{"id":"a","status":"completed","dependencies":[]},{"id":"b","parent":"a","status":"pending","dependencies":[]}`, `"ready":["b"]`, "/plan/subtasks/0",
		},
		"a child before what its parent depends on": {
			`{"id":"a","status":"pending","dependencies":[]},{"id":"b","status":"pending","dependencies":["a"]},{"id":"c","parent":"b","status":"completed","dependencies":[]}`, `"ready":["a"]`, "/plan/subtasks/2",
		},
		"a tool that waits for the caller": {`{"id":"a","tool":"t","status":"pending","dependencies":[]}`, `"waiting":["a"]`, "/waiting"},
		"a child beside its parent's other child": {
			`{"id":"a","status":"pending","dependencies":[]},{"id":"b","parent":"a","status":"completed","dependencies":[]},{"id":"c","parent":"a","status":"pending","dependencies":["b"]}`, `"ready":["c"]`, "none",
		},
		"a tombstone's dependent": {`{"id":"a","status":"completed","dependencies":["gone"]}`, `"history":[{"subtask_id":"a"}]`, "none"},
	}
	for name, tt := range tests {
		rows := decode(t, "["+tt.rows+"]").([]any)
		counts, done := map[string]int{}, 0
		for _, row := range rows {
			counts[row.(map[string]any)["status"].(string)]++
		}
		done = counts["completed"]
		got := decode(t, fmt.Sprintf(`{"status":"ok","stop_reason":"success","progress":%v,"plan":{"subtasks":[%s]},%s,
			"plan_status":{"total":%d,"pending":%d,"in_progress":0,"completed":%d,"failed":%d,"skipped":0,"blocked":0,"in_doubt":0}}`,
			rounded(done, len(rows)), tt.rows, tt.lists, len(rows), counts["pending"], done, counts["failed"])).(map[string]any)
		j := newPlanJudge()
		j.answer("", got, got)
		if !complains(j.faults, tt.fault) {
			t.Errorf("%s: got faults %q, want %s", name, j.faults, tt.fault)
		}
	}
}

func rounded(part, whole int) string {
	return strings.TrimRight(fmt.Sprintf("%.4f", float64(part)/float64(whole)), "0") + "0"
}

// Run ids are equal exactly where they are expected to be, over a whole session.
func TestPlanJudgeOfRuns(t *testing.T) {
	tests := map[string]struct {
		want, got []string
		faults    int
	}{
		"the same twice":         {[]string{"run_1", "run_1"}, []string{"a", "a"}, 0},
		"two":                    {[]string{"run_1", "run_2", "run_1"}, []string{"a", "b", "a"}, 0},
		"two where one was":      {[]string{"run_1", "run_1"}, []string{"a", "b"}, 1},
		"one where two are":      {[]string{"run_1", "run_2"}, []string{"a", "a"}, 1},
		"a third that is second": {[]string{"run_1", "run_2", "run_1"}, []string{"a", "b", "b"}, 1},
	}
	for name, tt := range tests {
		j := newPlanJudge()
		for i := range tt.want {
			j.compare("", map[string]any{"last_run": map[string]any{"run_id": tt.want[i]}}, map[string]any{"last_run": map[string]any{"run_id": tt.got[i]}})
		}
		if len(j.faults) != tt.faults {
			t.Errorf("%s: got faults %q, want %d", name, j.faults, tt.faults)
		}
	}
}

func TestPlanJudgeOfRequests(t *testing.T) {
	const want = `{"goal":"g","used_ids":["a","b"],"reason":"r","available_tools":"<catalog>","subtask":{"id":"a","args":{"x":1}},"inputs":{"a":1},"completed":[{"id":"a","result":{"v":1}}]}`
	tests := map[string]struct {
		at    ijson.Pointer
		to    string
		fault ijson.Pointer
	}{
		"as expected":          {"/available_tools", `[{}]`, "none"},
		"more":                 {"/more", `1`, "none"},
		"ids in another order": {"/used_ids", `["b","a"]`, "none"},
		"another reason":       {"/reason", `"words"`, "none"},
		"no tools":             {"/available_tools", `[]`, "/requests/0/user/available_tools"},
		"other ids":            {"/used_ids", `["a"]`, "/requests/0/user/used_ids"},
		"no reason":            {"/reason", ``, "/requests/0/user/reason"},
		"a number as reason":   {"/reason", `1`, "/requests/0/user/reason"},
		"more inputs":          {"/inputs/b", `1`, "/requests/0/user/inputs/b"},
		"more args":            {"/subtask/args/y", `1`, "/requests/0/user/subtask/args/y"},
		"more of a result":     {"/completed/0/result/w", `1`, "/requests/0/user/completed/0/result/w"},
		"another goal":         {"/goal", `"h"`, "/requests/0/user/goal"},
	}
	w := workedSession{Requests: []workedRequest{{llmtest.Finalize, json.RawMessage(want)}}}
	for name, tt := range tests {
		user := changed(t, changed(t, decode(t, want), "/available_tools", `[1]`), tt.at, tt.to)
		body := ijson.Canonical(map[string]any{"messages": []any{map[string]any{"role": "user", "content": string(ijson.Canonical(user))}}})
		j := newPlanJudge()
		w.judgeRequests(j, []llmtest.Request{{Body: body}})
		if !complains(j.faults, tt.fault) || len(j.faults) > 1 {
			t.Errorf("%s: got faults %q, want %s", name, j.faults, tt.fault)
		}
	}
	for name, tt := range map[string]struct {
		got   []llmtest.Request
		fault ijson.Pointer
	}{
		"none":            {nil, "/requests"},
		"no message":      {[]llmtest.Request{{}}, "/requests/0/user"},
		"the other phase": {[]llmtest.Request{{Body: []byte(`{"response_format":{"type":"json_object"},"messages":[{"role":"user","content":"{}"}]}`)}}, "/requests/0/phase"},
	} {
		j := newPlanJudge()
		if w.judgeRequests(j, tt.got); !complains(j.faults, tt.fault) {
			t.Errorf("%s: got faults %q, want %s", name, j.faults, tt.fault)
		}
	}
}

// Plans are named by the order in which a session returned them.
func TestPlanIDs(t *testing.T) {
	var ids planIDs
	const first, second = "plan_0123456789abcdef", "plan_fedcba9876543210"
	for _, id := range []string{first, first, second} {
		if err := ids.note(map[string]any{"plan_id": id}); err != nil {
			t.Error(err)
		}
	}
	if err := ids.note(map[string]any{}); err != nil {
		t.Error(err)
	}
	for _, bad := range []any{"plan_1", "run_0123456789abcdef", nil, 1.0} {
		if err := ids.note(map[string]any{"plan_id": bad}); err == nil {
			t.Errorf("plan_id %v was taken for an id", bad)
		}
	}
	const text = `{"plan_id":"<plan 1>","other":["<plan 2>","<plan 3>","a <plan 1>"]}`
	if got, want := string(ids.put([]byte(text))), `{"plan_id":"`+first+`","other":["`+second+`","<plan 3>","a <plan 1>"]}`; got != want {
		t.Errorf("put = %s, want %s", got, want)
	}
}
