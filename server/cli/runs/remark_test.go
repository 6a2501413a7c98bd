package runs

import (
	"strings"
	"testing"
	"unicode/utf8"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/record"
)

// An approval is used up by the call that began, also if the call failed.
func TestSpentInVain(t *testing.T) {
	judged := record.Row{Kind: record.Judged, Key: "pay#1", Decision: string(gateway.Escalate)}
	call := func(grant string, state patterns.State) record.Row {
		return record.Row{Kind: string(patterns.ToolEffect), Key: "pay#1", Grant: grant, State: string(state)}
	}
	for name, tt := range map[string]struct {
		rows []record.Row
		want string
	}{
		"nothing was sent":        {[]record.Row{judged, call("ap_1", patterns.Failed)}, "ap_1"},
		"the call was made":       {[]record.Row{judged, call("ap_1", patterns.OK)}, ""},
		"made at the second try":  {[]record.Row{judged, call("ap_1", patterns.Failed), call("ap_1", patterns.OK)}, ""},
		"another call failed":     {[]record.Row{judged, call("ap_1", patterns.OK), call("", patterns.Failed)}, ""},
		"the second call failed":  {[]record.Row{judged, call("ap_1", patterns.OK), call("ap_2", patterns.Failed)}, "ap_2"},
		"nobody was asked at all": {[]record.Row{judged, call("", patterns.Failed)}, ""},
	} {
		if got := spentInVain(tt.rows); got != tt.want {
			t.Errorf("%s: %q was spent in vain, want %q", name, got, tt.want)
		}
	}
}

// A long reason ends after a word.
func TestReasonsEndAfterAWord(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("several words ", 30))
	for _, most := range []int{10, 40, 200} {
		got := reasonIn(long, most)
		words, isCut := strings.CutSuffix(got, "...")
		if !isCut || utf8.RuneCountInString(got) > most || !strings.HasPrefix(long, words+" ") {
			t.Errorf("%d characters: %q", most, got)
		}
	}
	for _, whole := range []string{"", "done", "it says ...", strings.Repeat("x", 1000)} {
		if got := reasonIn(whole, 1000); got != whole {
			t.Errorf("%q is shown as %q", whole, got)
		}
	}
	if got := reasonIn(strings.Repeat("x", 300), 50); got != strings.Repeat("x", 47)+"..." {
		t.Errorf("one long word is shown as %q", got)
	}
}
