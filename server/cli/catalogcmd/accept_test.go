package catalogcmd

import (
	"strings"
	"testing"

	"patterngate/server/settings/grammar"
	"patterngate/server/settings/tools"
)

// The error of a tool or server that the file disables differs from the error of one that the file does not name.
func TestCatalogAcceptOfWhatIsDisabled(t *testing.T) {
	c := tools.Catalog{Servers: []tools.Server{
		{Name: "crm", Enabled: true, Tools: []tools.ServerTool{{Tool: tools.Tool{Enabled: true}, Upstream: "look"}, {Upstream: "drop"}}},
		{Name: "idle", Enabled: true, Tools: []tools.ServerTool{{Upstream: "look"}}},
		{Name: "off", Tools: []tools.ServerTool{{Tool: tools.Tool{Enabled: true}, Upstream: "look"}}},
	}}
	for name, want := range map[string]string{
		"crm/look": "", "crm": "",
		"crm/drop":  `tool "drop" of server crm is disabled in the file. Remove "enabled: false"`,
		"crm/other": `the file names no tool "other" of server crm`,
		"idle":      `every tool of server idle is disabled in the file`,
		"idle/look": `tool "look" of server idle is disabled in the file`,
		"off":       `server off is disabled in the file. Remove "enabled: false"`,
		"off/look":  `server off is disabled in the file`,
		"other":     `no server "other" in the file`,
	} {
		_, err := wantedTools(c, []string{name})
		if got := ""; err != nil {
			if got = err.Error(); want == "" || !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %q", name, got, want)
			}
		} else if want != "" {
			t.Errorf("%s is accepted, want %q", name, want)
		}
	}
	if _, err := wantedTools(tools.Catalog{Servers: c.Servers[1:]}, nil); err == nil || !strings.Contains(err.Error(), "enabled: false") {
		t.Errorf("of a file in which all is disabled: %v", err)
	}
}

// What the file disables is listed as off, with the place to edit.
func TestOffTools(t *testing.T) {
	c := tools.Catalog{
		Servers: []tools.Server{
			{Name: "crm", Enabled: true, Tools: []tools.ServerTool{{Tool: tools.Tool{Name: "look", Enabled: true}}, {Tool: tools.Tool{Name: "drop", At: grammar.Position{Line: 7}}, Upstream: "drop"}}},
			{Name: "down", At: grammar.Position{Line: 9}, Tools: []tools.ServerTool{{Tool: tools.Tool{Name: "see", Enabled: true}, Upstream: "see"}}},
		},
		HTTP: []tools.HTTPTool{{Tool: tools.Tool{Name: "ask"}}, {Tool: tools.Tool{Name: "tell", Enabled: true}}},
	}
	var got []string
	for _, r := range offTools(c) {
		got = append(got, r.Server+"/"+r.Name+" "+r.State)
	}
	if want := "crm/drop off, down/see off, http/ask off"; strings.Join(got, ", ") != want {
		t.Errorf("offTools: %s, want %s", strings.Join(got, ", "), want)
	}
	for server, line := range map[string]int{"": 7, "crm": 7, "down": 9} {
		if at := firstOff(c, server); at.Line != line {
			t.Errorf("firstOff(%q): line %d, want %d", server, at.Line, line)
		}
	}
}
