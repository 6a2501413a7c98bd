package cli

import (
	"bytes"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/cli/recordtext"
)

// Every command that names a person by local:1000 shows the user's name with it. JSON keeps the id alone.
func TestPeopleAreNamed(t *testing.T) {
	const id, named = "local:1000", "local:1000 (anna)"
	run := func(words ...string) string {
		f := newFakeDesk(t)
		q := &f.asked[0]
		q.Principal, q.State = id, patterns.AskedDecided
		q.Given = &patterns.Given{Answer: gateway.Answer{Choice: gateway.ChooseReject, By: id, At: recorderStart}, Channel: "cli"}
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

// Timelines and receipts name people, too.
func TestPeopleInRecords(t *testing.T) {
	named := func(who string) string { return strings.Replace(who, "local:1000", "local:1000 (anna)", 1) }
	read := record.Read(refundRecord(t))
	story := read.Calling(named)
	for what, text := range map[string]string{"timeline": recordtext.Timeline(story, 200), "receipt": recordtext.Receipt(story.Receipt(), 200)} {
		if strings.Count(text, "local:1000 (anna)") < 2 || strings.Count(text, "local:1000") != strings.Count(text, "local:1000 (anna)") {
			t.Errorf("%s:\n%s", what, text)
		}
	}
	if read.Principal != "local:1000" {
		t.Errorf("the story that was read was changed: %s", read.Principal)
	}
}
