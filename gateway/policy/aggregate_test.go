package policy_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"patterngate/gateway/policy"
	"patterngate/gateway/policy/expr"
	"patterngate/ijson"
)

const orderSchema = `{"type": "object", "required": ["count"], "additionalProperties": false, "properties": {
	"count": {"type": "integer"}, "rate": {"type": "number"}, "names": {"type": "array", "items": {"type": "string"}}, "at": {"type": "string", "format": "date-time"}}}`

// aggregateOf is one of three workers: orders and refund are typed, other is not.
func aggregateOf(t testing.TB, fields []policy.Named, health ...policy.HealthRule) policy.AggregateSource {
	return policy.AggregateSource{
		Workers: []policy.Hand{{"orders", compiled(t, orderSchema)}, {"refund", compiled(t, foundSchema)}, {"other", nil}},
		Input:   compiled(t, `{"type": "object", "required": ["region"], "properties": {"region": {"type": "string", "enum": ["EU", "US"]}, "limit": {"type": "integer"}}, "additionalProperties": false}`),
		Fields:  fields, Health: health,
	}
}

// someTasks are two that are done and one that is not; refund was done twice.
func someTasks() []policy.TaskResult {
	return []policy.TaskResult{
		{ID: "t1", Worker: "orders", Done: true, Attempts: 2, Observation: map[string]any{"count": 3.0, "rate": 2.0, "names": []any{"a", "b"}, "at": "2026-01-31T10:00:00Z"}},
		{ID: "t2", Worker: "refund", Done: true, Attempts: 1, Observation: map[string]any{"status": "failed", "id": "r-1", "cents": 4900.0}},
		{ID: "t3", Worker: "refund", Done: true, Attempts: 1, Observation: map[string]any{"status": "paid", "id": "r-2"}},
		{ID: "t4", Worker: "other", Critical: true, StopReason: "task_timeout"},
	}
}

