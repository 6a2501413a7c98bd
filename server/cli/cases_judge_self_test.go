package cli_test

import (
	"encoding/json"
	"slices"
	"testing"

	"patterngate/ijson"
	"patterngate/patterns/llm/llmtest"
)

// The judge itself is judged: what it must let pass, and one wrong thing at a time that it must not.
func TestJudge(t *testing.T) {
	const want = `{"status":"ok","stop_reason":"success","answer":"Done.","aggregate":{"health":"green","sales":{"orders":3},"failed_tasks":[{"task_id":"t1"}],"missing":[]},
		"trace":[{"step":1,"args_hash":"feaa769a39ae","ok":true,"stop_reason":null,"observation_error":true}],
		"history":[{"step":1,"action":{"args":{"user_id":42,"note":null}},"supervisor":{"decision":"approve"},
			"observation":{"status":"ok","refund":{"transaction_id":"rf_42_<hex>"}},"human_approval":{"approved":false,"comment":"no"}}]}`
	const good = `{"status":"ok","stop_reason":"success","run_id":"run_1","answer":"Done.","aggregate":{"health":"green","sources":{},"sales":{"orders":3.0},"failed_tasks":[{"task_id":"t1","more":1}],"missing":[]},
		"trace":[{"step":1,"args_hash":"feaa769a39ae","ok":true,"duration_ms":3,"observation_error":"not found","more":1}],
		"history":[{"step":1,"action":{"args":{"user_id":42,"note":null}},"supervisor":{"decision":"approve","rule":"r"},"more":1,
			"observation":{"status":"ok","refund":{"transaction_id":"rf_42_0a1b2c"}},"human_approval":{"approved":false,"comment":"not today","by":"x"}}]}`
	tests := map[string]struct {
		at    ijson.Pointer // where good is changed
		to    string        // the JSON value put there; "" removes the member
		fault ijson.Pointer // where the judge must complain; "none" nowhere
	}{
		"as expected":                   {"/more", `1`, "none"},
		"another root member":           {"/budget", `{}`, "none"},
		"an expected null":              {"/trace/0/stop_reason", `null`, "none"},
		"another comment on a no":       {"/history/0/human_approval/comment", `"never"`, "none"},
		"several words":                 {"/trace/0/observation_error", `["a","b"]`, "none"},
		"request id in args":            {"/history/0/action/args/request_id", `"x"`, "none"},
		"another answer":                {"/answer", `"done."`, "/answer"},
		"no answer":                     {"/answer", ``, "/answer"},
		"number as text":                {"/trace/0/step", `"1"`, "/trace/0/step"},
		"bool as number":                {"/trace/0/ok", `1`, "/trace/0/ok"},
		"another hash":                  {"/trace/0/args_hash", `"FEAA769A39AE"`, "/trace/0/args_hash"},
		"value for an expected null":    {"/trace/0/stop_reason", `"x"`, "/trace/0/stop_reason"},
		"one row too many":              {"/trace/-", `{}`, "/trace"},
		"no rows":                       {"/trace", `[]`, "/trace"},
		"rows are an object":            {"/trace", `{}`, "/trace"},
		"a row is a text":               {"/trace/0", `"x"`, "/trace/0"},
		"error without words":           {"/trace/0/observation_error", `true`, "/trace/0/observation_error"},
		"blank error":                   {"/trace/0/observation_error", `" "`, "/trace/0/observation_error"},
		"error missing":                 {"/trace/0/observation_error", ``, "/trace/0/observation_error"},
		"comment that is no text":       {"/history/0/human_approval/comment", `null`, "/history/0/human_approval/comment"},
		"member inside args":            {"/history/0/action/args/extra", `1`, "/history/0/action/args/extra"},
		"null missing inside args":      {"/history/0/action/args/note", ``, "/history/0/action/args/note"},
		"member inside action":          {"/history/0/action/extra", `1`, "/history/0/action/extra"},
		"member inside observation":     {"/history/0/observation/extra", `null`, "/history/0/observation/extra"},
		"deep inside observation":       {"/history/0/observation/refund/extra", `1`, "/history/0/observation/refund/extra"},
		"member inside a domain":        {"/aggregate/sales/extra", `1`, "/aggregate/sales/extra"},
		"domain is null":                {"/aggregate/sales", `null`, "/aggregate/sales"},
		"list of another length":        {"/aggregate/missing", `["sales"]`, "/aggregate/missing"},
		"failed task's other id":        {"/aggregate/failed_tasks/0/task_id", `"t2"`, "/aggregate/failed_tasks/0/task_id"},
		"decision":                      {"/history/0/supervisor/decision", `"block"`, "/history/0/supervisor/decision"},
		"the seed's date as id":         {"/history/0/observation/refund/transaction_id", `"rf_42_20260226"`, "/history/0/observation/refund/transaction_id"},
		"upper-case id":                 {"/history/0/observation/refund/transaction_id", `"rf_42_0A1B2C"`, "/history/0/observation/refund/transaction_id"},
		"short id":                      {"/history/0/observation/refund/transaction_id", `"rf_42_0a1b2"`, "/history/0/observation/refund/transaction_id"},
		"another user's id":             {"/history/0/observation/refund/transaction_id", `"rf_7_0a1b2c3d"`, "/history/0/observation/refund/transaction_id"},
		"phase on success":              {"/phase", `"finalize"`, "/phase"},
		"stopped without phase":         {"/status", `"stopped"`, "/phase"},
		"ok with another reason":        {"/stop_reason", `"max_steps"`, "/status"},
		"success that is not ok":        {"/status", `"waiting"`, "/status"},
		"supervisor is no object":       {"/history/0/supervisor", `"approve"`, "/history/0/supervisor"},
		"aggregate's own value changed": {"/aggregate/health", `"red"`, "/aggregate/health"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var j judge
			j.result(decode(t, want).(map[string]any), changed(t, decode(t, good), tt.at, tt.to).(map[string]any))
			if !complains(j.faults, tt.fault) {
				t.Errorf("%s = %s: got faults %q, want %s", tt.at, tt.to, j.faults, tt.fault)
			}
		})
	}
}

