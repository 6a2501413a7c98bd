package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// The tables of the page of the configuration are made of the table of keys. A key without a meaning fails here: append .Means("...")
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
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
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
