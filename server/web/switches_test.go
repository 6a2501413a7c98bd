package web

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/web/wording"
)

// A kill switch that is on stands on every page that shows what runs, in words that nobody's reason can break out of.
func TestSwitchesOnPages(t *testing.T) {
	var on []patterns.Switch
	var fault error
	s := newSite(t)
	s.fill(t)
	s.pages = New(func() Config {
		c := s.pages.config
		c.Switches = func() ([]patterns.Switch, error) { return on, fault }
		return c
	}())
	pages := []string{"/", "/r", "/r/" + aRun}
	check := func(want []string, never ...string) {
		t.Helper()
		for _, path := range pages {
			a := s.get(path)
			if a.Code != 200 {
				t.Fatalf("%s: status %d", path, a.Code)
			}
			for _, text := range want {
				if !strings.Contains(a.Body.String(), text) {
					t.Errorf("%s does not say %q", path, text)
				}
			}
			for _, text := range never {
				if strings.Contains(a.Body.String(), text) {
					t.Errorf("%s says %q", path, text)
				}
			}
		}
	}
	check(nil, "Switched off", "kill-switch")
	on = []patterns.Switch{
		{Tool: "pay_back", Reason: "<script>alert(1)</script>", By: "local:1000", At: began},
		{Pattern: "refund_order"}, {}, {Tool: "x; rm -rf /"},
	}
	check([]string{
		"Switched off", "The tool pay_back", "by <bdi>local:1000</bdi>", "2026-11-21", "&lt;script&gt;alert(1)&lt;/script&gt;",
		"patterngate kill-switch off --tool pay_back", "patterngate kill-switch off --pattern refund_order", "Everything",
		"patterngate kill-switch off --tool NAME",
	}, "<script>alert", "off --tool x;")
	on = slices.Repeat([]patterns.Switch{{Tool: "pay_back"}}, maxSwitches+3)
	check([]string{"3 more are on"}, "Everything")
	on[maxSwitches+2] = patterns.Switch{} // the widest is never one of those that have no row
	check([]string{"3 more are on", "Everything"})
	on, fault = nil, errors.New("secret path")
	check([]string{"Whether a kill switch is on could not be read."}, "secret path", "Switched off")
}

// What a call was that was not simply done: sent before, cut, or answered by what cannot be read.
func TestStatesOfOwnTools(t *testing.T) {
	for state, want := range map[string]string{
		"duplicate ": "done before; nothing was sent again", "unknown timeout": "outcome unknown (no answer came in time)",
		"unknown broken_reply": "outcome unknown (the answer was lost or could not be read)",
		"failed unavailable":   "failed (nothing was sent)",
	} {
		word, reason, _ := strings.Cut(state, " ")
		row := record.Row{State: word, Reason: reason, Effect: "write"}
		if got, _ := wording.RowState(row); got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}