// TestJoin holds what fields and health come to.
func TestJoin(t *testing.T) {
	type rules = []policy.HealthRule
	tests := map[string]struct {
		fields string // name: text, one a line
		health rules
		want   string
	}{
		"nothing declared": {"", nil, `{"fields":{},"missing":[],"health":"green","errors":[]}`},
		"the first done task of a worker": {"s: tasks.refund.observation.status\nid: tasks.refund.id\nn: tasks.orders.attempts", nil,
			`{"fields":{"id":"t2","n":2,"s":"failed"},"missing":[],"health":"green","errors":[]}`},
		"whole numbers are ints, others doubles": {"double: tasks.orders.observation.count * 2\nrate: tasks.orders.observation.rate * 1.5", nil,
			`{"fields":{"double":6,"rate":3},"missing":[],"health":"green","errors":[]}`},
		"a field reads those above it with their types": {"n: size(failed)\nm: fields.n * 2 + tasks.orders.observation.count", nil,
			`{"fields":{"m":5,"n":1},"missing":[],"health":"green","errors":[]}`},
		"a time above stays a time": {"t: timestamp(tasks.orders.observation.at)\nlate: fields.t > timestamp(\"2026-01-01T00:00:00Z\")", nil,
			`{"fields":{"late":true,"t":"2026-01-31T10:00:00Z"},"missing":[],"health":"green","errors":[]}`},
		"a worker without a result": {"x: tasks.other.observation.n\ny: has(tasks.other)", nil,
			`{"fields":{"y":false},"missing":["x"],"health":"unknown","errors":[{"member":"fields.x","reason":"there is no other"}]}`},
		"who reads what is missing is missing": {"x: tasks.other.id\ny: fields.x + \"!\"\nz: 1", nil,
			`{"fields":{"z":1},"missing":["x","y"],"health":"unknown","errors":[{"member":"fields.x","reason":"there is no other"},{"member":"fields.y","reason":"there is no x"}]}`},
		"an optional without a value": {"x: tasks.?other", nil, `{"fields":{},"missing":["x"],"health":"unknown","errors":[]}`},
		"failed": {"who: failed.map(f, f.worker + \" \" + f.stop_reason)\ncritical: failed.exists(f, f.critical)", nil,
			`{"fields":{"critical":true,"who":["other task_timeout"]},"missing":[],"health":"green","errors":[]}`},
		"input": {"r: input.region\nl: has(input.limit)", nil, `{"fields":{"l":false,"r":"EU"},"missing":[],"health":"green","errors":[]}`},
		"the first rule that is true": {"", rules{{"green", "false"}, {"yellow", "size(failed) > 0"}, {"red", "true"}},
			`{"fields":{},"missing":[],"health":"yellow","errors":[]}`},
		"no rule is true": {"", rules{{"red", "false"}}, `{"fields":{},"missing":[],"health":"green","errors":[]}`},
		"green in spite of what is missing": {"x: tasks.other.id", rules{{"green", "true"}},
			`{"fields":{},"missing":["x"],"health":"green","errors":[{"member":"fields.x","reason":"there is no other"}]}`},
		"a rule that errs, and none is true": {"", rules{{"red", "tasks.other.id == \"\""}, {"yellow", "false"}},
			`{"fields":{},"missing":[],"health":"unknown","errors":[{"member":"health.0.when","reason":"there is no other"}]}`},
		"a rule that errs above one that is true": {"", rules{{"red", "1 / size(input.region.substring(2)) > 0"}, {"yellow", "true"}},
			`{"fields":{},"missing":[],"health":"yellow","errors":[{"member":"health.0.when","reason":"the expression has no value"}]}`},
		"a rule that errs below one that is true": {"", rules{{"yellow", "true"}, {"red", "tasks.other.id == \"\""}},
			`{"fields":{},"missing":[],"health":"yellow","errors":[]}`},
		"no form in JSON": {"nan: 0.0 / 0.0\nbytes: dyn(bytes(input.region))\nbig: 9007199254740992\nspan: duration(\"90s\")\nkeys: {1: 2}", nil,
			`{"fields":{"span":"90s"},"missing":["nan","bytes","big","keys"],"health":"unknown","errors":[` +
				`{"member":"fields.nan","reason":"its value has no form in JSON, or is too large"},{"member":"fields.bytes","reason":"its value has no form in JSON, or is too large"},` +
				`{"member":"fields.big","reason":"its value has no form in JSON, or is too large"},{"member":"fields.keys","reason":"its value has no form in JSON, or is too large"}]}`},
		"too large": {"big: lists.range(9000)", nil,
			`{"fields":{},"missing":["big"],"health":"unknown","errors":[{"member":"fields.big","reason":"more than 16384 bytes, or 65536 with the fields above it"}]}`},
		"too dear": {"dear: lists.range(90000).map(a, lists.range(90000).map(b, a * b)).size()", nil,
			`{"fields":{},"missing":["dear"],"health":"unknown","errors":[{"member":"fields.dear","reason":"the expression costs more than 1000000 units"}]}`},
		"a member that an observation names is not told": {"x: {\"k\": 1}[tasks.refund.observation.id]", nil,
			`{"fields":{},"missing":["x"],"health":"unknown","errors":[{"member":"fields.x","reason":"a member is absent"}]}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a, faults := policy.NewAggregate(aggregateOf(t, namedLines(tt.fields), tt.health...))
			if a == nil {
				t.Fatalf("NewAggregate: %v", inMembers(faults))
			}
			got := a.Join(map[string]any{"region": "EU"}, someTasks())
			if text := joinedText(t, got); text != tt.want {
				t.Errorf("Join:\n got %s\nwant %s", text, tt.want)
			}
		})
	}
}

// TestJoinTotal holds that all fields together are bounded.
func TestJoinTotal(t *testing.T) {
	var fields []policy.Named
	for i := range 6 {
		fields = append(fields, policy.Named{Name: fmt.Sprint("f", i), Text: "lists.range(3000)"}) // about 14 KiB
	}
	a, faults := policy.NewAggregate(aggregateOf(t, fields))
	if a == nil {
		t.Fatal(faults)
	}
	got := a.Join(nil, nil)
	if n := len(ijson.Canonical(got.Fields)); n > 65<<10 || !reflect.DeepEqual(got.Missing, []string{"f4", "f5"}) {
		t.Errorf("fields have %d bytes, missing %v", n, got.Missing)
	}
}

// TestJoinMisfit holds that what does not fit its schema harms only who reads it.
func TestJoinMisfit(t *testing.T) {
	a, faults := policy.NewAggregate(aggregateOf(t, namedLines("n: tasks.orders.observation.count + 1\nid: tasks.orders.id\ns: tasks.refund.observation.status")))
	if a == nil {
		t.Fatal(faults)
	}
	for name, observation := range map[string]any{
		"cut": map[string]any{"truncated": true, "bytes": 90000.0, "head": "{"}, "a text": "x", "null": nil, "another type": map[string]any{"count": "3"},
		"no decoded value": map[string]any{"count": math.NaN()}, "a type of ours": map[string]any{"count": struct{}{}},
	} {
		tasks := someTasks()
		tasks[0].Observation = observation
		got := a.Join(map[string]any{"region": math.Inf(1)}, tasks)
		if want := map[string]any{"id": "t1", "s": "failed"}; !reflect.DeepEqual(got.Fields, want) || !reflect.DeepEqual(got.Missing, []string{"n"}) || got.Health != "unknown" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestAggregateFaults holds what is said about the expressions of an aggregate, and where.
func TestAggregateFaults(t *testing.T) {
	type rules = []policy.HealthRule
	tests := map[string]struct {
		fields string
		health rules
		want   []string
	}{
		"no worker":             {"x: tasks.ordrs.id", nil, []string{"fields.x: 7: tasks has no worker ordrs (orders, refund, other); did you mean orders?"}},
		"no member":             {"x: tasks.refund.observation.stats", nil, []string{"fields.x: 26: the result of refund has no member stats (status, id, cents); did you mean status?"}},
		"nothing but three":     {"x: tasks.refund.observed", nil, []string{"fields.x: 14: tasks.refund has no member observed (id, observation, attempts)"}},
		"no field":              {"total: 1\ny: fields.totl", nil, []string{"fields.y: 8: fields has no field totl (total); did you mean total?"}},
		"a field below":         {"x: fields.y\ny: 1", nil, []string{"fields.x: 8: fields.y is defined below; a field reads only those above it"}},
		"itself":                {"x: fields.x", nil, []string{"fields.x: 8: fields.x reads itself"}},
		"no variable":           {"x: task.orders.id", nil, []string{"fields.x: 1: no variable task (tasks, failed, input, fields); did you mean tasks?"}},
		"no input":              {"x: input.regoin", nil, []string{"fields.x: 7: input has no argument regoin (region, limit); did you mean region?"}},
		"no value of it":        {"x: tasks.refund.observation.status == \"payed\"", nil, []string{`fields.x: 36: tasks.refund.observation.status is never "payed" ("paid", "failed")`}},
		"no worker of failed":   {"", rules{{"red", `failed.exists(f, f.worker == "refnd")`}}, []string{`health.0.when: 30: f.worker is never "refnd" ("orders", "refund", "other"); did you mean refund?`}},
		"when is no bool":       {"", rules{{"green", "true"}, {"red", "size(failed)"}}, []string{"health.1.when: 5: int, but bool is needed"}},
		"no colour":             {"", rules{{"orange", "true"}}, []string{"health.0.is: 1: no colour orange (red, yellow, green)"}},
		"ends":                  {"x: tasks.", nil, []string{"fields.x: 7: not an expression: expected identifier after '.'"}},
		"twice":                 {"x: 1\nx: 2", nil, []string{"fields.x: 1: repeated field"}},
		"all faults":            {"x: a\ny: b", rules{{"red", "c"}}, []string{"fields.x: 1: no variable a (tasks, failed, input, fields)", "fields.y: 1: no variable b (tasks, failed, input, fields)", "health.0.when: 1: no variable c (tasks, failed, input, fields)"}},
		"int and double differ": {"x: tasks.orders.observation.count * 1.5", nil, []string{"fields.x: 32: tasks.orders.observation.count is int and 1.5 is double; they cannot be mixed; write double(tasks.orders.observation.count)"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a, faults := policy.NewAggregate(aggregateOf(t, namedLines(tt.fields), tt.health...))
			if got := inMembers(faults); !reflect.DeepEqual(got, tt.want) || a != nil {
				t.Errorf("NewAggregate: %t, %q, want %q", a != nil, got, tt.want)
			}
		})
	}
	var many []policy.Named
	for i := range policy.MaxFields + 2 {
		many = append(many, policy.Named{Name: fmt.Sprint("f", i), Text: "1"})
	}
	if _, faults := policy.NewAggregate(aggregateOf(t, many)); len(faults) != 1 || faults[0].Reason != "more than 50 fields" {
		t.Errorf("52 fields: %v", faults)
	}
}

// TestReroute holds when a route declines; what errs is a no.
func TestReroute(t *testing.T) {
	for name, tt := range map[string]struct {
		text        string
		typed       bool
		observation any
		want        bool
	}{
		"yes":          {`result.status == "needs_reroute"`, false, map[string]any{"status": "needs_reroute"}, true},
		"no":           {`result.status == "needs_reroute"`, false, map[string]any{"status": "done"}, false},
		"absent":       {`result.status == "needs_reroute"`, false, map[string]any{}, false},
		"absent, not":  {`result.status != "done"`, false, map[string]any{}, false},
		"a text":       {`result.status == "needs_reroute"`, false, "needs_reroute", false},
		"a text, read": {`result == "no"`, false, "no", true},
		"typed":        {`result.cents > 100`, true, map[string]any{"status": "paid", "id": "r", "cents": 101.0}, true},
		"misfit":       {`result.cents > 100`, true, map[string]any{"status": "paid", "id": "r", "cents": "many"}, false},
		"no value":     {`result.n / 0.0 > 1.0`, false, map[string]any{"n": math.NaN()}, false},
	} {
		t.Run(name, func(t *testing.T) {
			schema := compiled(t, foundSchema)
			if !tt.typed {
				schema = nil
			}
			declines, faults := policy.NewReroute(tt.text, schema)
			if declines == nil || len(faults) > 0 {
				t.Fatalf("NewReroute: %v", inMembers(faults))
			}
			if got := declines(tt.observation); got != tt.want {
				t.Errorf("%s of %v: %t", tt.text, tt.observation, got)
			}
		})
	}
	for text, want := range map[string]string{
		`result.stat == "x"`: ": 8: result has no member stat (status, id, cents)",
		`result.cents`:       ": 1: int, but bool is needed",
		`results.cents > 1`:  ": 1: no variable results (result); did you mean result?",
		`true`:               ": 1: reads nothing of result, so it says the same for every call (warning)",
	} {
		declines, faults := policy.NewReroute(text, compiled(t, foundSchema))
		if got := inMembers(faults); len(got) != 1 || got[0] != want || (declines != nil) != strings.HasSuffix(want, "(warning)") {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzJoin joins anything by any text: it never panics, says the same again, and what it makes is bounded and decoded.
func FuzzJoin(f *testing.F) {
	for _, seed := range []string{
		"tasks.orders.observation.count", "failed.map(f, f.id)", "fields.a + input.region", "tasks.other.observation.x[0]", `b"\xff"`, "0.0/0.0", "1u", "tasks", "failed",
		`lists.range(20000)`, `timestamp("2026-01-01T00:00:00Z") - timestamp(tasks.orders.observation.at)`, `{"a": tasks.refund.observation}`, "type(1)", "tasks.?other.?id", "null",
	} {
		f.Add(seed, `{"count": 1, "at": "2026-01-31T10:00:00Z"}`)
	}
	f.Fuzz(func(t *testing.T, text, observed string) {
		fields := []policy.Named{{"a", "1"}, {"b", text}, {"c", "fields.b"}}
		a, _ := policy.NewAggregate(aggregateOf(t, fields, policy.HealthRule{Is: "red", When: text}))
		if a == nil {
			var faults []expr.Fault
			if a, faults = policy.NewAggregate(aggregateOf(t, fields)); a == nil {
				for _, fault := range faults {
					checkPlace(t, text, fault)
				}
				return
			}
		}
		observation, err := ijson.Decode([]byte(observed))
		if err != nil {
			observation = observed
		}
		tasks := someTasks()
		tasks[0].Observation, tasks[3] = observation, policy.TaskResult{ID: "t4", Worker: "other", Done: true, Observation: observation}
		got := a.Join(map[string]any{"region": "EU"}, tasks)
		if same := a.Join(map[string]any{"region": "EU"}, tasks); !reflect.DeepEqual(got, same) {
			t.Fatalf("%q: %+v, then %+v", text, got, same)
		}
		made, bad := ijson.AppendChecked(nil, got.Fields)
		if bad != nil || len(made) > 66<<10 || len(got.Fields)+len(got.Missing) != len(fields) {
			t.Fatalf("%q: %+v: %v", text, got, bad)
		}
		for _, e := range got.Errors {
			if len(e.Reason) > 300 || e.Reason == "" {
				t.Fatalf("%q: %+v", text, e)
			}
		}
	})
}

func namedLines(text string) []policy.Named {
	var all []policy.Named
	for line := range strings.Lines(text) {
		name, is, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		all = append(all, policy.Named{Name: name, Text: is})
	}
	return all
}

func joinedText(t *testing.T, j policy.Joined) string {
	t.Helper()
	errs, err := json.Marshal(j.Errors)
	if err != nil {
		t.Fatal(err)
	}
	missing, err := json.Marshal(j.Missing)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"fields":%s,"missing":%s,"health":%q,"errors":%s}`, ijson.Canonical(j.Fields), missing, j.Health, errs)
}
