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
			structured, text, err := s.catalog.page(search{pattern: -1, from: len(walked), limit: 100}, "", most)
			if err != nil || len(structured) > most || len(text) > most {
				t.Fatalf("at %d: channels of %d and %d bytes, want at most %d; %v", len(walked), len(structured), len(text), most, err)
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
		whole, err := s.catalog.whole(t.Context())
		if err != nil || len(whole) > maxResource || !json.Valid(whole) {
			t.Errorf("the resource has %d bytes, want at most %d; %v", len(whole), maxResource, err)
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
	if n := len(s.catalog.pages.kept); n != 1 {
		t.Errorf("%d pages are kept, want 1", n)
	}
}

// Junk does not fill the memory, and many at once do not disturb each other.
func TestDescribePagesAreBounded(t *testing.T) {
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
	asking(t, s, "p", `{"query":"`+strings.Repeat(" ", maxKeptQuestion)+`"`+`,"limit":1}`)
	p, sum := &s.catalog.pages, 0
	for asked, kept := range p.kept {
		sum += len(asked.arguments) + len(kept.RawStructuredContent)
		if len(asked.arguments) > maxKeptQuestion {
			t.Errorf("arguments of %d bytes are kept", len(asked.arguments))
		}
	}
	if p.bytes > maxKept || sum > maxKept || len(p.kept) == 0 {
		t.Errorf("%d pages are kept, %d bytes by its own count, %d at least", len(p.kept), p.bytes, sum)
	}
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

// A fault of ours is told by its id alone.
func TestDescribeFault(t *testing.T) {
	var log logBuffer
	s := serving(t, logging(&log))
	s.catalog.directory().patterns = nil // what cannot be: rows name patterns that are not there
	m := connect(t, s).call(arguments.CatalogTool, `{}`)
	if m.Error == nil || m.Error.Code != -32603 || !strings.HasPrefix(m.Error.Message, "internal fault f_") {
		t.Errorf("a fault is answered by %s", m.line)
	}
	if faults := log.lines(t, "fault"); len(faults) != 1 || !strings.Contains(fmt.Sprint(faults[0]["cause"]), "panic") {
		t.Errorf("the log has %v", faults)
	}
}

// Whatever comes is refused with words or answered in bounds, and found tools are those that exist.
func FuzzDescribe(f *testing.F) {
	for _, seed := range []string{`{}`, `{"pattern":"route_ticket"}`, `{"names":["issue_refund"],"query":"refund","limit":3}`, `{"names":"[1]","cursor":"x"}`, `null`, `[]`} {
		f.Add([]byte(seed))
	}
	s := serving(f)
	all := s.catalog.directory().names()
	f.Fuzz(func(t *testing.T, raw []byte) {
		asked, _, problems := s.catalog.take(raw, "p")
		for _, p := range problems {
			if strings.HasSuffix(p.Reason, ":") {
				continue // about a member without a name
			}
			row, ok := stopreason.Lookup("invalid_request:" + p.Reason)
			if p.Reason != "more" && (!ok || !row.Occurs(gateway.Catalog, "request")) || p.Got != nil && !json.Valid(p.Got) {
				t.Fatalf("take(%q): problem %+v", raw, p)
			}
		}
		if len(problems) > 0 {
			return
		}
		structured, text, err := s.catalog.page(asked, "", defaultResultBytes)
		if err != nil || !json.Valid(structured) || max(len(structured), len(text)) > defaultResultBytes {
			t.Fatalf("page of %q: %d and %d bytes, %v", raw, len(structured), len(text), err)
		}
		for _, i := range s.catalog.directory().part(asked, defaultResultBytes).shown() {
			if !slices.Contains(all, s.catalog.directory().tools[i].name) {
				t.Fatalf("page of %q shows %q", raw, s.catalog.directory().tools[i].name)
			}
		}
	})
}
