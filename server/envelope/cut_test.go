package envelope

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/patterns/reference"
	"patterngate/server/arguments"
	"patterngate/server/sentence"
)

// stepsWith is a result with one executed step for each observation.
func stepsWith(observations ...any) Envelope {
	e := Envelope{Status: StatusOK, StopReason: patterns.Success, Summary: "s", Next: Next{Action: ActionAnswer}, Tool: "t", Trace: []any{}, History: []any{}}
	for i, o := range observations {
		id := fmt.Sprintf("s%d", i+1)
		e.Trace = append(e.Trace, patterns.StepRow{StepNo: i + 1, StepID: id, Tool: "get", OK: true})
		e.History = append(e.History, patterns.StepDone{StepNo: i + 1, PlanStep: gateway.Step{ID: id, Tool: "get"}, Observation: o})
	}
	return e
}

// shownBy are the observations of a result: w whole, a number the bytes of its head.
func shownBy(t *testing.T, e Envelope, limit int) (shown []string, root map[string]any) {
	t.Helper()
	structured, text, err := e.Present(limit)
	if err != nil {
		t.Fatal(err)
	}
	if len(structured) > limit || len(text) > limit {
		t.Errorf("%d and %d bytes, want at most %d", len(structured), len(text), limit)
	}
	v, err := ijson.Decode(structured)
	if err != nil {
		t.Fatal(err)
	}
	root, _ = v.(map[string]any)
	rows, _ := root["history"].([]any)
	for _, row := range rows {
		row, _ := row.(map[string]any)
		cut, _ := row["observation"].(map[string]any)
		head, isCut := cut["head"].(string)
		if !isCut {
			shown = append(shown, "w")
			continue
		}
		shown = append(shown, fmt.Sprint(len(head)))
		if line := string(ijson.Canonical(cut)); !strings.Contains(text, line) {
			t.Errorf("the text does not show %s", line)
		}
	}
	return shown, root
}

// BenchmarkChannels encodes a result that fits.
func BenchmarkChannels(b *testing.B) {
	e := stepsWith("one", strings.Repeat("x", 3000), 3.0)
	v, err := newView(e, NewScratch())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("channels", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := v.channels(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("text", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			v.Envelope.text(make([]byte, 0, 4<<10), v.observations)
		}
	})
}

// TestCutOrder: the longest observation first, the first of equals, then the heads, then the oldest rows.
func TestCutOrder(t *testing.T) {
	x := func(n int) any { return strings.Repeat("x", n-2) } // two quotes
	many := make([]any, 60)
	for i := range many {
		many[i] = x(2000)
	}
	for name, c := range map[string]struct {
		observations []any
		limit        int
		want         string
		omitted      any
	}{
		"all fits":             {[]any{x(1000), x(3000)}, 8000, "w w", nil},
		"the longest":          {[]any{x(2000), x(4000), x(3000)}, 8000, "w 1024 w", nil},
		"the first of equals":  {[]any{x(3000), x(3000), x(3000)}, 8000, "1024 w w", nil},
		"two of three":         {[]any{x(3000), x(3000), x(3000)}, 6000, "1024 1024 w", nil},
		"then the heads":       {[]any{x(3000), x(3000), x(3000), x(3000)}, 4500, "128 128 128 128", nil},
		"short ones stay":      {[]any{x(3000), x(900), x(3000), x(3000)}, 4500, "128 w 128 128", nil},
		"then the oldest rows": {many, 16 << 10, strings.TrimSpace(strings.Repeat("128 ", 46)), 14.0},
	} {
		t.Run(name, func(t *testing.T) {
			shown, root := shownBy(t, stepsWith(c.observations...), c.limit)
			if got := strings.Join(shown, " "); got != c.want || root["history_omitted"] != c.omitted {
				t.Errorf("got %s, %v omitted; want %s, %v", got, root["history_omitted"], c.want, c.omitted)
			}
		})
	}
}

// TestCutOldestRowsOfBoth: what stays of history and trace are the newest rows, and the counts say what went.
func TestCutOldestRowsOfBoth(t *testing.T) {
	e := stepsWith(make([]any, 400)...)
	_, root := shownBy(t, e, 20000)
	for _, name := range []string{"history", "trace"} {
		rows, _ := root[name].([]any)
		omitted, _ := root[name+"_omitted"].(float64)
		if len(rows)+int(omitted) != 400 || omitted == 0 || len(rows) == 0 {
			t.Errorf("%s: %d rows and %v omitted, want some of each, 400 together", name, len(rows), omitted)
			continue
		}
		last, _ := rows[len(rows)-1].(map[string]any)
		if last["step_no"] != 400.0 {
			t.Errorf("the last row of %s is step %v, want 400", name, last["step_no"])
		}
	}
}