// A user message has no open places at all.
func TestJudgeOfMessages(t *testing.T) {
	const want = `{"goal":"g","history":[{"step":1,"supervisor":{"decision":"approve"},"observation":null}],"available_tools":"<catalog>"}`
	const good = `{"goal":"g","history":[{"step":1,"supervisor":{"decision":"approve"},"observation":null}],"available_tools":[{"name":"a"}]}`
	tests := map[string]struct {
		at    ijson.Pointer
		to    string
		fault ijson.Pointer
	}{
		"as expected":          {"/available_tools", `[{}]`, "none"},
		"no tools":             {"/available_tools", `[]`, "/available_tools"},
		"tools are an object":  {"/available_tools", `{"a":1}`, "/available_tools"},
		"another member":       {"/now", `1`, "/now"},
		"member of a row":      {"/history/0/args_hash", `"x"`, "/history/0/args_hash"},
		"member of supervisor": {"/history/0/supervisor/rule", `"r"`, "/history/0/supervisor/rule"},
		"null missing":         {"/history/0/observation", ``, "/history/0/observation"},
	}
	for name, tt := range tests {
		var j judge
		j.message("", decode(t, want), changed(t, decode(t, good), tt.at, tt.to))
		if !complains(j.faults, tt.fault) || len(j.faults) > 1 {
			t.Errorf("%s: got faults %q, want %s", name, j.faults, tt.fault)
		}
	}
	var j judge
	if j.message("", decode(t, want), decode(t, `"text"`)); len(j.faults) != 1 {
		t.Errorf("a message that is text: got faults %q, want one", j.faults)
	}
}

func TestJudgeOfRequests(t *testing.T) {
	asked := func(phase, id string) llmtest.Request {
		format := ""
		if phase == llmtest.Decide {
			format = `,"response_format":{"type":"json_object"}`
		}
		return llmtest.Request{Body: []byte(`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"{\"id\":\"` + id + `\"}"}]` + format + `}`)}
	}
	user := json.RawMessage(`{"id":"rf_42_<hex>"}`)
	w := worked{Tool: "t", Config: json.RawMessage(`{}`), Requests: []workedRequest{{llmtest.Decide, user}, {llmtest.Finalize, user}}}
	hurried := w
	hurried.Config = json.RawMessage(`{"patterns":{"t":{"budget":{"max_seconds":0}}}}`)
	first, second := asked(llmtest.Decide, "rf_42_0a1b2c"), asked(llmtest.Finalize, "rf_42_0a1b2c")
	tests := map[string]struct {
		w     worked
		got   []llmtest.Request
		fault ijson.Pointer
	}{
		"as expected":           {w, []llmtest.Request{first, second}, "none"},
		"one too few":           {w, []llmtest.Request{first}, "/requests"},
		"one too many":          {w, []llmtest.Request{first, second, second}, "/requests"},
		"none":                  {w, nil, "/requests"},
		"none, without time":    {hurried, nil, "none"},
		"some, without time":    {hurried, []llmtest.Request{first}, "/requests"},
		"the other phase":       {w, []llmtest.Request{first, first}, "/requests/1/phase"},
		"an id of another call": {w, []llmtest.Request{first, asked(llmtest.Finalize, "rf_42_ffffff")}, "/requests/1/user/id"},
		"no JSON":               {w, []llmtest.Request{first, {}}, "/requests/1/user"},
	}
	for name, tt := range tests {
		j := judge{ids: map[ijson.Pointer]string{"/history/0": "rf_42_0a1b2c"}}
		tt.w.judgeRequests(&j, tt.got)
		if !complains(j.faults, tt.fault) {
			t.Errorf("%s: got faults %q, want %s", name, j.faults, tt.fault)
		}
	}
}

func TestMadeIDsDiffer(t *testing.T) {
	var m madeIDs
	steps := []struct {
		name, at, id string
		faults       int
	}{{"a", "/history/0/x", "rf_1", 0}, {"a", "/action/x", "rf_1", 0}, {"a", "/history/1/x", "rf_2", 0}, {"b", "/history/0/x", "em_1", 1}}
	for _, step := range steps {
		if got := m.faults(step.name, map[ijson.Pointer]string{ijson.Pointer(step.at): step.id}); len(got) != step.faults {
			t.Errorf("%+v: got %q, want %d faults", step, got, step.faults)
		}
	}
}

// complains reports whether a judge complained at a place; at "none" whether it complained nowhere.
func complains(faults []string, at ijson.Pointer) bool {
	if at == "none" {
		return len(faults) == 0
	}
	return slices.ContainsFunc(faults, func(f string) bool { return faultAt(f, at) })
}

func faultAt(fault string, at ijson.Pointer) bool {
	quoted := `"` + string(at) + `": `
	return len(fault) > len(quoted) && fault[:len(quoted)] == quoted
}

func decode(t *testing.T, text string) any {
	t.Helper()
	v, err := ijson.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func changed(t *testing.T, root any, at ijson.Pointer, to string) any {
	t.Helper()
	if to == "" {
		v, ok := ijson.Remove(root, at)
		if !ok {
			t.Fatalf("nothing to remove at %s", at)
		}
		return v
	}
	v, ok := ijson.Set(root, at, decode(t, to))
	if !ok {
		t.Fatalf("no place at %s", at)
	}
	return v
}
