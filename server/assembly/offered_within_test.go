package assembly

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"patterngate/server/settings"
)

// TestOfferedWithin holds what clients learn about a pattern that they do not see and that a pattern which they see runs: its
// tools can be called, and its stop reasons can occur.
func TestOfferedWithin(t *testing.T) {
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n"
	text := "version: 1\noffer: [desk, describe_catalog, run_status, run_wait]\ndemo: {enabled: true}\npatterns:\n  desk: " +
		ofKindOver("routing", "routes: {refund: {pattern: supervised_refund}}", "") + "\n"
	loaded, _, err := Load(settings.Sources{Path: writeConfig(t, text)}, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(answered(t, loaded, begin+`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`+"\n"), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 4 || list.Tools[0].Name != "desk" {
		t.Errorf("listed are %v, want desk and three more", list.Tools)
	}
	var catalog struct {
		StructuredContent struct {
			Tools []struct {
				Name, Person string
				Patterns     []string
			}
		}
	}
	if err := json.Unmarshal(answered(t, loaded, begin+`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"describe_catalog","arguments":{"names":["issue_refund"]}}}`+"\n"), &catalog); err != nil {
		t.Fatal(err)
	}
	if tools := catalog.StructuredContent.Tools; len(tools) != 1 || tools[0].Person != "maybe" || !slices.Equal(tools[0].Patterns, []string{"supervised_refund"}) {
		t.Errorf("the catalog has %+v, want issue_refund, about which a person may be asked in supervised_refund", tools)
	}
	reasons := string(answered(t, loaded, begin+`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"patterngate://stop-reasons"}}`+"\n"))
	for name, want := range map[string]bool{
		"supervisor_block:refund_window_expired": true,  // of a pattern that desk runs
		"invalid_plan":                           false, // of a pattern that nobody can run
		"list_runs":                              false, // not offered
	} {
		if got := strings.Contains(reasons, name); got != want {
			t.Errorf("stop reasons name %s: %t, want %t", name, got, want)
		}
	}
}
