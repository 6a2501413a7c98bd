package web

import (
	"slices"
	"strings"
	"testing"

	"patterngate/patterns"
)

// simulates returns what a program says that knows the tools of the test runs, of which these are simulated.
func simulates(tools ...string) func(patterns.Hashes) func(string) bool {
	return func(of patterns.Hashes) func(string) bool {
		if of.Config != "sha256:00" {
			return nil
		}
		return func(tool string) bool { return slices.Contains(tools, tool) }
	}
}

// A page says "Demo data" only if the record says that this program knows the run's tools, and if all of them are simulated.
func TestDemoDataIsOfTheRecord(t *testing.T) {
	const said = "Demo data."
	s := askedDemo(t)
	pages := []string{"/a/" + anAsked, "/r/" + aRun}
	shows := func(name string, want bool) {
		t.Helper()
		for _, path := range pages {
			if got := strings.Contains(s.get(path).Body.String(), said); got != want {
				t.Errorf("%s: %s says demo data: %t", name, path, got)
			}
		}
		if got := strings.Contains(s.get("/").Body.String(), ">demo data<"); got != want {
			t.Errorf("%s: the inbox says demo data: %t", name, got)
		}
	}
	shows("all simulated", true)
	known := s.pages.config.Simulated
	s.pages.config.Simulated = nil
	shows("nothing known", false)
	s.pages.config.Simulated = simulates("issue_refund")
	shows("one real call", false)
	s.pages.config.Simulated = simulates("get_refund_context")
	shows("a real tool asks", false)
	s.pages.config.Simulated = func(patterns.Hashes) func(string) bool { return nil }
	shows("another catalog", false)
	s.pages.config.Simulated = known
	kept := s.records[aRun]
	s.records[aRun] = kept[1:]
	shows("no start", false)
	s.records[aRun] = slices.Clone(kept)
	s.records[aRun][2].Body = []byte("{")
	shows("a damaged event", false)
}
