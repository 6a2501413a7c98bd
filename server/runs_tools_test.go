package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/server/arguments"
)

func idOf(t testing.TB, r result) string {
	t.Helper()
	id, _ := r.Structured["run_id"].(string)
	if id == "" {
		t.Fatalf("no run_id in %v", r.Structured)
	}
	return id
}

func about(id string) string { return fmt.Sprintf(`{"run_id":%q}`, id) }

func nextOf(r result) map[string]any {
	n, _ := r.Structured["next"].(map[string]any)
	return n
}

// A call that does not wait gets running and a run_id, and what it asked for by run_wait, once; an equal call meanwhile
// joins, one after the result was given is a new run.
func TestStartWaitJoin(t *testing.T) {
	held := newHolding()
	c := connect(t, serving(t, held.with(t)))
	noWait := strings.Replace(holdCall, "{", `{"max_wait_seconds":0,`, 1)
	r := c.call(td, noWait).result(t)
	id := idOf(t, r)
	if want := map[string]any{"action": "call", "tool": "run_wait", "arguments": map[string]any{"run_id": id}}; r.IsError || r.Structured["status"] != "running" || !cmp.Equal(want, any(nextOf(r))) {
		t.Fatalf("without a wait: %v, want running and next %v", r.Structured, want)
	}
	if text := textOf(r); !strings.HasPrefix(text, "RUNNING | "+td+" | "+id) || !strings.Contains(text, "It continues without you.") {
		t.Errorf("the text: %s", text)
	}
	wait(t, held.begun, "the call begins")
	if r := c.call(td, strings.Replace(holdCall, "{", `{"max_wait_seconds":0.01,`, 1)).result(t); r.Structured["run_id"] != id || r.Structured["joined"] != true || r.Structured["status"] != "running" {
		t.Errorf("an equal call: %v, want run %s joined", r.Structured, id)
	}
	if r := c.call(td, strings.Replace(noWait, "{", `{"idempotency_key":"other",`, 1)).result(t); r.Structured["run_id"] == id {
		t.Errorf("a key of its own: %v, want another run", r.Structured)
	}
	close(held.let)
	ended := c.call(arguments.WaitTool, about(id)).result(t)
	if s := ended.Structured; s["status"] != "ok" || s["pattern"] != td || s["created_at"] == nil || s["ended_at"] == nil || s["record"].(map[string]any)["events"].(float64) < 4 {
		t.Errorf("run_wait: %v", s)
	}
	if r := c.call(td, holdCall).result(t); r.Structured["run_id"] == id || r.Structured["joined"] != nil {
		t.Errorf("an equal call after the result was given: %v, want a new run", r.Structured)
	}
}

// A key names a run: with the same arguments it is the same one, also after its end; with others nothing runs.
func TestIdempotencyKey(t *testing.T) {
	c := connect(t, serving(t))
	keyed := strings.Replace(goodCall, "{", `{"idempotency_key":"april",`, 1)
	first := c.call(td, keyed).result(t)
	second := c.call(td, strings.Replace(keyed, "{", `{"max_wait_seconds":7,"finalize":null,`, 1)).result(t)
	if first.Structured["joined"] != nil || second.Structured["joined"] != true || idOf(t, first) != idOf(t, second) || second.Structured["answer"] != first.Structured["answer"] {
		t.Errorf("the same key: %v, then %v", first.Structured["run_id"], second.Structured)
	}
	r := c.call(td, strings.Replace(keyed, "April report", "May report", 1)).result(t)
	if !r.IsError || r.Structured["stop_reason"] != "invalid_request:reused:idempotency_key" || r.Structured["run_id"] != nil {
		t.Errorf("other arguments: %v", r.Structured)
	}
	if fill := nextOf(r)["fill"]; nextOf(r)["action"] != "fix_and_retry" || !cmp.Equal(fill, any([]any{"/idempotency_key"})) {
		t.Errorf("next: %v", nextOf(r))
	}
}

