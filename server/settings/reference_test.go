package settings

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

var update = flag.Bool("update", false, "write the generated documents anew")

// fresh compares a page of docs with what it should be, or writes it.
func fresh(t *testing.T, name, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join("..", "..", "docs", name), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, readPage(t, name)); diff != "" {
		t.Errorf("docs/%s is not what the program says; run go test ./server/settings -run %s -update (-program +page):\n%s", name, t.Name(), diff)
	}
}

// embedded is the configuration of a fresh installation.
func embedded(t *testing.T) *Config {
	t.Helper()
	var c Config
	if err := c.Embed(nil); err != nil {
		t.Fatal(err)
	}
	return &c
}

// The lists of the page of the configuration are made of the tables of keys. A key without a meaning fails here: append .Means("...")
// where it is declared.
func TestConfigPage(t *testing.T) {
	c := embedded(t)
	page := keyPage{t: t, general: rowsOf(t, nil, slices.DeleteFunc(c.Keys(nil), func(k grammar.Key) bool { return k.Name == "patterns" }))}
	page.pattern, page.budget = patternRows(t)
	fresh(t, "config.md", page.write(readPage(t, "config.md")))
}

// defaultWords is a key's value in the embedded default.
func defaultWords(k grammar.Key) string {
	if k.Required != "" {
		return "required"
	}
	switch v := k.Show().(type) {
	case nil:
		if k.Numeric {
			return "no limit"
		}
		return "not set"
	case string:
		if v == "" {
			return "empty"
		}
		return "`" + v + "`"
	case []string:
		if len(v) == 0 {
			return "`[]`"
		}
		return "`" + strings.Join(v, "`, `") + "`"
	case json.RawMessage, grammar.JSONLines:
		return "not set"
	case []grammar.Key:
		if len(v) == 0 {
			return "not set"
		}
		var words []string
		for _, below := range v {
			words = append(words, "`"+below.Name+"`: "+defaultWords(below))
		}
		return strings.Join(words, ", ")
	case float64:
		return yamldoc.NumberText(v)
	case map[string]any, []any:
		return "`" + string(ijson.Canonical(v)) + "`"
	}
	return fmt.Sprint(k.Show())
}

// The page of clients gives the defaults that it speaks of.
func TestClientsPageDefaults(t *testing.T) {
	c := embedded(t)
	page := strings.Join(strings.Fields(readPage(t, "clients.md")), " ")
	want := []string{fmt.Sprintf("`limits.result_bytes` long, %d,%03d by default", c.Limits.ResultBytes/1000, c.Limits.ResultBytes%1000)}
	for client, channel := range c.Results {
		want = append(want, fmt.Sprintf("for `%s` the text is its first three lines", channel), "The default knows `"+client+"`.")
	}
	for _, words := range want {
		if !strings.Contains(page, words) {
			t.Errorf("docs/clients.md does not say %q", words)
		}
	}
}

var budgetMark = regexp.MustCompile(`^<!-- budget ([a-z_]+) -->$`)

// The lists of limits on the page of patterns are those of the built-in patterns. Package assembly makes the rest of that page.
func TestPatternsPageLimits(t *testing.T) {
	c := embedded(t)
	var out []string
	lines := strings.Split(readPage(t, "patterns.md"), "\n")
	for at := 0; at < len(lines); at++ {
		out = append(out, lines[at])
		m := budgetMark.FindStringSubmatch(lines[at])
		if m == nil {
			continue
		}
		p, ok := c.Pattern(m[1])
		if !ok {
			t.Fatalf("docs/patterns.md: no pattern %s", m[1])
		}
		var unlimited []string
		for _, k := range budgetKeys(p.Kind, &p.Budget) {
			if words := defaultWords(k); words == "no limit" || words == "not set" {
				unlimited = append(unlimited, "`"+k.Name+"`")
				continue
			}
			out = append(out, fmt.Sprintf("- `%s` (%s): %s", k.Name, defaultWords(k), notSet.ReplaceAllString(k.Meaning, "")))
		}
		out = append(out, "- Without a default: "+strings.Join(unlimited, ", ")+". They are described in [config.md](config.md#patternsnamebudget-limits-of-every-kind).")
		for at+1 < len(lines) && lines[at+1] != "" {
			at++
		}
	}
	fresh(t, "patterns.md", strings.Join(out, "\n"))
}
