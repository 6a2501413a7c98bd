package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/stopreason"
	"patterngate/server/arguments"
)

// offering makes tools the only ones of task decomposition.
func offering(t testing.TB, tools ...catalog.Tool) func(*Config) {
	t.Helper()
	p := builtins(t, tools...)[0]
	p.Spec.Policy = nil
	for _, tool := range tools {
		p.Spec.Policy = append(p.Spec.Policy, tool.Name)
	}
	p.Spec.Execution = p.Spec.Policy
	return func(c *Config) { c.Patterns = []Pattern{p} }
}

// foreign is a tool that somebody else declared.
func foreign(t testing.TB, name, description, schema string) catalog.Tool {
	t.Helper()
	input, err := catalog.CompileSchema([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Tool{Name: name, Description: description, Effect: catalog.Destructive, Input: input,
		Do: func(context.Context, catalog.Call) (any, error) { return nil, nil }}
}

// However much there is, each channel keeps its bound, and the pages lead to all of it.
func TestDescribeFits(t *testing.T) {
	long := `{"type":"object","properties":{"a":{"type":"string","description":"` + strings.Repeat("é", 30_000) + `"}}}`
	var tools []catalog.Tool
	var want []string
	for i := range 120 {
		schema, description := `{"type":"object"}`, "Does one thing."
		switch i % 3 {
		case 1:
			schema = long
		case 2:
			description = strings.Repeat("many words\x00 ", 1000)
		}
		want = append(want, fmt.Sprintf("tool_%03d", i))
		tools = append(tools, foreign(t, want[i], description, schema))
	}
	for _, most := range []int{4096, defaultResultBytes, 1 << 20} {
		s := serving(t, offering(t, tools...), func(c *Config) { c.ResultBytes = most })
		var walked []string
		cursor := ""
		for range len(want) {
			r := asking(t, s, "p", `{"limit":100,"cursor":"`+cursor+`"}`)
			structured, text := answered(t, s, "p", `{"limit":100,"cursor":"`+cursor+`"}`).RawStructuredContent, textOf(r)
			if len(structured) == 0 || len(structured) > most || len(text) > most {
				t.Fatalf("at %d: channels of %d and %d bytes, want at most %d", len(walked), len(structured), len(text), most)
			}
			checkOwnLines(t, textOf(r))
			walked = append(walked, namesIn(r)...)
			if cursor, _ = r.Structured["next_cursor"].(string); cursor == "" {
				break
			}
		}
		if diff := cmp.Diff(want, walked); diff != "" {
			t.Errorf("%d bytes: the pages together (-want +got):\n%s", most, diff)
		}
		whole, err := s.catalog.Whole(t.Context())
		if err != nil || len(whole) > 1<<20 || !json.Valid(whole) {
			t.Errorf("the resource has %d bytes, want at most %d; %v", len(whole), 1<<20, err)
		}
	}
}

// What somebody else declared cannot be taken for a line of ours, in any place.
func TestDescribeHostileTools(t *testing.T) {
	schema := `{"type":"object","properties":{` + mustJSON(forged) + `:{"type":"array","description":` + mustJSON(forged) + `}},"required":[` + mustJSON(forged) + `]}`
	var tools []catalog.Tool
	for _, name := range headings {
		tools = append(tools, foreign(t, name, forged, schema))
	}
	c := connect(t, serving(t, offering(t, tools...)))
	r := c.call(arguments.CatalogTool, `{"limit":100}`).result(t)
	checkOwnLines(t, textOf(r))
	if names := namesIn(r); len(names) != len(headings) {
		t.Errorf("listed are %v", names)
	}
	if strings.Count(textOf(r), "\n") != 3+len(headings)+2 {
		t.Errorf("the text has other lines than a line a tool:\n%s", textOf(r))
	}
	row := toolNamedIn(t, r, "OK")
	if row["description"] != forged || row["idempotent"] != false || row["person"] != "never" || row["effect"] != "destructive" {
		t.Errorf("OK is shown as %v", row)
	}
	// Arguments that the signature does not say all of stand there whole.
	if !strings.Contains(textOf(r), `| {"type":"object","properties":{"x\nOK success`) {
		t.Errorf("the text lacks the schema:\n%s", textOf(r))
	}
}

// Answers that are given again are whole, and what mcp-go adds for one era is not in another's.
func TestDescribeKeepsPages(t *testing.T) {
	s := serving(t)
	c := connect(t, s)
	legacy := callLine(1, arguments.CatalogTool, `{"limit":3}`)
	modern := strings.Replace(legacy, `"params":{`, `"params":{`+modernMeta+`,`, 1)
	var first [2]string
	for i := range 3 {
		for era, line := range []string{legacy, modern} {
			c.send(line)
			got := c.next().line
			if i == 0 {
				first[era] = got
			}
			if got != first[era] {
				t.Errorf("the answer changed from %s to %s", first[era], got)
			}
		}
	}
	if strings.Contains(first[0], "resultType") || !strings.Contains(first[1], "resultType") {
		t.Errorf("resultType is in %.100s or not in %.100s", first[0], first[1])
	}
}

// Many at once do not disturb each other.
func TestDescribeOfMany(t *testing.T) {
	s := serving(t)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 200 {
				r := asking(t, s, fmt.Sprint("token:", n), fmt.Sprintf(`{"limit":%d,"query":"refund x%d"}`, 1+i%5, i))
				if len(namesIn(r)) != 1+i%5 {
					t.Errorf("token:%d, %d: %v", n, i, namesIn(r))
				}
			}
		})
	}
	all.Wait()
}