func TestHandleArguments(t *testing.T) {
	tests := map[string]struct{ argument, want string }{
		"a negative wait":   {`"max_wait_seconds":-1`, "limit:max_wait_seconds"},
		"too long a wait":   {`"max_wait_seconds":241`, "limit:max_wait_seconds"},
		"a wait in words":   {`"max_wait_seconds":"5"`, "type:max_wait_seconds"},
		"an empty key":      {`"idempotency_key":""`, "limit:idempotency_key"},
		"a long key":        {`"idempotency_key":"` + strings.Repeat("k", 256) + `"`, "limit:idempotency_key"},
		"a key of a letter": {`"idempotency_key":"é"`, "limit:idempotency_key"},
		"a key of a line":   {`"idempotency_key":"a\nb"`, "limit:idempotency_key"},
		"a key of a number": {`"idempotency_key":5`, "type:idempotency_key"},
	}
	c := connect(t, serving(t))
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := c.call(td, strings.Replace(goodCall, "{", "{"+tt.argument+",", 1)).result(t)
			if !r.IsError || r.Structured["stop_reason"] != "invalid_request:"+tt.want || nextOf(r)["action"] != "fix_and_retry" {
				t.Errorf("%s: %v, want %s", tt.argument, r.Structured, tt.want)
			}
		})
	}
	for _, good := range []string{`"max_wait_seconds":240`, `"max_wait_seconds":null`, `"max_wait_seconds":0.5`, `"idempotency_key":"` + strings.Repeat("~", 255) + `"`} {
		if r := c.call(td, strings.Replace(goodCall, "{", "{"+good+",", 1)).result(t); r.Structured["status"] != "ok" {
			t.Errorf("%.60s: %v", good, r.Structured)
		}
	}
}

// The tools about runs refuse what does not fit, and what is not there, in the words of the contract.
func TestRunToolsRefuse(t *testing.T) {
	c := connect(t, serving(t))
	id := idOf(t, c.call(td, goodCall).result(t))
	tests := map[string]struct{ tool, arguments, want, next string }{
		"status, unknown":     {arguments.StatusTool, about("run_0123456789abcdef"), "not_found:run_id", "call"},
		"status, another":     {arguments.StatusTool, `{"run":"x"}`, "unknown_field:run", "fix_and_retry"},
		"status, a number":    {arguments.StatusTool, `{"run_id":5}`, "type:run_id", "fix_and_retry"},
		"status, no step":     {arguments.StatusTool, `{"run_id":"` + id + `","step":"9"}`, "not_found:step", "fix_and_retry"},
		"status, half a step": {arguments.StatusTool, `{"run_id":"` + id + `","step":1.5}`, "type:step", "fix_and_retry"},
		"wait, no run":        {arguments.WaitTool, `{}`, "missing:run_id", "fix_and_retry"},
		"wait, a blank run":   {arguments.WaitTool, `{"run_id":" "}`, "missing:run_id", "fix_and_retry"},
		"wait, unknown":       {arguments.WaitTool, about("run_"), "not_found:run_id", "call"},
		"wait, a long run":    {arguments.WaitTool, about(strings.Repeat("x", 300)), "too_large:run_id", "fix_and_retry"},
		"wait, too long":      {arguments.WaitTool, `{"run_id":"` + id + `","max_wait_seconds":1e9}`, "limit:max_wait_seconds", "fix_and_retry"},
		"cancel, unknown":     {arguments.CancelTool, about("x"), "not_found:run_id", "call"},
		"cancel, long":        {arguments.CancelTool, `{"run_id":"` + id + `","reason":"` + strings.Repeat("é", 501) + `"}`, "too_large:reason", "fix_and_retry"},
		"list, a status":      {arguments.ListTool, `{"status":"stoped"}`, "limit:status", "fix_and_retry"},
		"list, a time":        {arguments.ListTool, `{"since":"yesterday"}`, "type:since", "fix_and_retry"},
		"list, a limit":       {arguments.ListTool, `{"limit":101}`, "limit:limit", "fix_and_retry"},
		"list, a cursor":      {arguments.ListTool, `{"cursor":"AAAA"}`, "limit:cursor", "fix_and_retry"},
		"list, no object":     {arguments.ListTool, `[]`, "type:arguments", "fix_and_retry"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := c.call(tt.tool, tt.arguments).result(t)
			if !r.IsError || r.Structured["stop_reason"] != "invalid_request:"+tt.want || nextOf(r)["action"] != tt.next {
				t.Errorf("%s %s: %v, want %s and next %s", tt.tool, tt.arguments, r.Structured, tt.want, tt.next)
			}
			if tt.next == "call" && nextOf(r)["tool"] != arguments.ListTool {
				t.Errorf("next %v, want %s", nextOf(r), arguments.ListTool)
			}
		})
	}
}

