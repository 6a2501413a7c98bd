package trial

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog/demo/ledger"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// killsInCI is how many kills the matrices have in CI, at least.
const killsInCI = 2000

// provedHere is how much the tests try. Of a raced process each life takes a second.
func provedHere() proveSize {
	switch {
	case raced:
		return proveSize{apart: 40, again: 1, crowds: 1, crowd: crowdSize{runs: 3, blows: 3}}
	case os.Getenv("CI") != "":
		return proveSize{apart: 1, again: 850, crowds: 12, crowd: crowdSize{runs: 24, blows: 40}}
	}
	return proveSize{apart: 80, again: 1, crowds: 1, crowd: crowdSize{runs: 3, blows: 3}}
}

// testCommands are the commands with these streams and nothing of the caller's environment but where temporary files go.
func testCommands(t *testing.T, out, errs io.Writer) *Commands {
	t.Helper()
	return &Commands{Console: &console.Console{In: strings.NewReader(""), Out: out, Err: errs, Color: "never", Environ: append(systemEnvironment(os.Environ()), "TMPDIR="+t.TempDir())}}
}

// Killed at its boundaries, again and again, alone and with others on the same file, the program loses nothing, does
// nothing twice and ends as if it had lived.
func TestProve(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	a := testCommands(t, &out, &errs)
	a.JSON = true
	seed := rand.Uint64N(1_000_000)
	err := a.prove(t.Context(), provedHere(), seed)
	var got proof
	if unread := json.Unmarshal(out.Bytes(), &got); unread != nil {
		t.Fatalf("prove: %v, %v; %s%s", err, unread, out.String(), errs.String())
	}
	t.Logf("%d kills, %d stops in %.1f s, seed %d", got.Kills, got.Stops, got.Seconds, seed)
	for _, r := range got.Rows {
		t.Logf("%s: %d boundaries, %d trials, %d kills, %d stops, %d lost, %d twice, %d equal",
			r.Pattern, r.Boundaries, r.Trials, r.Kills, r.Stops, r.Lost, r.Twice, r.Equal)
		if !r.good() || r.Trials == 0 {
			t.Errorf("%s, seed %d: %s", r.Pattern, seed, strings.Join(r.Faults, "\n"))
		}
	}
	if want := len(provedRuns()) + 3; err != nil || len(got.Rows) != want || got.Kills == 0 {
		t.Errorf("prove: %v, %d rows with %d kills; want %d rows", err, len(got.Rows), got.Kills, want)
	}
	if os.Getenv("CI") != "" && !raced && got.Kills < killsInCI {
		t.Errorf("%d kills, want %d at least", got.Kills, killsInCI)
	}
}

// What is lost, done twice or ended otherwise is seen, whatever makes up for it elsewhere.
func TestShortcomings(t *testing.T) {
	want := verdict{results: map[string]string{"a": "{}", "b": "{}"}, acts: map[string]int{"pay 1": 1, "pay 2": 1}}
	for name, c := range map[string]struct {
		results map[string]string
		acts    map[string]int
		want    [3]int // lost, twice, unequal
	}{
		"equal":                  {want.results, want.acts, [3]int{}},
		"a payment lost":         {want.results, map[string]int{"pay 1": 1}, [3]int{1, 0, 0}},
		"one made twice":         {want.results, map[string]int{"pay 1": 2, "pay 2": 1}, [3]int{0, 1, 0}},
		"one lost, one twice":    {want.results, map[string]int{"pay 1": 2}, [3]int{1, 1, 0}},
		"one of another amount":  {want.results, map[string]int{"pay 1": 1, "pay 3": 1}, [3]int{1, 1, 0}},
		"another result":         {map[string]string{"a": "{}", "b": "[]"}, want.acts, [3]int{0, 0, 1}},
		"no result":              {map[string]string{"a": "{}"}, want.acts, [3]int{0, 0, 1}},
		"nothing at all happens": {nil, nil, [3]int{2, 0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			s := verdict{results: c.results, acts: c.acts}.against(want)
			if got := [3]int{s.lost, s.twice, s.unequal}; got != c.want || s.none() != (c.want == [3]int{}) || len(s.said) == 0 != s.none() {
				t.Errorf("lost, twice, unequal: %v, want %v; said %q", got, c.want, s.said)
			}
			var row provedRow
			row.add("here", verdict{results: c.results, acts: c.acts, kills: 1}, want, nil)
			if row.good() != s.none() || row.Kills != 1 || row.Trials != 1 {
				t.Errorf("the row %+v of a trial with %v", row, c.want)
			}
		})
	}
	var row provedRow
	row.add("here", verdict{}, want, io.ErrUnexpectedEOF)
	if row.good() || len(row.Faults) != 1 {
		t.Errorf("a trial that could not be made leaves %+v", row)
	}
}

