package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
)

// reader is an upstream's tool as a configuration narrows it.
func reader(t testing.TB) catalog.Tool {
	t.Helper()
	whole := upstream(t, `{"type":"object","properties":{"path":{"type":"string","maxLength":20},"root":{"type":"string"},"head":{"type":"integer"}},"required":["path","root"],"additionalProperties":false}`)
	bounds, wrong := catalog.CompileBounds(json.RawMessage(`{"path":{"pattern":"^/srv/"},"head":{"type":"integer","default":10,"maximum":50}}`))
	if wrong != nil {
		t.Fatal(faults(wrong))
	}
	input, wrong := whole.Shown().Without("root").Bounded(bounds)
	if wrong != nil {
		t.Fatal(faults(wrong))
	}
	return catalog.Tool{
		Name: "read", Effect: catalog.Read, Input: input, Also: []*catalog.Schema{whole}, Fixed: map[string]any{"root": "/"},
		Defaults: catalog.BoundDefaults(bounds), Do: func(context.Context, catalog.Call) (any, error) { return nil, nil },
	}
}

func TestToolCheck(t *testing.T) {
	tests := map[string]struct {
		args map[string]any
		want []catalog.Mismatch
	}{
		"fits":        {map[string]any{"path": "/srv/a"}, nil},
		"nothing":     {nil, []catalog.Mismatch{{Pointer: "/path", Kind: catalog.MismatchMissing, Want: "a text that matches ^/srv/"}}},
		"a fixed one": {map[string]any{"path": "/srv/a", "root": "/"}, []catalog.Mismatch{{Pointer: "/root", Kind: catalog.MismatchUnknown, Want: "one of path, head"}}},
		"fixed, unknown, outside": {map[string]any{"path": "/etc", "root": 1.0, "x": 1.0}, []catalog.Mismatch{
			{Pointer: "/root", Kind: catalog.MismatchUnknown, Want: "one of path, head"}, {Pointer: "/x", Kind: catalog.MismatchUnknown, Want: "one of path, head"},
			{Pointer: "/path", Kind: catalog.MismatchValue, Want: "a text that matches ^/srv/"}}},
		"outside the bound":    {map[string]any{"path": "/srv/a", "head": 51.0}, []catalog.Mismatch{{Pointer: "/head", Kind: catalog.MismatchValue, Want: "at most 50"}}},
		"outside the server's": {map[string]any{"path": "/srv/" + strings.Repeat("a", 20)}, []catalog.Mismatch{{Pointer: "/path", Kind: catalog.MismatchValue, Want: "at most 20 characters"}}},
		"another type, once":   {map[string]any{"path": 1.0}, []catalog.Mismatch{{Pointer: "/path", Kind: catalog.MismatchType, Want: "string"}}},
	}
	tool := reader(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := fmt.Sprint(tt.args)
			if diff := cmp.Diff(tt.want, tool.Check(tool.Filled(tt.args))); diff != "" {
				t.Errorf("Check(%v) (-want +got):\n%s", tt.args, diff)
			}
			if fmt.Sprint(tt.args) != before {
				t.Errorf("Check changed its arguments to %v", tt.args)
			}
		})
	}
}

func TestFilledWholeProposed(t *testing.T) {
	tool := reader(t)
	args := map[string]any{"path": "/srv/a"}
	filled := tool.Filled(args)
	whole := tool.Whole(filled)
	if diff := cmp.Diff(map[string]any{"path": "/srv/a", "head": 10.0, "root": "/"}, whole); diff != "" || len(args) != 1 || len(filled) != 2 {
		t.Errorf("Whole(Filled) of %v (-want +got):\n%s", args, diff)
	}
	if again := tool.Filled(map[string]any{"head": 3.0}); again["head"] != 3.0 {
		t.Errorf("Filled put a default over what was given: %v", again)
	}
	if back, same := tool.Proposed(whole); !same || cmp.Diff(filled, back) != "" || len(whole) != 3 {
		t.Errorf("Proposed(%v) = %v, %v", whole, back, same)
	}
	for _, changed := range []map[string]any{{"root": "/etc"}, {}} {
		if back, same := tool.Proposed(changed); same || len(back) != len(changed) {
			t.Errorf("Proposed(%v) = %v, %v, want it refused and kept", changed, back, same)
		}
	}
	var bare catalog.Tool
	if got := bare.Whole(bare.Filled(nil)); got != nil {
		t.Errorf("a tool that sets nothing made %v of nothing", got)
	}
}

