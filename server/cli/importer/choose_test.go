package importer

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/server/cli/console"
)

// hinted returns a tool whose server gives this hint whether it only reads; "" is no hint.
func hinted(name, hint string) importedTool {
	t := importedTool{foreignTool: foreignTool{Name: name}}
	if hint != "" {
		reads := hint == "reads"
		t.reads = &reads
	}
	return t
}

// The command that init prints names a tool after --read only if its server says that it reads. A destructive tool is never
// named as one that reads.
func TestInitNamesOnlyReadsAfterRead(t *testing.T) {
	server := func(name string, tools ...importedTool) Server { return Server{Name: name, tools: tools} }
	off := server("off", hinted("list", "reads"))
	off.problem = "it died"
	for _, c := range []struct {
		name, want string
		servers    []Server
	}{
		{"writes", " --allow SERVER/TOOL", []Server{server("evil", hinted("delete_everything", "writes"))}},
		{"no hint", " --allow SERVER/TOOL", []Server{off, server("evil", hinted("delete_everything", ""))}},
		{"one reads", " --read crm/search", []Server{server("evil", hinted("drop", "writes")), server("crm", hinted("add", ""), hinted("search", "reads")), server("last", hinted("drop", "writes"))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &Commands{Console: &console.Console{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}}
			got := initFlags{from: "cursor", yes: true}.enables(a, c.servers)
			if want := "patterngate init --import cursor" + c.want; got != want {
				t.Errorf("enables = %q, want %q", got, want)
			}
		})
	}
}

// Enter leaves every tool off, also one that its server says only reads. That word stands above the question.
func TestEnterEnablesNoTool(t *testing.T) {
	for _, hint := range []string{"reads", "writes", ""} {
		for keys, want := range map[string]importedTool{"\n": {}, "r\n": {allow: true, effect: catalog.Read}} {
			var shown strings.Builder
			q := initQuestions{bufio.NewReader(strings.NewReader(keys)), &shown, func(_, text string) string { return text }}
			tool := hinted("purge", hint)
			if err := q.tool(t.Context(), "crm", answerEach, &tool); err != nil {
				t.Fatal(err)
			}
			if tool.allow != want.allow || tool.effect != want.effect {
				t.Errorf("hint %q, keys %q: allow is %v, effect %q, want %v, %q", hint, keys, tool.allow, tool.effect, want.allow, want.effect)
			}
			if hint == "reads" && !strings.HasPrefix(shown.String(), "\n  ("+saysReads+") \n") || !strings.Contains(shown.String(), "off [off]: ") {
				t.Errorf("hint %q: the question is %q", hint, shown.String())
			}
		}
	}
}