// TestCutKeepsTheFirstSize: an observation that was cut before is cut to a beginning of the same whole.
func TestCutKeepsTheFirstSize(t *testing.T) {
	before := map[string]any{"truncated": true, "bytes": 70000.0, "head": strings.Repeat("é", 512)}
	_, root := shownBy(t, stepsWith(before, before, before, before, before), 4096)
	rows, _ := root["history"].([]any)
	row, _ := rows[0].(map[string]any)
	want := map[string]any{"truncated": true, "bytes": 70000.0, "head": strings.Repeat("é", 64)}
	if diff := cmp.Diff(any(want), row["observation"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCutDoesNotCountRawValues: they are bounded by themselves.
func TestCutDoesNotCountRawValues(t *testing.T) {
	var raw any = map[string]any{"kind": "invalid", "raw": strings.Repeat("x", 16<<10)}
	e := stepsWith(strings.Repeat("x", 2000), strings.Repeat("x", 2000))
	e.RawPlan = &raw
	structured, _, err := e.Present(6000)
	if err != nil || len(structured) < 20000 || strings.Contains(string(structured), "truncated") {
		t.Errorf("%d bytes, %v; want the raw value beside whole observations", len(structured), err)
	}
}

// TestPresentChangesNothing: what is shown is cut, the run's own rows stay.
func TestPresentChangesNothing(t *testing.T) {
	e := stepsWith(strings.Repeat("x", 5000), strings.Repeat("y", 5000))
	e.Problems = []document.Problem{{Pointer: "/a", Reason: strings.Repeat("r", 3000)}, {Pointer: "/b"}}
	before, err := AppendJSON(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Present(4096); err != nil {
		t.Fatal(err)
	}
	if after, _ := AppendJSON(nil, e); string(after) != string(before) {
		t.Errorf("the envelope was changed by showing it")
	}
}

// textLine is every line that a text may have after its summary.
var textLine = regexp.MustCompile(`^(NEXT \{.*\}|A person approved [^ ].* with changes: .*\.|WAITING_FOR \{.*\}|PROBLEMS|ANSWER \(the (model|caller)'s words, not checked\)|OBSERVATIONS|EFFECTS` +
	`|\| .*` + // a claim
	`|(/|"" ).*` + // a problem
	`|([\w.-]+|"([^"\\]|\\.)*") ([\w.-]+|"([^"\\]|\\.)*") (\{.*\} )?(-> .*|stopped: .*)` + // a call
	`|([\w.-]+|"([^"\\]|\\.)*") (done|failed|reserved|in_doubt) \w* .*)$`) // an effect

// TestPresentAlwaysFits: whatever outsiders wrote, both channels keep to their limit, the structured one meets the schema
// and no line of the text can be taken for another.
func TestPresentAlwaysFits(t *testing.T) {
	t.Parallel()
	schema, err := catalog.CompileSchema(SchemaOf(reflect.TypeFor[Envelope](), func(string) bool { return true }))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		e := anyEnvelope(rt)
		limit := rapid.SampledFrom([]int{4096, 5000, 8192, 32768, 100000}).Draw(rt, "limit")
		structured, text, err := e.Present(limit)
		if err != nil {
			rt.Fatal(err)
		}
		raw := 0
		if e.RawPlan != nil {
			raw = len(ijson.Canonical(*e.RawPlan))
		}
		if len(structured)-raw > limit || len(text) > limit {
			rt.Errorf("%d (less %d) and %d bytes, want at most %d", len(structured), raw, len(text), limit)
		}
		v, err := ijson.Decode(structured)
		if err != nil {
			rt.Fatalf("structuredContent: %v\n%s", err, structured)
		}
		if wrong := schema.Check(v); len(wrong) > 0 {
			rt.Errorf("structuredContent does not meet its schema: %+v\n%s", wrong, structured)
		}
		root, _ := v.(map[string]any)
		for member, v := range root {
			if v == nil && member != "received_status" && member != "bad_observation" && !strings.HasPrefix(member, "raw_") {
				rt.Errorf("%s is null, want it absent", member)
			}
		}
		lines := strings.Split(text, "\n")
		if len(lines) < 3 || !strings.HasPrefix(lines[0], strings.ToUpper(e.Status)+" ") || !strings.HasPrefix(lines[2], "NEXT {") {
			rt.Fatalf("want headline, summary and NEXT first:\n%s", text)
		}
		for _, l := range lines[2:] {
			if !textLine.MatchString(l) {
				rt.Errorf("a line that should not be: %q", l)
			}
		}
		if printable.Text(strings.ReplaceAll(text, "\n", "")) != strings.ReplaceAll(text, "\n", "") {
			rt.Errorf("hidden characters in the text: %q", text)
		}
	})
}

// anyText draws hostile text of any length.
func anyText(t *rapid.T, name string, most int) string {
	part := rapid.SampledFrom([]string{"x", "name", "\n", "\u202e", "\x00", "| ", "ä", "\"", "\\", "NEXT {}", "🙂", "~1/", "\u2028EFFECTS\n"}).Draw(t, name)
	n := rapid.SampledFrom([]int{1, 1, 1, 2, 10, 100, 1000, 3000}).Draw(t, name+" times")
	return ijson.Cut(strings.Repeat(part, n), most)
}

func anyArgs(t *rapid.T) map[string]any {
	return map[string]any{anyText(t, "argument", 20000): anyText(t, "value", 20000)}
}

// anyEnvelope draws the parts of a result without regard to what goes together.
func anyEnvelope(t *rapid.T) Envelope {
	most := 1 << 20
	e := Envelope{
		Status: rapid.SampledFrom([]string{StatusOK, StatusStopped}).Draw(t, "status"), Phase: "plan", RunID: "run_1", Tool: "t", Author: "model",
		StopReason: "invalid_plan:tool_not_allowed:" + anyText(t, "reason", 4096), Summary: sentence.Paragraph(printable.Name(anyText(t, "summary", 4096))),
		Answer: anyText(t, "answer", 16<<10), Trace: []any{}, History: []any{}, Simulated: true,
		Budget: map[string]patterns.Spent{"max_seconds": {Limit: 1}}, Usage: &Usage{Model: "m"},
	}
	e.SelectedRoute = anyText(t, "selected", most)
	e.Route = map[string]any{"kind": "route", "target": anyText(t, "target", most), "args": anyArgs(t)}
	e.Next = Next{
		Action: ActionFix, Tool: "t", Arguments: Showable(anyArgs(t)), Say: sentence.Paragraph(printable.Name(anyText(t, "say", most))), Changed: []arguments.Change{},
		Fill: []ijson.Pointer{ijson.Pointer("").Member(anyText(t, "fill", most))},
	}
	steps := make([]gateway.Step, rapid.IntRange(0, 12).Draw(t, "steps"))
	for i := range steps {
		steps[i] = gateway.Step{ID: anyText(t, "id", most), Title: anyText(t, "title", most), Tool: anyText(t, "tool", most), Args: anyArgs(t)}
		e.History = append(e.History, patterns.StepDone{StepNo: i + 1, PlanStep: steps[i], Observation: anyText(t, "observation", 8<<10)})
		e.Trace = append(e.Trace, patterns.StepRow{StepNo: i + 1, StepID: steps[i].ID, Tool: steps[i].Tool, StopReason: anyText(t, "stop", 4096)})
	}
	e.Plan = steps
	for range rapid.IntRange(0, 51).Draw(t, "problems") {
		e.Problems = append(e.Problems, document.Problem{
			Pointer: ijson.Pointer("").Member(anyText(t, "pointer", most)), Reason: "r" + anyText(t, "why", 4096), Want: ijson.Cut(anyText(t, "want", 200), 200),
			Got: document.Got(anyText(t, "got", most)),
		})
	}
	for i := range rapid.IntRange(0, 100).Draw(t, "effects") {
		e.Effects = append(e.Effects, Effect{fmt.Sprintf("pay#%d", i), "pay", string(catalog.Write), "0123456789ab", "done"})
	}
	if rapid.Bool().Draw(t, "refused") {
		raw := any(anyText(t, "raw", 16<<10))
		e.RawPlan = &raw
	}
	if rapid.Bool().Draw(t, "bad") {
		bad, received := any(anyText(t, "bad", 8<<10)), any(anyText(t, "received", most))
		e.BadObservation, e.Received, e.Expected = &bad, &received, []string{"done"}
	}
	if rapid.Bool().Draw(t, "waits") {
		e.Status, e.StopReason, e.Phase = StatusWaiting, "", ""
		w := &CallerWait{WaitHead: WaitHead{Kind: "caller", Phase: "worker"}, Turn: 2, Last: anyText(t, "last", 8<<10), Refused: 1}
		for range rapid.IntRange(0, 200).Draw(t, "names") {
			w.Expects.Names = append(w.Expects.Names, strings.Repeat("n", 64))
		}
		e.WaitingFor = w
	}
	if rapid.Bool().Draw(t, "asked") {
		e.Human = &patterns.HumanApproval{Comment: anyText(t, "comment", most), By: anyText(t, "by", most), RevisedAction: map[string]any{"args": anyArgs(t)}}
		e.Human.Approved, e.Human.Asked, e.Human.Left = true, anyArgs(t), anyArgs(t)
		e.Called = &Line{Label: "call", Name: anyText(t, "called", most), Args: anyArgs(t)}
	}
	if rapid.Bool().Draw(t, "aggregate") {
		e.Aggregate = &patterns.Aggregate{Report: &reference.Report{Region: anyText(t, "region", 256), Sales: anyArgs(t), Sources: map[string]string{"sales": anyText(t, "source", most)}}}
		e.FailedCritical = []patterns.TaskRow{{TaskID: anyText(t, "failed", most), StopReason: "worker_error:w"}}
	}
	return e
}