// A payment that is really made twice, by two keys or in a world without them, is counted twice by prove's own ledger.
func TestTheLedgerSeesTwoPayments(t *testing.T) {
	var out, errs bytes.Buffer
	a := testCommands(t, &out, &errs)
	outside, err := a.startLedger(filepath.Join(t.TempDir(), "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := outside.end(); err != nil {
			t.Errorf("the ledger ended: %v, %s", err, errs.String())
		}
	}()
	for _, world := range []ledger.World{"", ledger.Plain} {
		book := outside.book("b" + string(world))
		book.World = world
		for range 2 {
			args, err := json.Marshal(map[string]any{"goal": "Refund 49 USD", "actions": refundOf(49)})
			if err != nil {
				t.Fatal(err)
			}
			call, err := a.own("call", "supervised_refund", "--state", settings.MemoryState, "--quiet", "--args", string(args)) // the second call begins a run of its own
			if err != nil {
				t.Fatal(err)
			}
			call.Env = append(call.Env, "HOME="+t.TempDir(), settings.LedgerVariable+"="+book.String())
			if said, err := call.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
		}
		entries, err := book.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		acts := actsOf(entries)
		for act, n := range acts {
			if n != 2 {
				t.Errorf("world %q: %s was done %d times, want 2", world, act, n)
			}
		}
		if len(acts) != 2 {
			t.Errorf("world %q: %v, want a refund and a mail", world, acts)
		}
	}
}

// Two runs of the same input are equal except for ids and times. The test shows any other difference.
func TestComparableEnvelopes(t *testing.T) {
	const one = `{"status":"ok","run_id":"run_0123456789abcdef","summary":"Done in 0.25 s.","joined":true,
		"history":[{"observation":{"transaction_id":"rf_42_0123456789ab"},"decided_at":"2026-11-21T09:30:00Z"}],
		"effects":[{"key":"issue_refund#1","status":"done"}],"budget":{"max_seconds":{"used":0.25},"max_steps":{"used":3}}}`
	for name, c := range map[string]struct {
		from, to string
		equal    bool
	}{
		"nothing":        {"", "", true},
		"run":            {"run_0123456789abcdef", "run_fedcba9876543210", true},
		"time taken":     {"0.25", "31.5", true},
		"almost no time": {"0.25 s", "under 0.01 s", true},
		"joined":         {`"joined":true,`, "", true},
		"transaction":    {"rf_42_0123456789ab", "rf_42_ba9876543210", true},
		"when":           {"09:30:00", "10:31:01", true},
		"effect's key":   {"issue_refund#1", "issue_refund#2", false},
		"customer":       {"rf_42", "rf_7", false},
		"status":         {`"status":"done"`, `"status":"in_doubt"`, false},
		"steps":          {`"used":3`, `"used":4`, false},
		"another effect": {`"effects":[`, `"effects":[{"key":"x"},`, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := comparableEnvelope([]byte(one))
			b, err2 := comparableEnvelope([]byte(strings.ReplaceAll(one, c.from, c.to)))
			if c.from == "" {
				b, err2 = comparableEnvelope([]byte(one))
			}
			if err != nil || err2 != nil || (a == b) != c.equal {
				t.Errorf("equal %v, want %v; %v, %v\n%s", a == b, c.equal, err, err2, cmp.Diff(a, b))
			}
		})
	}
	if _, err := comparableEnvelope([]byte(`{"a":1,"a":2}`)); err == nil {
		t.Error("an envelope with a repeated member is compared")
	}
}
