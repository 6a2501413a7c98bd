package recordtext

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/patterns/record"
	"patterngate/patterns/record/recordtest"
	"patterngate/server/cli/console"
)

var update = flag.Bool("update", false, "write the golden files anew")

// What people see of a record: golden files, at the widths of a small and of a wide terminal.
func TestRecordsShown(t *testing.T) {
	for name, events := range recordtest.All(t) {
		s := record.Read(events).Naming(gateway.NewRing([]gateway.PublicKey{recordtest.Key.PublicKey}))
		receipt, err := console.JSONText(s.Receipt())
		if err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{
			"timeline_80": Timeline(s, 80), "timeline_160": Timeline(s, 160), "receipt": Receipt(s.Receipt(), 80),
			"trace": Trace(events, 120), "receipt_json": receipt,
		} {
			t.Run(name+"_"+file, func(t *testing.T) { goldenText(t, filepath.Join("runs", name+"_"+file+".txt"), text) })
		}
	}
}

// goldenText compares a text with its file in testdata.
func goldenText(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got; go test -update writes it anew):\n%s", path, diff)
	}
}

// Nothing that an outsider wrote acts on the terminal, begins a line of ours, or makes a line or page of any length.
func TestHostileRecordsShown(t *testing.T) {
	events := recordtest.Hostile(t)
	s := record.Read(events).Naming(gateway.NewRing([]gateway.PublicKey{recordtest.Key.PublicKey}))
	json, err := console.JSONText(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{console.MinWidth, 80, 160, console.MaxWidth} {
		for name, text := range map[string]string{"timeline": Timeline(s, width), "receipt": Receipt(s.Receipt(), width), "trace": Trace(events, width)} {
			for line := range strings.SplitSeq(text, "\n") {
				if n := utf8.RuneCountInString(line); n > width+2*console.MaxName {
					t.Errorf("%s at %d: a line of %d characters: %.100s", name, width, n, line)
				}
				if strings.HasPrefix(line, "Ended  ok") {
					t.Errorf("%s at %d: a line of theirs: %s", name, width, line)
				}
			}
			if len(text) > 32<<10 {
				t.Errorf("%s at %d has %d bytes", name, width, len(text))
			}
			harmless(t, name, text)
		}
	}
	harmless(t, "json", json)
}

// What is there is shown: the words that a reader looks for.
func TestTimelineTells(t *testing.T) {
	for name, want := range map[string][]string{
		"refund":  {"waited for the caller", "approved with changes by key " + recordtest.Key.ID, "amount_usd from 1200 to 800", "spent by issue_refund#1", "an attempt to decide ap_", "800 is what the contract says", "issue_refund (writes): done", "blocked by email_before_refund", "max_steps 3 of 8"},
		"report":  {"task#2", "attempt 2: payments_worker: done", "answered too late", "[="},
		"doubt":   {"taken over", "it did not happen", "2 d 07 h"},
		"waiting": {"waits for the caller", "waiting"},
		"plan":    {"Plan plan_9f2c31d07ab4e856", "claimed plan_9f2c31d07ab4e856", "attempt 2: calculate_monthly_kpis: done", "result of a subtask", "kpis#2", "stored the progress of", "and released it"},
		"asking":  {"no answer yet; without one by 2026-11-22T09:30:00Z", "{\"amount_usd\":1200,\"user_id\":42}"},
		"lapsed":  {"no answer before the deadline, so it was rejected", "not spent", "not tried (approval_expired)"},
	} {
		text := Timeline(record.Read(recordtest.All(t)[name]), 160)
		for _, words := range want {
			if !strings.Contains(text, words) {
				t.Errorf("%s: %q is not in\n%s", name, words, text)
			}
		}
	}
}

// Timelines and receipts name people, too.
func TestPeopleInRecords(t *testing.T) {
	named := func(who string) string { return strings.Replace(who, "local:1000", "local:1000 (anna)", 1) }
	read := record.Read(recordtest.Refund(t))
	story := read.Calling(named)
	for what, text := range map[string]string{"timeline": Timeline(story, 200), "receipt": Receipt(story.Receipt(), 200)} {
		if strings.Count(text, "local:1000 (anna)") < 2 || strings.Count(text, "local:1000") != strings.Count(text, "local:1000 (anna)") {
			t.Errorf("%s:\n%s", what, text)
		}
	}
	if read.Principal != "local:1000" {
		t.Errorf("the story that was read was changed: %s", read.Principal)
	}
}

// A terminal's trace and timeline are cut to its width.
func TestTerminalPagesAreCut(t *testing.T) {
	r := recordtest.Recorder{T: t, ID: "run_00000000000000b8"}
	r.Start("supervised_refund", "supervisor", `{"goal":"x"}`, `{}`)
	r.Call(1, 2, "issue_refund#1", "write", `{"reason":"`+strings.Repeat("x", 300)+`"}`, `{"decision":"approve"}`, `{"state":"ok","output":{}}`)
	for name, text := range map[string]string{"trace": Trace(r.Events, 100), "timeline": Timeline(record.Read(r.Events), 100)} {
		for line := range strings.Lines(text) {
			if n := len(strings.TrimSuffix(line, "\n")); n > 100 {
				t.Errorf("%s: a line of %d characters for a width of 100: %q", name, n, line)
			}
		}
	}
}

// harmless checks that a text has no character that acts instead of showing.
func harmless(t *testing.T, name, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029') {
			t.Errorf("%s has the character %U", name, r)
			return
		}
	}
}
