package notify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func Example_event() {
	b := batch{calls: []Call{callOf(asked("ap_0123456789abcdef"))}, asked: 1, waiting: 3, base: "http://127.0.0.1:8766"}
	doc, err := b.event()
	fmt.Println(strings.ReplaceAll(string(doc), `,"`, ",\n\""), err)
	// Output:
	// {"type":"patterngate/notify/v1",
	// "event":"approval_waiting",
	// "approval_id":"ap_0123456789abcdef",
	// "run_id":"run_0123456789abcdef",
	// "pattern":"supervised_refund",
	// "tool":"issue_refund",
	// "rule":"high_refund_requires_human",
	// "phrase":"refunding 1200.00 USD to user 42",
	// "min_assurance":"user",
	// "since":"2026-03-01T12:00:00Z",
	// "expires_at":"2026-03-02T12:00:00Z",
	// "url":"http://127.0.0.1:8766/a/ap_0123456789abcdef",
	// "command":"patterngate approvals show ap_0123456789abcdef",
	// "asked":1,
	// "waiting":3}
	//  <nil>
}

// The page about approvals shows the document as it is.
func TestEventInDocs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "approvals.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := batch{calls: []Call{callOf(asked("ap_0123456789abcdef"))}, asked: 1, waiting: 3, base: "http://127.0.0.1:8766"}.event()
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := json.Indent(&want, doc, "", "  "); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```json\n"+want.String()+"```\n") {
		t.Errorf("docs/approvals.md has no block with\n%s", want.String())
	}
}

// hostile are texts that want to be more than text.
var hostile = map[string]string{
	"html":        `<script>alert(1)</script>"'&`,
	"terminal":    "\x1b]0;owned\x07\x1b[2J\r\n\x00",
	"bidi":        "\u202egnp.exe\u2066\u200f",
	"not UTF-8":   "\xff\xfe\x9b31m",
	"1 MB":        strings.Repeat("a", 1<<20),
	"1 MB bidi":   strings.Repeat("\u202e", 1<<20/3),
	"json":        `","approval_id":"ap_other"}`,
	"script":      `'); Start-Process calc; ('`,
	"applescript": `" & (do shell script "id") & "`,
	"path":        "../../sign-in/token?x=#y",
}

// unseenIn are characters that act instead of showing.
var unseenIn = regexp.MustCompile("[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

func TestHostileTextInEvents(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			a := asked(text)
			a.Question.Tool, a.Question.Run, a.Pattern, a.Rule, a.Phrase, a.Least = text, text, text, text, text, "user"
			var calls []Call
			for range maxCalls {
				calls = append(calls, callOf(a))
			}
			doc, err := batch{calls: calls, asked: 1000, waiting: 1000, base: "http://127.0.0.1:8766/"}.event()
			if err != nil {
				t.Fatal(err)
			}
			checkEvent(t, doc)
			var e Event
			if err := json.Unmarshal(doc, &e); err != nil {
				t.Fatal(err)
			}
			if beyond, found := strings.CutPrefix(e.URL, "http://127.0.0.1:8766/a/"); !found || strings.ContainsAny(beyond, "/?#") {
				t.Errorf("url = %q", e.URL)
			}
		})
	}
}

// checkEvent checks what holds of every event.
func checkEvent(t *testing.T, doc []byte) {
	t.Helper()
	if len(doc) > 64<<10 || !utf8.Valid(doc) || unseenIn.Match(doc) || strings.Count(string(doc), "\n") != 1 {
		t.Errorf("the event is no single line of visible text of at most 64 KiB: %d bytes, %.300q", len(doc), doc)
	}
	var e Event
	if err := json.Unmarshal(doc, &e); err != nil || e.Type != eventType || e.Event != approvalWaiting {
		t.Errorf("%.300q is read as %q %q, %v", doc, e.Type, e.Event, err)
	}
	for _, text := range []string{e.ApprovalID, e.RunID, e.Pattern, e.Tool, e.Rule, e.Phrase, e.URL, e.Command} {
		if unseenIn.MatchString(text) || len(text) > 3*maxText {
			t.Errorf("a member is %.300q with %d bytes", text, len(text))
		}
	}
}

func FuzzEvent(f *testing.F) {
	for _, text := range hostile {
		if len(text) < 1000 {
			f.Add("ap_0123456789abcdef", text, text, int64(0))
		}
	}
	f.Fuzz(func(t *testing.T, id, name, phrase string, since int64) {
		a := asked(id)
		a.Question.Tool, a.Rule, a.Phrase, a.Since = name, name, phrase, time.Unix(since&(1<<37-1), 0)
		doc, err := batch{calls: []Call{callOf(a), callOf(a)}, asked: 2, waiting: 2, base: "http://127.0.0.1:1"}.event()
		if err != nil {
			t.Fatal(err)
		}
		checkEvent(t, doc)
	})
}
