package cli

import (
	"bytes"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/record/recordtest"
)

// Every command that names a person by local:1000 shows the user's name with it. JSON keeps the id alone.
func TestPeopleAreNamed(t *testing.T) {
	const id, named = "local:1000", "local:1000 (anna)"
	run := func(words ...string) string {
		f := newFakeDesk(t)
		q := &f.asked[0]
		q.Principal, q.State = id, patterns.AskedDecided
		q.Given = &patterns.Given{Answer: gateway.Answer{Choice: gateway.ChooseReject, By: id, At: recordtest.Began}, Channel: "cli"}
		var out, errs bytes.Buffer
		a := f.app(&out, &errs)
		a.People = func(who string) string { return strings.Replace(who, id, named, 1) }
		root := a.root()
		root.SetArgs(append([]string{"approvals"}, words...))
		a.Exit(t.Context(), root.ExecuteContext(t.Context()))
		return out.String() + errs.String()
	}
	for _, words := range [][]string{{"show", askedID}, {"approve", askedID, "--yes"}} {
		if text := strings.Join(strings.Fields(run(words...)), " "); !strings.Contains(text, "by "+named) {
			t.Errorf("%q does not name anna:\n%s", words, text)
		}
	}
	if text := run("show", askedID, "--json"); strings.Contains(text, "anna") || !strings.Contains(text, `"by": "`+id+`"`) {
		t.Errorf("show --json:\n%s", text)
	}
}
