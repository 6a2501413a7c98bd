package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// toolNamed is one of the built-in tools.
func toolNamed(t testing.TB, s *Server, name string) *tool {
	t.Helper()
	for _, tool := range s.tools {
		if tool.Spec.Name == name {
			return tool
		}
	}
	t.Fatalf("no tool %s", name)
	return nil
}

const (
	td = "run_task_decomposition"
	or = "run_orchestrator"
	rt = "route_ticket"
	sv = "supervised_refund"
)

// Every fault of the arguments, in the contract's order (spec/surface.md section 2).
func TestRefusedRequests(t *testing.T) {
	long := strings.Repeat("x", 16<<10) + "é"
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	tests := map[string]struct {
		tool, arguments string
		want            []string // reason, pointer and got of each problem
	}{
		"nothing":            {td, ``, []string{"missing:goal /goal"}},
		"null":               {td, `null`, []string{"missing:goal /goal"}},
		"empty":              {td, `{}`, []string{"missing:goal /goal"}},
		"array":              {td, `[1]`, []string{"type:arguments  [1]"}},
		"text":               {td, `"{}"`, []string{`type:arguments  "{}"`}},
		"number":             {td, `4`, []string{"type:arguments  4"}},
		"blank":              {td, `{"goal":" \t\u2003"}`, []string{`missing:goal /goal " \t` + "\u2003" + `"`}},
		"goal null":          {td, `{"goal":null}`, []string{"missing:goal /goal"}},
		"unknown":            {td, `{"goal":"x","gaol":"y"}`, []string{`unknown_field:gaol /gaol "y"`}},
		"unknown null":       {td, `{"goal":"x","more":null}`, []string{`unknown_field:more /more null`}},
		"unknown by name":    {td, `{"z":1,"goal":"x","a":2}`, []string{"unknown_field:a /a 2", "unknown_field:z /z 1"}},
		"unknown odd name":   {td, `{"goal":"x","a/b~c":1}`, []string{"unknown_field:a/b~c /a~1b~0c 1"}},
		"empty name":         {td, `{"goal":"x","":1}`, []string{"unknown_field: / 1"}},
		"case counts":        {td, `{"Goal":"x"}`, []string{`unknown_field:Goal /Goal "x"`, "missing:goal /goal"}},
		"of another tool":    {rt, `{"ticket":"x","plan":{}}`, []string{"unknown_field:plan /plan {}"}},
		"of a later version": {sv, `{"goal":"x","run_id":"run_1","input":true}`, []string{"unknown_field:input /input true", `not_found:run_id /run_id "run_1"`}},
		"finalize of refund": {sv, `{"goal":"x","finalize":true}`, []string{"unknown_field:finalize /finalize true"}},
		"goal a number":      {td, `{"goal":5}`, []string{"type:goal /goal 5"}},
		"goal an object":     {td, `{"goal":{}}`, []string{"type:goal /goal {}"}},
		"finalize a text":    {td, `{"goal":"x","finalize":"true"}`, []string{`type:finalize /finalize "true"`}},
		"finalize a number":  {td, `{"goal":"x","finalize":1}`, []string{"type:finalize /finalize 1"}},
		"plan a number":      {td, `{"goal":"x","plan":7}`, []string{"type:plan /plan 7"}},
		"plan false":         {td, `{"goal":"x","plan":false}`, []string{"type:plan /plan false"}},
		"plan no JSON":       {td, `{"goal":"x","plan":"look it up"}`, []string{`type:plan /plan "look it up"`}},
		"plan empty text":    {td, `{"goal":"x","plan":""}`, []string{`type:plan /plan ""`}},
		"plan cut":           {td, `{"goal":"x","plan":"{\"steps\":["}`, []string{`type:plan /plan/steps "{\"steps\":["`}},
		"plan repeats":       {td, `{"goal":"x","plan":"{\"a\":1,\"a\":2}"}`, []string{`type:plan /plan/a "{\"a\":1,\"a\":2}"`}},
		"plan too deep":      {td, `{"goal":"x","plan":"` + deep + `"}`, []string{`limit:plan /plan` + strings.Repeat("/0", 64) + ` "` + deep + `"`}},
		"plan 1e400":         {td, `{"goal":"x","plan":"{\"a\":1e400}"}`, []string{`limit:plan /plan/a "{\"a\":1e400}"`}},
		"route a number":     {rt, `{"ticket":"x","route":1.5}`, []string{"type:route /route 1.5"}},
		"actions an object":  {sv, `{"goal":"x","actions":{}}`, []string{"type:actions /actions {}"}},
		"actions true":       {sv, `{"goal":"x","actions":true}`, []string{"type:actions /actions true"}},
		"actions no JSON":    {sv, `{"goal":"x","actions":"refund"}`, []string{`type:actions /actions "refund"`}},
		"actions text of {}": {sv, `{"goal":"x","actions":"{}"}`, []string{`type:actions /actions "{}"`}},
		"goal too large":     {td, `{"goal":"` + long + `"}`, []string{"too_large:goal /goal " + string(document.Got(long))}},
		"ticket too large":   {rt, `{"ticket":"` + long + `"}`, []string{"too_large:ticket /ticket " + string(document.Got(long))}},
		"date too large":     {or, `{"goal":"x","report_date":"` + long[:257] + `","region":"US"}`, []string{"too_large:report_date /report_date " + string(document.Got(long[:257]))}},
		"repeated":           {td, `{"goal":"x","goal":"y"}`, []string{"type:goal /goal"}},
		"repeated below":     {td, `{"goal":"x","plan":{"steps":[{"id":"a","id":"b"}]}}`, []string{"type:plan /plan/steps/0/id"}},
		"too deep":           {td, `{"goal":"x","plan":` + deep + `}`, []string{"limit:plan /plan" + strings.Repeat("/0", 63)}},
		"integer range":      {sv, `{"goal":"x","actions":[{"args":{"user_id":9007199254740992}}]}`, []string{"limit:actions /actions/0/args/user_id"}},
		"number range":       {td, `{"goal":1e400}`, []string{"limit:goal /goal"}},
		"surrogate":          {td, `{"goal":"\ud800"}`, []string{"type:goal /goal"}},
		"not UTF-8":          {td, "{\"goal\":\"\xff\"}", []string{"type:goal /goal"}},
		"repeated unknown":   {td, `{"x":1,"x":2}`, []string{"type:x /x"}},
		"all of orchestrator": {or, `{}`, []string{
			"missing:goal /goal", "missing:report_date /report_date", "missing:region /region",
		}},
		"class by class": {or, `{"zz":1,"goal":"` + long + `","report_date":5,"plan":"x","finalize":0}`, []string{
			"unknown_field:zz /zz 1", "missing:region /region", "type:report_date /report_date 5", `type:plan /plan "x"`,
			"type:finalize /finalize 0", "too_large:goal /goal " + string(document.Got(long)),
		}},
		"type before limit": {or, `{"goal":1,"report_date":"d","region":"r","plan":"[1e400]"}`, []string{
			"type:goal /goal 1", `limit:plan /plan/0 "[1e400]"`,
		}},
	}
	s := serving(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, problems := toolNamed(t, s, tt.tool).take(json.RawMessage(tt.arguments), "")
			var got []string
			for _, p := range problems {
				got = append(got, strings.TrimSuffix(fmt.Sprintf("%s %s %s", p.Reason, p.Pointer, p.Got), " "))
				if p.Want == "" || len(p.Want) > 200 {
					t.Errorf("%s: want %q", p.Reason, p.Want)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("take(%.200s) (-want +got):\n%s", tt.arguments, diff)
			}
		})
	}
}

