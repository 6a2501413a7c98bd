package catalogcmd

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/cli/signing"
	"patterngate/server/settings/tools"
)

// A pattern uses the tools of its workers, which have the pattern's names.
func TestPatternUsesTheToolsOfItsWorkers(t *testing.T) {
	schema, err := catalog.CompileSchema([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	do := func(context.Context, catalog.Call) (any, error) { return nil, nil }
	all, err := catalog.New(
		catalog.Tool{Name: "get_book", Effect: catalog.Read, Input: schema, Do: do},
		catalog.Tool{Name: "get_shelf", Effect: catalog.Read, Input: schema, Do: do},
	)
	if err != nil {
		t.Fatal(err)
	}
	view, err := all.With(catalog.Tool{Name: "book", Of: "get_book", Effect: catalog.Read, Input: schema, Do: do})
	if err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]bool{"get_book": true, "get_shelf": false} {
		if got := uses(view, []string{"book"}, tool); got != want {
			t.Errorf("uses %s: %t, want %t", tool, got, want)
		}
	}
}

// A tool that writes and that no policy judges gets the advice to write a policy. Whether clients can call it does not matter.
func TestAdviceForAnUnjudgedWrite(t *testing.T) {
	schema, err := catalog.CompileSchema([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	note := catalog.Tool{Name: "note", Effect: catalog.Write, Input: schema}
	const first = "give note a policy first (docs/first-rule.md), then: patterngate policy explain --tool note"
	for name, tt := range map[string]struct {
		policy string
		expose []string
		want   string
	}{
		"no policy":          {"", nil, first},
		"no policy, exposed": {"", []string{"note"}, first},
		"a policy":           {"notes", nil, "patterngate policy explain --tool note --args "},
		"a policy, exposed":  {"notes", []string{"note"}, "patterngate call note --args "},
	} {
		c := assembly.Loaded{}
		c.Catalog = tools.Catalog{Expose: tt.expose, Servers: []tools.Server{
			{Name: "shop", Enabled: true, Tools: []tools.ServerTool{{Tool: tools.Tool{Name: "note", Enabled: true, Policy: tt.policy}, Upstream: "note"}}},
		}}
		if got := tryWrite(c, note); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// The table shows tools that the file disables. JSON has only tools that exist.
func TestListWithoutDisabledToolsAsJSON(t *testing.T) {
	rows := []row{{Name: "look", State: "ready", Patterns: []string{}}}
	off := []row{{Name: "drop", State: stateOff, Patterns: []string{}}}
	for asJSON, want := range map[bool]bool{false: true, true: false} {
		var out bytes.Buffer
		a := commandsTo(&out, "")
		a.JSON = asJSON
		if err := a.printList(rows, off); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "drop"); got != want || !strings.Contains(out.String(), "look") {
			t.Errorf("JSON %t: printed\n%s", asJSON, out.String())
		}
	}
}

// commandsTo returns the commands with an output, and an input that is no terminal.
func commandsTo(out *bytes.Buffer, in string) *Commands {
	from := &invocation.Invocation{Console: console.Console{In: strings.NewReader(in), Out: out, Err: out, Color: "never"}}
	return &Commands{StateFile: invocation.NewStateFile(from, nil, nil), Signer: &signing.Signer{Console: &from.Console}}
}