// run_status shows what the call itself showed, and with a step all of one observation.
func TestRunStatus(t *testing.T) {
	big := strings.Repeat("0123456789", 2000)
	large := foreignRead(t, "large", map[string]any{"text": big})
	c := connect(t, serving(t, offering(t, large), func(c *Config) { c.Patterns[0].Spec.Budget.MinPlanSteps = 1 }))
	if r := c.call(arguments.StatusTool, `{}`).result(t); r.IsError || r.Structured["status"] != "ok" || !strings.Contains(r.Structured["summary"].(string), "no run") {
		t.Errorf("before any run: %v", r.Structured)
	}
	r := c.call(td, `{"goal":"x","plan":{"steps":[{"id":"a","title":"Look","tool":"large","args":{}}]}}`).result(t)
	id := idOf(t, r)
	for _, sent := range []string{`{}`, about(id), `{"run_id":"","step":" "}`, `{"run_id":null}`} {
		seen := c.call(arguments.StatusTool, sent).result(t)
		for _, own := range []string{"pattern", "created_at", "ended_at", "record"} {
			if seen.Structured[own] == nil {
				t.Errorf("%s: no %s in %v", sent, own, seen.Structured)
			}
			delete(seen.Structured, own)
		}
		if diff := cmp.Diff(r.Structured, seen.Structured); diff != "" {
			t.Errorf("%s (-call +run_status):\n%s", sent, diff)
		}
	}
	key := r.Structured["effects"].([]any)[0].(map[string]any)["key"].(string)
	for _, step := range []string{`1`, `"1"`, `"step_1"`, `"a"`, mustJSON(key)} {
		seen := c.call(arguments.StatusTool, `{"run_id":"`+id+`","step":`+step+`}`).result(t)
		one, _ := seen.Structured["step"].(map[string]any)
		observed, _ := one["observation"].(map[string]any)
		if observed["text"] != big || one["row"].(map[string]any)["observation"] != nil || seen.Structured["history"] != nil {
			t.Errorf("step %s: %.300v", step, seen.Structured)
		}
		if text := textOf(seen); !strings.Contains(text, "\nSTEP {") || !strings.Contains(text, "\nOBSERVATION {") {
			t.Errorf("step %s: the text is %.300s", step, text)
		}
	}
}

// foreignRead is a reading tool that returns a value.
func foreignRead(t testing.TB, name string, value any) catalog.Tool {
	t.Helper()
	return odd(t, name, catalog.Read, func(map[string]any) (any, error) { return value, nil })
}

// A waiting run is shown at once by run_wait, with what its caller is to send; a running one that does not change ends
// the turn the second time.
func TestRunWait(t *testing.T) {
	held := newHolding()
	c := connect(t, serving(t))
	id := idOf(t, c.call(sv, startRefund).result(t))
	for range 3 {
		if r := c.call(arguments.WaitTool, about(id)).result(t); r.Structured["status"] != "waiting" || nextOf(r)["action"] != "call" || nextOf(r)["tool"] != sv {
			t.Errorf("a run that waits for its caller: %v", r.Structured)
		}
	}
	c = connect(t, serving(t, held.with(t)))
	id = idOf(t, c.call(td, strings.Replace(holdCall, "{", `{"max_wait_seconds":0,`, 1)).result(t))
	brief := `{"run_id":"` + id + `","max_wait_seconds":0.01}`
	if r := c.call(arguments.WaitTool, brief).result(t); r.Structured["status"] != "running" || nextOf(r)["action"] != "call" {
		t.Errorf("the first run_wait: %v", r.Structured)
	}
	r := c.call(arguments.WaitTool, brief).result(t)
	if n := nextOf(r); r.Structured["status"] != "running" || n["action"] != "end_turn" || n["tool"] != arguments.StatusTool || n["say"] == "" {
		t.Errorf("the second run_wait: %v", r.Structured)
	}
	close(held.let)
	if r := c.call(arguments.WaitTool, about(id)).result(t); r.Structured["status"] != "ok" || nextOf(r)["action"] != "answer_user" {
		t.Errorf("after its end: %v", r.Structured)
	}
}

