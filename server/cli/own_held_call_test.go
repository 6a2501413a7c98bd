package cli

import (
	"strings"
	"testing"
)

// Who calls a held tool by its name hears that it is held and what accepts it, and each warning once.
func TestCallOfAHeldTool(t *testing.T) {
	s := newOwnScene(t, "  expose: [look]\n", "patterns: {slip: {kind: call, tool: drift}}\n")
	for name, tool := range map[string]string{"look": "crm/look", "slip": "crm/drift"} {
		code, _, errs := s.command(t, nil, "call", name)
		if code != exitUsage || !strings.Contains(errs, "call: "+name+" is held: nobody accepted what its server declares\n") ||
			!strings.Contains(errs, "try: patterngate catalog accept "+tool+"\n") {
			t.Errorf("call %s ends with %d: %s", name, code, errs)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(errs) {
			if strings.HasPrefix(line, "warning:") && seen[line] {
				t.Errorf("call %s warns twice: %s", name, line)
			}
			seen[line] = true
		}
	}
	if code, _, errs := s.command(t, nil, "call", "lookk"); code != exitUsage || !strings.Contains(errs, "no tool lookk") {
		t.Errorf("call lookk ends with %d: %s", code, errs)
	}
}
