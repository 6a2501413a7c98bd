package catalogcmd

import (
	"strings"
	"testing"

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