// A call as a whole is bounded, whatever is in it.
func TestTooLargeCall(t *testing.T) {
	tool := toolNamed(t, serving(t), td)
	fits := `{"goal":"x","plan":"{}` + strings.Repeat(" ", ijson.MaxBytes-24) + `"}`
	for name, tt := range map[string]struct{ arguments, want string }{
		"as large as may be": {fits, ""},
		"one byte more":      {" " + fits, "too_large:arguments"},
		"no JSON either":     {strings.Repeat("é", ijson.MaxBytes), "too_large:arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := tool.take(json.RawMessage(tt.arguments), "")
			got := ""
			if len(problems) > 0 {
				got = problems[0].Reason
			}
			if got != tt.want || len(problems) > 1 {
				t.Fatalf("take of %d bytes: %v, want %q", len(tt.arguments), problems, tt.want)
			}
			if got != "" && (!json.Valid(problems[0].Got) || len(problems[0].Got) > 300) {
				t.Errorf("got is %s", problems[0].Got)
			}
		})
	}
}

// A repair is offered where it is sure, and names are suggested.
func TestRequestRepairs(t *testing.T) {
	tests := map[string]struct {
		arguments  string
		fix        *document.Fix
		didYouMean string
	}{
		"a number for a text":     {`{"goal":42}`, &document.Fix{At: "/goal", Value: "42"}, ""},
		"true as a text":          {`{"goal":"x","finalize":"true"}`, &document.Fix{At: "/finalize", Value: true}, ""},
		"no truth at all":         {`{"goal":"x","finalize":"maybe"}`, nil, ""},
		"an object for a text":    {`{"goal":{}}`, nil, ""},
		"a near name":             {`{"goal":"x","finalise":true}`, nil, "finalize"},
		"a name in other case":    {`{"goal":"x","FINALIZE":true}`, nil, "finalize"},
		"a name far from any":     {`{"goal":"x","budget":1}`, nil, ""},
		"nothing where a goal is": {`{}`, nil, ""},
	}
	tool := toolNamed(t, serving(t), td)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, problems := tool.take(json.RawMessage(tt.arguments), "")
			if len(problems) == 0 {
				t.Fatalf("take(%s) found nothing", tt.arguments)
			}
			if diff := cmp.Diff(tt.fix, problems[0].Fix); diff != "" {
				t.Errorf("take(%s): fix (-want +got):\n%s", tt.arguments, diff)
			}
			if problems[0].DidYouMean != tt.didYouMean {
				t.Errorf("take(%s): did you mean %q, want %q", tt.arguments, problems[0].DidYouMean, tt.didYouMean)
			}
		})
	}
}