func TestNewRefusesWhatIsDeclaredWrong(t *testing.T) {
	tests := map[string]struct {
		change func(*catalog.Tool)
		want   string
	}{
		"a result of -1":            {func(t *catalog.Tool) { t.MaxResult = -1 }, "bytes of a result"},
		"a result of 65537":         {func(t *catalog.Tool) { t.MaxResult = 65537 }, "bytes of a result"},
		"six retries":               {func(t *catalog.Tool) { t.Retry.Max = 6 }, "6 retries; 0 to 5"},
		"minus one":                 {func(t *catalog.Tool) { t.Retry.Max = -1 }, "retries"},
		"a pause back in time":      {func(t *catalog.Tool) { t.Retry.Delay = -1 }, "pause"},
		"a longest one":             {func(t *catalog.Tool) { t.Retry.MaxDelay = -1 }, "pause"},
		"a time-out below zero":     {func(t *catalog.Tool) { t.Timeout = -1 }, "time-out"},
		"of two hours":              {func(t *catalog.Tool) { t.Timeout = 2 * time.Hour }, "time-out"},
		"fixed and shown":           {func(t *catalog.Tool) { t.Fixed["path"] = "/" }, "path is fixed, and must not be shown"},
		"fixed and filled":          {func(t *catalog.Tool) { t.Defaults["root"] = "/" }, "root is fixed, and must not have a default"},
		"no JSON value":             {func(t *catalog.Tool) { t.Fixed["n"] = 5 }, "is not a JSON value"},
		"no number":                 {func(t *catalog.Tool) { t.Defaults["n"] = math.NaN() }, "the fixed arguments"},
		"a long phrase":             {func(t *catalog.Tool) { t.Phrase = strings.Repeat("ä", 201) }, "phrase of 201 characters"},
		"a phrase of what is fixed": {func(t *catalog.Tool) { t.Phrase = "{root}" }, "{root}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tool := reader(t)
			tt.change(&tool)
			if c, err := catalog.New(tool); err == nil || c != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want an error about %q", err, tt.want)
			}
		})
	}
	tool := reader(t)
	tool.MaxResult, tool.Retry.Max, tool.Timeout, tool.Phrase = 65536, 5, time.Hour, "reading {head} lines of {path}"+strings.Repeat("!", 170)
	if _, err := catalog.New(tool); err != nil {
		t.Errorf("New at the bounds: %v", err)
	}
}

func TestSayTextsOfPatterns(t *testing.T) {
	tool := reader(t)
	args := map[string]any{"path": "/srv/a\n b", "head": 5.0}
	if got := tool.Say(args); got != "read (head 5)" {
		t.Errorf("Say without a phrase = %q", got)
	}
	tool.Phrase = "reading {head} lines of {path}"
	if got := tool.Say(args); got != "reading 5 lines of /srv/a b" {
		t.Errorf("Say = %q", got)
	}
	args["path"] = "/srv/" + strings.Repeat("x", 300)
	if got := tool.Say(args); len(got) > 100 {
		t.Errorf("Say of a long text = %q", got)
	}
}

func TestHashTellsWhatIsDeclared(t *testing.T) {
	hash := func(change func(*catalog.Tool)) string {
		tool := reader(t)
		change(&tool)
		c, err := catalog.New(tool)
		if err != nil {
			t.Fatal(err)
		}
		return c.Hash()
	}
	base := hash(func(*catalog.Tool) {})
	for name, change := range map[string]func(*catalog.Tool){
		"fixed": func(t *catalog.Tool) { t.Fixed = map[string]any{"root": "/etc"} }, "nothing fixed": func(t *catalog.Tool) { t.Fixed = nil },
		"defaults": func(t *catalog.Tool) { t.Defaults = nil }, "also": func(t *catalog.Tool) { t.Also = nil },
	} {
		if hash(change) == base {
			t.Errorf("%s: another tool has the same hash", name)
		}
	}
	for name, change := range map[string]func(*catalog.Tool){
		"phrase": func(t *catalog.Tool) { t.Phrase = "x" }, "retry": func(t *catalog.Tool) { t.Retry.Max = 2 }, "server": func(t *catalog.Tool) { t.Server = "s" },
	} {
		if hash(change) != base {
			t.Errorf("%s changes what the tool is", name)
		}
	}
}

// fiveKB is a tool with an upstream's schema and a call of 5 KB that fits it.
func fiveKB(b *testing.B) (catalog.Tool, map[string]any) {
	b.Helper()
	tool := reader(b)
	tool.Input = upstream(b, `{"type":"object","properties":{"path":{"type":"string","pattern":"^/srv/"},"lines":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","minLength":1},"n":{"type":"integer","minimum":1}},"required":["sku","n"]}}},"required":["path"]}`)
	tool.Also, tool.Defaults = []*catalog.Schema{tool.Input}, nil
	var list []any
	for i := range 100 {
		list = append(list, map[string]any{"sku": fmt.Sprintf("an item with a name of its own, %d", i), "n": 1.0})
	}
	return tool, map[string]any{"path": "/srv/x", "lines": list}
}

func BenchmarkToolCheck(b *testing.B) {
	tool, args := fiveKB(b)
	b.ReportAllocs()
	for b.Loop() {
		if wrong := tool.Check(args); wrong != nil {
			b.Fatal(wrong)
		}
	}
}

// BenchmarkNew200 is what loading 200 tools of a server costs here: their schemas read, shown and narrowed, nothing compiled.
func BenchmarkNew200(b *testing.B) {
	raw := json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"path":{"type":"string","description":"` +
		strings.Repeat("Where it is. ", 20) + `"},"head":{"type":["integer","null"]},"edits":{"type":"array","items":{"type":"object","properties":{"oldText":{"type":"string"},"newText":{"type":"string"}},"required":["oldText","newText"]}},"root":{"type":"string"}},"required":["path"],"additionalProperties":false}`)
	bound := json.RawMessage(`{"path":{"type":"string","pattern":"^/srv/orders/A-[0-9]{4}\\.json$"}}`)
	base := reader(b)
	b.ReportAllocs()
	for b.Loop() {
		tools := make([]catalog.Tool, 200)
		for i := range tools {
			whole, err := catalog.CompileUpstream(raw)
			if err != nil {
				b.Fatal(err)
			}
			bounds, _ := catalog.CompileBounds(bound)
			input, wrong := whole.Shown().Without("root").Bounded(bounds)
			if wrong != nil {
				b.Fatal(wrong)
			}
			tools[i] = catalog.Tool{Name: fmt.Sprintf("t%d", i), Effect: catalog.Read, Input: input, Also: []*catalog.Schema{whole}, Fixed: map[string]any{"root": "/"}, Do: base.Do}
		}
		if _, err := catalog.New(tools...); err != nil {
			b.Fatal(err)
		}
	}
}