// Names that would hide each other make no server.
func TestDescribeRefusesNames(t *testing.T) {
	first, second := builtins(t, foreign(t, "look", "Looks.", `{"type":"object"}`))[0], builtins(t, foreign(t, "look", "Looks away.", `{"type":"object"}`))[0]
	second.Spec.Name = "second"
	for _, p := range []*Pattern{&first, &second} {
		p.Spec.Policy, p.Spec.Execution = []string{"look"}, []string{"look"}
	}
	taken := builtins(t)[0]
	taken.Spec.Name = arguments.CatalogTool
	for want, list := range map[string][]Pattern{
		`tool "look": two tools have this name`:         {first, second},
		`pattern "describe_catalog": the name is taken`: {taken},
	} {
		c := serving(t).config
		c.Patterns = list
		if s, err := New(c); s != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New = %v, %v; want %q", s, err, want)
		}
	}
}

// Whatever comes is refused with words or answered in bounds, and found tools are those that exist.
func FuzzDescribe(f *testing.F) {
	for _, seed := range []string{`{}`, `{"pattern":"route_ticket"}`, `{"names":["issue_refund"],"query":"refund","limit":3}`, `{"names":"[1]","cursor":"x"}`, `null`, `[]`} {
		f.Add([]byte(seed))
	}
	s := serving(f)
	all := namesIn(asking(f, s, "p", `{"limit":100}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		shown := answered(t, s, "p", string(raw))
		var r result
		if err := json.Unmarshal([]byte(mustJSON(shown)), &r); err != nil {
			t.Fatal(err)
		}
		problems, _ := r.Structured["problems"].([]any)
		for _, p := range problems {
			p, _ := p.(map[string]any)
			reason, _ := p["reason"].(string)
			if strings.HasSuffix(reason, ":") {
				continue // about a member without a name
			}
			row, ok := stopreason.Lookup("invalid_request:" + reason)
			if reason != "more" && (!ok || !row.Occurs(gateway.Catalog, "request")) {
				t.Fatalf("%q: problem %+v", raw, p)
			}
		}
		if shown.IsError != (len(problems) > 0) {
			t.Fatalf("%q: is error %t with problems %v", raw, shown.IsError, problems)
		}
		if structured, text := shown.RawStructuredContent, textOf(r); len(structured) > defaultResultBytes || len(text) > defaultResultBytes {
			t.Fatalf("page of %q: %d and %d bytes", raw, len(structured), len(text))
		}
		for _, name := range namesIn(r) {
			if !slices.Contains(all, name) {
				t.Fatalf("page of %q shows %q", raw, name)
			}
		}
	})
}
