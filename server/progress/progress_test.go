package progress

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/patterns"
	"patterngate/server/envelope"
)

// At most ten lines a second, the newest of those that wait, and the last always.
func TestProgressPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var got []string
		p := start(func(n Note) {
			got = append(got, fmt.Sprintf("%v %d/%d %s", time.Since(began), n.Value, n.Total, n.Message))
		})
		for i := range 99 {
			p.Tell(patterns.Progress{Line: fmt.Sprint("line ", i)})
			synctest.Wait()
			time.Sleep(3 * time.Millisecond)
		}
		p.End("over")
		want := []string{"0s 1/0 line 0", "100ms 2/0 line 33", "200ms 3/0 line 66", "297ms 4/4 over"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("99 lines in 297 ms (-want +got):\n%s", diff)
		}
	})
}

func TestProgressEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tt := range map[string]struct {
			lines []string
			last  string
			want  []string
		}{
			"no line":       {nil, "over", []string{"1 over"}},
			"nothing":       {nil, "", nil},
			"no last":       {[]string{"a"}, "", []string{"1 a"}},
			"what is older": {[]string{"a", "b", "c"}, "over", []string{"1 a", "2 over"}},
		} {
			var got []string
			p := start(func(n Note) { got = append(got, fmt.Sprint(n.Value, " ", n.Message)) })
			for _, line := range tt.lines {
				p.Tell(patterns.Progress{Line: line})
				synctest.Wait()
			}
			p.End(tt.last)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		var none *Progress
		none.End("over") // a call without a token
	})
}

func TestLastWords(t *testing.T) {
	for want, e := range map[string]envelope.Envelope{
		"finalize: done": {Status: envelope.StatusOK},
		"plan: stopped, invalid_plan:tool_not_allowed:pay": {Status: envelope.StatusStopped, Phase: "plan", StopReason: "invalid_plan:tool_not_allowed:pay"},
		"request: stopped, a:\\u001bb":                     {Status: envelope.StatusStopped, Phase: "request", StopReason: "a:\x1bb"},
	} {
		if got := LastWords(e, patterns.Ended{Phase: "finalize"}); got != want {
			t.Errorf("lastWords(%q in %q) = %q, want %q", e.StopReason, e.Phase, got, want)
		}
	}
	long := LastWords(envelope.Envelope{Status: envelope.StatusStopped, Phase: "plan", StopReason: "invalid_plan:" + strings.Repeat("é", 4000)}, patterns.Ended{})
	if n := len([]rune(long)); n > MaxLine {
		t.Errorf("a line of %d characters: %s", n, long)
	}
}
