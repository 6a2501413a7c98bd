package web

import (
	"strings"
	"testing"
)

// Pages name the user of the system where a record has an id.
func TestPagesNamePeople(t *testing.T) {
	s := newSite(t)
	s.pages.config.People = func(id string) string { return strings.Replace(id, "local:1000", "local:1000 (anna)", 1) }
	s.asked[0].Principal = "local:1000"
	if w := s.post("/a/"+anAsked, s.answer("approve")); w.Code != 303 {
		t.Fatalf("approve: %d", w.Code)
	}
	h := &history{t: t}
	h.start(`{"goal":"refund user 42"}`)
	s.records[aRun] = h.events
	s.plans[aPlan] = everyStatus()
	for path, least := range map[string]int{"/p/" + aPlan: 2, "/a/" + anAsked: 2, "/r/" + aRun: 1, "/r/" + aRun + "/receipt": 1} {
		page := s.get(path).Body.String()
		if named := strings.Count(page, "local:1000 (anna)"); named < least || named != strings.Count(page, "local:1000") {
			t.Errorf("%s names anna %d times of %d", path, named, strings.Count(page, "local:1000"))
		}
	}
}