// While run_wait waits it tells how the run goes on, and its last line is the end.
func TestRunWaitProgress(t *testing.T) {
	held := newHolding()
	c := connect(t, serving(t, held.with(t)))
	id := idOf(t, c.call(td, strings.Replace(holdCall, "{", `{"max_wait_seconds":0,`, 1)).result(t))
	wait(t, held.begun, "the call begins")
	c.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"_meta":{"progressToken":"p"},"name":"run_wait","arguments":` + about(id) + `}}`)
	first := c.next()
	if text, _ := first.Params["message"].(string); first.Method != "notifications/progress" || !strings.HasPrefix(text, "execute: ") {
		t.Errorf("the first line is %s", first.line)
	}
	close(held.let)
	last := ""
	for m := c.next(); ; m = c.next() {
		if m.Method == "" {
			break
		}
		last, _ = m.Params["message"].(string)
	}
	if !strings.HasSuffix(last, ": done") {
		t.Errorf("the last line is %q", last)
	}
}

// run_cancel ends a run before its next call, says nothing is left to do, and shows one that had ended as it is.
func TestRunCancel(t *testing.T) {
	held := newHolding()
	c := connect(t, serving(t, held.with(t)))
	id := idOf(t, c.call(td, strings.Replace(holdCall, "{", `{"max_wait_seconds":0,`, 1)).result(t))
	wait(t, held.begun, "the call begins")
	r := c.call(arguments.CancelTool, `{"run_id":"`+id+`","reason":"no more wanted"}`).result(t)
	if r.IsError || r.Structured["stop_reason"] != "cancelled" || !cmp.Equal(map[string]any{"action": "done"}, nextOf(r)) {
		t.Errorf("run_cancel: %v", r.Structured)
	}
	r = c.call(arguments.CancelTool, about(id)).result(t)
	problems, _ := r.Structured["problems"].([]any)
	if r.IsError || r.Structured["stop_reason"] != "cancelled" || len(problems) != 1 || problems[0].(map[string]any)["reason"] != "already_ended" {
		t.Errorf("run_cancel again: %v", r.Structured)
	}
	w := connect(t, serving(t))
	id = idOf(t, w.call(sv, startRefund).result(t))
	if r := w.call(arguments.CancelTool, about(id)).result(t); r.Structured["stop_reason"] != "cancelled" || r.Structured["status"] != "stopped" {
		t.Errorf("cancelling a run that waits: %v", r.Structured)
	}
}

// list_runs shows the principal's runs in pages, newest first, and only those that fit.
func TestListRuns(t *testing.T) {
	c := connect(t, serving(t))
	if r := c.call(arguments.ListTool, `{}`).result(t); r.Structured["summary"] != "You have no run here yet." || len(r.Structured["runs"].([]any)) != 0 {
		t.Errorf("before any run: %v", r.Structured)
	}
	var want []string
	for i := range 5 {
		want = append([]string{idOf(t, c.call(sv, startRefundOf(i)).result(t))}, want...)
	}
	want = append([]string{idOf(t, c.call(td, goodCall).result(t))}, want...)
	ids := func(sent string) (list []string, cursor string) {
		r := c.call(arguments.ListTool, sent).result(t)
		for _, row := range r.Structured["runs"].([]any) {
			row := row.(map[string]any)
			list = append(list, row["run_id"].(string))
			if row["summary"] == "" || row["created_at"] == nil || !strings.Contains(textOf(r), "\n"+row["run_id"].(string)+" | "+row["status"].(string)) {
				t.Errorf("row %v in\n%s", row, textOf(r))
			}
		}
		cursor, _ = r.Structured["next_cursor"].(string)
		if cursor != "" && !strings.HasSuffix(textOf(r), "\nNEXT_CURSOR "+cursor) {
			t.Errorf("the text lacks the cursor:\n%s", textOf(r))
		}
		return list, cursor
	}
	var walked []string
	cursor := ""
	for range want {
		page, next := ids(`{"limit":4,"cursor":"` + cursor + `"}`)
		walked = append(walked, page...)
		if cursor = next; next == "" {
			break
		}
	}
	if diff := cmp.Diff(want, walked); diff != "" {
		t.Errorf("the pages together (-want +got):\n%s", diff)
	}
	for filter, n := range map[string]int{
		`"status":"waiting"`: 5, `"status":"ok"`: 1, `"pattern":"supervised_refund"`: 5, `"stop_reason":"success"`: 1, `"stop_reason":"invalid_plan"`: 0,
		`"since":"2100-01-01T00:00:00Z"`: 0, `"until":"2100-01-01T00:00:00Z"`: 6, `"pattern":""`: 6, `"pattern":"gone"`: 0,
	} {
		if list, _ := ids("{" + filter + "}"); len(list) != n {
			t.Errorf("%s: %d runs, want %d", filter, len(list), n)
		}
	}
	_, cursor = ids(`{"limit":1}`)
	if r := c.call(arguments.ListTool, `{"status":"ok","cursor":"`+cursor+`"}`).result(t); r.Structured["stop_reason"] != "invalid_request:limit:cursor" {
		t.Errorf("a cursor of another list: %v", r.Structured)
	}
}

// Each page keeps the bound of a result, and the pages lead to all runs.
func TestListRunsFits(t *testing.T) {
	c := connect(t, serving(t, func(c *Config) { c.ResultBytes = 4096 }))
	for i := range 40 {
		c.call(sv, startRefundOf(i))
	}
	seen, cursor := 0, ""
	for range 40 {
		m := c.call(arguments.ListTool, `{"limit":100,"cursor":"`+cursor+`"}`)
		r := m.result(t)
		if structured := mustJSON(r.Structured); len(structured) > 4096 || len(textOf(r)) > 4096 {
			t.Errorf("channels of %d and %d bytes, want at most 4096", len(structured), len(textOf(r)))
		}
		seen += len(r.Structured["runs"].([]any))
		if cursor, _ = r.Structured["next_cursor"].(string); cursor == "" {
			break
		}
	}
	if seen != 40 {
		t.Errorf("%d runs in all pages, want 40", seen)
	}
}

// The record is a resource, a line an event, to its principal alone.
func TestTraceResource(t *testing.T) {
	s := serving(t)
	c := connect(t, s)
	id := idOf(t, c.call(td, goodCall).result(t))
	for _, era := range eras {
		m := c.ask(era, "resources/read", fmt.Sprintf(`{"uri":%q}`, runsURI+id+traceTail))
		var read struct {
			Contents []struct{ MimeType, Text string }
		}
		if err := json.Unmarshal(m.Result, &read); err != nil || len(read.Contents) != 1 || read.Contents[0].MimeType != ndjsonType {
			t.Fatalf("%s: %v: %.300s", era, err, m.line)
		}
		lines := strings.Split(strings.TrimSuffix(read.Contents[0].Text, "\n"), "\n")
		var first struct {
			Kind, Pattern string
			Events        int
		}
		if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first.Kind != "patterngate.export" || first.Pattern != td || first.Events != len(lines)-1 {
			t.Errorf("%s: %v: %d lines, the first %s", era, err, len(lines), lines[0])
		}
		for _, no := range []string{"run_0123456789abcdef" + traceTail, id + traceTail + traceTail, id + "/x", traceTail} {
			if m := c.ask(era, "resources/read", fmt.Sprintf(`{"uri":%q}`, runsURI+no)); m.Error == nil {
				t.Errorf("%s: %s was answered by %.200s", era, no, m.line)
			}
		}
	}
}

// A call that is taken back before it has written ends its run; one that has begun to write leaves it, and says so.
func TestCancelAfterWriteDetaches(t *testing.T) {
	held := newHolding()
	tool := held.tool(t)
	tool.Effect = catalog.Write
	c := connect(t, serving(t, offering(t, tool), func(c *Config) { c.Patterns[0].Spec.Budget.MinPlanSteps = 1 }))
	c.send(callLine(1, td, holdCall))
	wait(t, held.begun, "the write begins")
	c.send(cancelLine("1"))
	r := c.next().result(t)
	if n := nextOf(r); r.Structured["status"] != "running" || n["tool"] != arguments.WaitTool {
		t.Fatalf("the call was answered by %v, want running", r.Structured)
	}
	close(held.let)
	id := idOf(t, r)
	if r := c.call(arguments.WaitTool, about(id)).result(t); r.Structured["status"] != "ok" || len(held.gone) > 0 {
		t.Errorf("the run ended with %v, its tool was cut %d times", r.Structured, len(held.gone))
	}
}
