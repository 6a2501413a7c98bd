package policycheck

import (
	_ "embed"
	"os"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/server/settings/yamldoc"
)

// Rows are added only where the file that holds them can be loaded with them.
func TestPolicyRecordKeepsTheFileLoadable(t *testing.T) {
	row := func(name, want string) map[string]any {
		return map[string]any{"name": name, "call": map[string]any{"tool": "pay", "args": map[string]any{"cents": 5.0, "to": "ann"}}, "want": want}
	}
	var many []map[string]any
	for i := range 1000 {
		many = append(many, row(strings.Repeat("x", i%50+1)+yamldoc.NumberText(float64(i)), "approve"))
	}
	for name, tt := range map[string]struct {
		rows []map[string]any
		fine bool
	}{
		"fine":           {[]map[string]any{row("one", "approve")}, true},
		"a name twice":   {[]map[string]any{row("small", "approve")}, false},
		"one that fails": {[]map[string]any{row("one", "block")}, false},
		"too many":       {many, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := written(t, pays)
			var out, errs strings.Builder
			a := newCommands(t, path, &out, &errs)
			loaded, err := a.loadUntested("policy record", nil)
			if err != nil {
				t.Fatal(err)
			}
			err = a.addRows(loaded, loaded.PolicyNamed("pays"), tt.rows, false)
			text, readErr := os.ReadFile(path)
			if (err == nil) != tt.fine || readErr != nil || (string(text) == pays) == tt.fine {
				t.Errorf("%v, changed %t\n%s", err, string(text) != pays, errs.String())
			}
		})
	}
}

// A run that was recorded once adds nothing when it is recorded again, and its times stay as they were.
func TestPolicyRecordTwice(t *testing.T) {
	path := written(t, pays)
	events := []patterns.Event{
		{Seq: 1, At: 1_700_000_000_123_456, Kind: patterns.StartEvent, Body: []byte(`{"run_id":"run_0000000000000001","pattern":"pay_one","pattern_kind":"call","principal":"local:1"}`)},
		{Seq: 2, At: 1_700_000_000_223_456, Kind: patterns.IntentEvent, Key: "pay#1", Body: []byte(`{"effect_kind":"tool","effect":"write","idempotency_key":"k","name":"pay","input":{"cents":250,"to":"ann"},"verdict":{"decision":"approve","reason":"pay","rule":"pay"}}`)},
	}
	var out, errs strings.Builder
	a := newCommands(t, path, &out, &errs)
	if err := a.recordRows(events, "", false); err != nil {
		t.Fatal(err, errs.String())
	}
	once, _ := os.ReadFile(path)
	if !strings.Contains(string(once), ".123456Z") || !strings.Contains(string(once), "pattern: pay_one") {
		t.Errorf("written:\n%s", once)
	}
	if err := a.recordRows(events, "", false); err == nil || !strings.Contains(errs.String(), "it is already a test") {
		t.Errorf("again: %v\n%s", err, errs.String())
	}
	if twice, _ := os.ReadFile(path); string(twice) != string(once) {
		t.Errorf("again changed the file:\n%s", twice)
	}
}
