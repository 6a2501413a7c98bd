package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
)

func TestCompletions(t *testing.T) {
	var many []string
	for i := range 150 {
		many = append(many, fmt.Sprintf("Region %03d", i))
	}
	s := serving(t, func(c *Config) {
		c.Patterns[1].Completions = map[string][]string{"report_date": {"2026-02-26", "2026-02-27", "2025-01-01"}, "region": many, "goal": {"Ärger", "\u202ehidden"}}
		c.Patterns[2].Completions = map[string][]string{"ticket": {"A refund"}}
	})
	type values = []string
	tests := map[string]struct {
		ref, argument, value string
		want                 mcp.Completion
	}{
		"all":                {`"ref/prompt","name":"` + or + `"`, "report_date", "", mcp.Completion{Values: values{"2026-02-26", "2026-02-27", "2025-01-01"}, Total: 3}},
		"by prefix":          {`"ref/prompt","name":"` + or + `"`, "report_date", "2026-02-2", mcp.Completion{Values: values{"2026-02-26", "2026-02-27"}, Total: 2}},
		"whole":              {`"ref/prompt","name":"` + or + `"`, "report_date", "2025-01-01", mcp.Completion{Values: values{"2025-01-01"}, Total: 1}},
		"too long":           {`"ref/prompt","name":"` + or + `"`, "report_date", "2025-01-01 ", mcp.Completion{Values: values{}}},
		"not within":         {`"ref/prompt","name":"` + or + `"`, "report_date", "02", mcp.Completion{Values: values{}}},
		"any case":           {`"ref/prompt","name":"` + rt + `"`, "ticket", "a REF", mcp.Completion{Values: values{"A refund"}, Total: 1}},
		"half a character":   {`"ref/prompt","name":"` + or + `"`, "goal", "Ã", mcp.Completion{Values: values{}}},
		"at most 100":        {`"ref/prompt","name":"` + or + `"`, "region", "region", mcp.Completion{Values: many[:100], Total: 150, HasMore: true}},
		"another's argument": {`"ref/prompt","name":"` + rt + `"`, "region", "", mcp.Completion{Values: values{}}},
		"no such argument":   {`"ref/prompt","name":"` + or + `"`, "regio", "", mcp.Completion{Values: values{}}},
		"a prompt without":   {`"ref/prompt","name":"` + td + `"`, "goal", "", mcp.Completion{Values: values{}}},
		"no such prompt":     {`"ref/prompt","name":"nope"`, "goal", "", mcp.Completion{Values: values{}}},
		"a resource":         {`"ref/resource","uri":"` + catalogURI + `"`, "x", "", mcp.Completion{Values: values{}}},
		"1 MiB":              {`"ref/prompt","name":"` + or + `"`, "region", strings.Repeat("R", 1<<20), mcp.Completion{Values: values{}}},
	}
	c := connect(t, s)
	for name, tt := range tests {
		for _, era := range eras {
			m := c.ask(era, "completion/complete", fmt.Sprintf(`{"ref":{"type":%s},"argument":{"name":%q,"value":%s}}`, tt.ref, tt.argument, mustJSON(tt.value)))
			var r struct{ Completion mcp.Completion }
			if err := json.Unmarshal(m.Result, &r); err != nil {
				t.Fatalf("%s: %.300s", name, m.line)
			}
			if diff := cmp.Diff(tt.want, r.Completion); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, era, diff)
			}
		}
	}
}