// What fits becomes a task, with the intents where they were sent.
func TestTakenRequests(t *testing.T) {
	type task struct {
		Goal     string
		Inputs   patterns.Inputs
		Caller   []string // pointer and value; nil: the model proposes
		Finalize bool
		WasText  bool
	}
	tests := map[string]struct {
		tool, arguments string
		configured      bool
		want            task
	}{
		"goal alone":               {td, `{"goal":" x "}`, false, task{Goal: " x ", Finalize: true}},
		"declined":                 {td, `{"goal":"x","finalize":false}`, true, task{Goal: "x"}},
		"nulls are absent":         {td, `{"goal":"x","plan":null,"finalize":null}`, false, task{Goal: "x", Finalize: true}},
		"a plan by rules":          {td, `{"goal":"x","plan":{"a":1.0}}`, false, task{Goal: "x", Caller: []string{`/plan {"a":1}`}}},
		"a plan, model set up":     {td, `{"goal":"x","plan":{}}`, true, task{Goal: "x", Caller: []string{`/plan {}`}, Finalize: true}},
		"a plan, final text":       {td, `{"goal":"x","plan":{},"finalize":true}`, false, task{Goal: "x", Caller: []string{`/plan {}`}, Finalize: true}},
		"a plan as text":           {td, `{"goal":"x","plan":" {\"steps\":[]} "}`, false, task{Goal: "x", Caller: []string{`/plan {"steps":[]}`}, WasText: true}},
		"an array is the gate's":   {td, `{"goal":"x","plan":[1]}`, false, task{Goal: "x", Caller: []string{`/plan [1]`}}},
		"so is a text of a number": {td, `{"goal":"x","plan":"42"}`, false, task{Goal: "x", Caller: []string{`/plan 42`}, WasText: true}},
		"orchestrator": {or, `{"goal":"x","report_date":" 2026-02-26","region":"us","plan":{}}`, false, task{
			Goal: "x", Inputs: patterns.Inputs{"report_date": " 2026-02-26", "region": "us"}, Caller: []string{`/plan {}`},
		}},
		"routing":               {rt, `{"ticket":"t","route":{"target":"x"}}`, false, task{Goal: "t", Caller: []string{`/route {"target":"x"}`}}},
		"actions":               {sv, `{"goal":"x","actions":[{"a":1},"b"]}`, false, task{Goal: "x", Caller: []string{`/actions/0 {"a":1}`, `/actions/1 "b"`}}},
		"actions as text":       {sv, `{"goal":"x","actions":"[{}]"}`, true, task{Goal: "x", Caller: []string{`/actions/0 {}`}, Finalize: true, WasText: true}},
		"actions that are over": {sv, `{"goal":"x","actions":[]}`, false, task{Goal: "x", Caller: []string{}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, problems := toolNamed(t, serving(t), tt.tool).take(json.RawMessage(tt.arguments), "")
			if len(problems) > 0 {
				t.Fatalf("take(%s): %v", tt.arguments, problems)
			}
			taken := c.Task(tt.configured)
			got := task{Goal: taken.Goal, Inputs: taken.Inputs, Finalize: taken.Finalize}
			if taken.Caller != nil {
				got.Caller = []string{}
			}
			for _, in := range taken.Caller {
				got.Caller = append(got.Caller, fmt.Sprintf("%s %s", in.At, ijson.Canonical(in.Value())))
			}
			for _, was := range c.IntentWas {
				got.WasText = was
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("task of %s (-want +got):\n%s", tt.arguments, diff)
			}
			if c.Proposes != (tt.want.Caller != nil) {
				t.Errorf("take(%s): by the caller %v", tt.arguments, c.Proposes)
			}
		})
	}
}

// Whatever comes is taken or refused with words, and what is taken is what was sent.
func FuzzTake(f *testing.F) {
	for _, seed := range []string{goodCall, `{"goal":"x"}`, `[]`, `{"plan":"{}"}`, `{"goal":"x","finalize":"true"}`, `{"":{"":1}}`, "{\"goal\":\"\x80\"}"} {
		f.Add(0, []byte(seed))
		f.Add(3, []byte(seed))
	}
	s := serving(f)
	f.Fuzz(func(t *testing.T, which int, raw []byte) {
		tool := s.tools[uint(which)%uint(len(s.tools))]
		c, problems := tool.take(raw, "")
		for _, p := range problems {
			family, _, _ := strings.Cut(p.Reason, ":")
			if !strings.Contains(" unknown_field missing type limit too_large more ", " "+family+" ") || p.Got != nil && !json.Valid(p.Got) {
				t.Fatalf("take(%q): problem %+v", raw, p)
			}
		}
		if len(problems) > 0 {
			return
		}
		v, err := ijson.Decode(raw)
		if err != nil || !ijson.Equal(v, c.Arguments) {
			t.Fatalf("take(%q) took %v", raw, c.Arguments)
		}
		if c.Task(false).Goal == "" {
			t.Fatalf("take(%q) has no goal", raw)
		}
	})
}
