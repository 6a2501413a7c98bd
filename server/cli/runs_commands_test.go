package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/patterns/record/recordtest"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/cli/statefile"
)

// fakeRuns is a state with records, for commands.
type fakeRuns struct {
	records map[string][]patterns.Event // by id
	kept    map[string]int64
	stones  []local.Tombstone
	refuse  error // of decisions
	damage  error // of the file
	calls   []string
	ring    gateway.Ring
	keyDir  string
	acts    []gateway.SignedAct // that were not empty
}

func newFakeRuns(t testing.TB) *fakeRuns {
	f := &fakeRuns{records: map[string][]patterns.Event{}, kept: map[string]int64{}, ring: gateway.NewRing([]gateway.PublicKey{recordtest.Key.PublicKey})}
	for _, events := range recordtest.All(t) {
		id := idOfRecord(t, events)
		f.records[id], f.kept[id] = events, int64(len(events))
	}
	return f
}

// unkeyedFor takes the approver key away from what would need its signature.
func (f *fakeRuns) unkeyedFor(line string) {
	if strings.HasPrefix(line, "settle ") || strings.HasPrefix(line, "seize ") {
		f.ring = gateway.Ring{}
	}
}

func idOfRecord(t testing.TB, events []patterns.Event) string {
	var start struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal(events[0].Body, &start); err != nil {
		t.Fatal(err)
	}
	return start.RunID
}

func (f *fakeRuns) Find(beginning string) (string, error) {
	var ids []string
	for id := range f.records {
		if strings.HasPrefix(strings.TrimPrefix(id, "run_"), strings.TrimPrefix(beginning, "run_")) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	switch len(ids) {
	case 0:
		return "", patterns.ErrNoRun
	case 1:
		return ids[0], nil
	}
	return "", &local.AmbiguousError{IDs: ids}
}

func (f *fakeRuns) Run(id string) (patterns.Snapshot, bool) {
	_, ok := f.records[id]
	return patterns.Snapshot{RunID: id, State: patterns.Over}, ok
}

func (f *fakeRuns) Record(id string) ([]patterns.Event, int64, error) {
	return f.records[id], f.kept[id], nil
}

func (f *fakeRuns) Kept(id string) ([]patterns.Event, patterns.Kept, error) {
	return f.records[id], patterns.Kept{Head: patterns.Head{Events: f.kept[id]}}, nil
}

func (f *fakeRuns) List(filter patterns.Filter) (patterns.Page, error) {
	if filter.Cursor == "damaged" {
		return patterns.Page{}, patterns.ErrCursor
	}
	if filter.Limit != 100 && filter.Cursor == "" {
		return patterns.Page{Rows: listedRuns, Next: "c2"}, nil
	}
	var page patterns.Page
	for id := range f.records {
		page.Rows = append(page.Rows, patterns.RunRow{RunID: id})
	}
	slices.SortFunc(page.Rows, func(a, b patterns.RunRow) int { return strings.Compare(a.RunID, b.RunID) })
	return page, nil
}

var listedRuns = []patterns.RunRow{
	{RunID: "run_71aa03c9e2d8b456", Pattern: "supervised_refund", Principal: "local:1000", Status: "waiting", WaitingKind: "settlement", Began: recordtest.Began, Expires: recordtest.Began.Add(7 * 24 * time.Hour), Summary: "issue_refund is in doubt."},
	{RunID: "run_5d0c9a1e77b2f340", Pattern: "run_task_decomposition", Principal: "token:ci", Status: "ok", StopReason: "success", Began: recordtest.Began, Ended: recordtest.Began, Summary: "The caller's plan of 5 steps was accepted and completed in 0.01 s. Nothing was written."},
	{RunID: "run_9b1f00c2d4e5a687", Pattern: "route_ticket", Status: "stopped", StopReason: "invalid_route:route_not_allowed:\x1b[31m\u202e", Began: recordtest.Began, Summary: "x\ny"},
	{RunID: "run_40d7be81c6935ef2", Pattern: "run_orchestrator", Status: "running", Began: recordtest.Began, Owner: "4711"},
}

func (f *fakeRuns) Cancel(_ context.Context, id string, by patterns.Note) (patterns.Snapshot, error) {
	f.calls = append(f.calls, "cancel "+id+" "+by.Channel+" "+by.Reason)
	return patterns.Snapshot{RunID: id, State: patterns.Over, Ended: patterns.Ended{Result: patterns.Result{StopReason: "cancelled"}}}, f.refuse
}

func (f *fakeRuns) Settle(id, effect string, s local.Settlement) error {
	happened := map[bool]string{true: "happened", false: "did not"}[s.Happened]
	f.calls = append(f.calls, strings.TrimSpace("settle "+id+" "+effect+" "+happened+" "+string(s.Result)+s.Comment))
	f.signed(s.Act)
	return f.refuse
}

func (f *fakeRuns) signed(act gateway.SignedAct) {
	if act.Signature != "" {
		f.acts = append(f.acts, act)
	}
}

func (f *fakeRuns) Seize(id string, by patterns.Note, act gateway.SignedAct) error {
	f.calls = append(f.calls, "seize "+id)
	f.signed(act)
	return f.refuse
}

func (f *fakeRuns) Resume(_ context.Context, id string) ([]patterns.Snapshot, error) {
	f.calls = append(f.calls, "resume "+id)
	return []patterns.Snapshot{
		{RunID: "run_00000000000000a1", State: patterns.Over, Ended: patterns.Ended{Result: patterns.Result{StopReason: patterns.Success}}},
		{RunID: "run_00000000000000d4", State: patterns.Parked, Ended: patterns.Ended{Waiting: &patterns.Waiting{Kind: patterns.ForRetry, Cause: "config_missing", Needs: []string{"sha256:00"}}}},
	}, f.refuse
}

func (f *fakeRuns) Prune(before time.Time, dry bool) ([]local.Tombstone, error) {
	if dry {
		f.calls = append(f.calls, "prune dry")
	} else {
		f.calls = append(f.calls, "prune")
	}
	if age := time.Since(before); age < 89*24*time.Hour || age > 91*24*time.Hour {
		return nil, errors.New("not 90 days")
	}
	return f.stones, f.refuse
}

func (f *fakeRuns) Keys() (gateway.Ring, error) { return f.ring, nil }

func (f *fakeRuns) KeyDir() string { return f.keyDir }

func (f *fakeRuns) Config(string) ([]byte, bool) { return nil, false }

func (f *fakeRuns) Audit() ([]local.Damage, error) { return nil, f.damage }

func (f *fakeRuns) Tombstones() ([]local.Tombstone, error) { return f.stones, nil }

func (f *fakeRuns) KillSwitches() ([]patterns.Switch, error) { return nil, nil }

func (f *fakeRuns) KillSwitch(bool, patterns.Switch, gateway.SignedAct) error { return nil }

func (f *fakeRuns) Reload(context.Context, local.ReloadRequest) ([]local.ReloadAnswer, error) {
	return nil, local.ErrNobodyServes
}

// command carries out a command line over these runs.
func (f *fakeRuns) command(t testing.TB, args ...string) (code int, out, errs string) {
	t.Helper()
	return f.commandTyped(t, nil, args...)
}

// commandTyped is as command, with somebody at the terminal who types these passphrases.
func (f *fakeRuns) commandTyped(t testing.TB, secrets []string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: &o, Err: &e, Environ: []string{"COLUMNS=120"}}}, opens: func() (statefile.Runs, func(), error) { return f, func() {}, nil }}
	a.secret = typedBy(secrets, &e)
	root := a.root()
	root.SetArgs(append([]string{}, args...))
	code = a.Exit(t.Context(), root.ExecuteContext(t.Context()))
	return code, o.String(), e.String()
}

func TestRunsCommands(t *testing.T) {
	head := strings.Replace(patterns.HeadOf(recordtest.Waiting(t)).String(), " sha256:", ":", 1)
	tests := map[string]struct {
		line      string
		code      int
		out, errs string // parts of them
		call      string // what was decided
	}{
		"list":                {"list", 0, "run_71aa03c9e2d8b456  2026-11-21T09:30:00Z  waiting   supervised_refund       for a person to settle a call", "more runs: the same command with --cursor c2", ""},
		"list, status":        {"list --status odd", 2, "", "--status: got \"odd\"\ntry: --status running, waiting, ok, stopped", ""},
		"list, no result":     {"list --status no_result", 2, "", "--status: runs with no result have the status ok\ntry: --status ok", ""},
		"list, limit":         {"list --limit 101", 2, "", "--limit: got 101\ntry: --limit 1 to 100", ""},
		"list, since":         {"list --since tomorrow", 2, "", "--since: got \"tomorrow\"", ""},
		"list, cursor":        {"list --cursor damaged", 2, "", "--cursor: the cursor does not belong to this list", ""},
		"list, words":         {"list x", 2, "", "unknown command", ""},
		"show":                {"show 000000000000d4", 2, "", "no run 000000000000d4 is recorded here\ntry: patterngate runs list", ""},
		"show one":            {"show run_00000000000000d4", 0, "waits for the caller", "", ""},
		"show, ambiguous":     {"show 0000", 2, "", "9 runs begin with 0000: run_00000000000000a1,", ""},
		"show, 3 digits":      {"show 000", 2, "", `"000" is not the id of a run, nor its first 4 digits or more`, ""},
		"show, upper case":    {"show run_ABCDEF", 2, "", "is not the id of a run", ""},
		"show, none":          {"show", 2, "", "runs show: name the run\ntry: patterngate runs list", ""},
		"show, two":           {"show a b", 2, "", "one run, got 2 arguments", ""},
		"show, receipt":       {"show 00000000000000a1 --receipt", 0, "approved by  key " + recordtest.Key.ID + " (Anna): approved with changes, assurance signed", "", ""},
		"show, both":          {"show 00000000000000a1 --receipt --step 1", 2, "", "show different things", ""},
		"step, number":        {"show 00000000000000b2 --step 4", 0, "task#2/payments_worker#2  attempt 2", "", ""},
		"step, id of a task":  {"show 00000000000000b2 --step payments", 0, "task#2/payments_worker#1  payments_worker: no answer (timeout)", "", ""},
		"step, branch":        {"show 00000000000000b2 --step task#3", 0, "task#3/inventory_worker#1", "", ""},
		"step, key":           {"show 00000000000000a1 --step issue_refund#1", 0, `"refund_id": "rf_1"`, "", ""},
		"step, none":          {"show 00000000000000a1 --step issue_refund#9", 2, "", `no step "issue_refund#9"`, ""},
		"step, json":          {"show 00000000000000a1 --step 2 --json", 0, `"key": "issue_refund#1"`, "", ""},
		"trace":               {"trace 00000000000000d4", 0, "   6  09:30:00.004  intent   turn#1", "", ""},
		"head":                {"head 00000000000000d4", 0, "run_00000000000000d4 6 sha256:", "", ""},
		"verify":              {"verify 00000000000000d4", 0, "ok: 6 events\n", "", ""},
		"verify, head":        {"verify 00000000000000d4 --head " + head, 0, "ok: 6 events\n", "", ""},
		"verify, bad head":    {"verify 00000000000000d4 --head 6:xyz", 2, "", "is not a head; want N:HASH", ""},
		"verify, other head":  {"verify 00000000000000d4 --head 6:" + strings.Repeat("0", 64), 1, "broken: event 6: is not the one whose head was kept", "", ""},
		"verify, longer head": {"verify 00000000000000d4 --head 9:" + strings.Repeat("0", 64), 1, "broken: event 7: missing; the kept head is of 9 events, 6 are there", "", ""},
		"verify, all":         {"verify --all", 0, "ok: 9 runs, ", "", ""},
		"verify, all and one": {"verify --all x", 2, "", "--all checks every run", ""},
		"verify, signed":      {"verify 00000000000000a1 --key " + recordtest.KeyText, 0, signedLines, "", ""},
		"verify, no key":      {"verify 00000000000000a1 --key abc", 2, "", `--key: "abc" is not a public key`, ""},
		"verify, all by key":  {"verify --all --key " + recordtest.KeyText, 2, "", "--all checks every run", ""},
		"verify, json":        {"verify 00000000000000a1 --json", 0, `"key_id": "` + recordtest.Key.ID + `"`, "", ""},
		"verify, nothing":     {"verify", 2, "", "one RUN or FILE", ""},
		"verify, no file":     {"verify ./nowhere.jsonl", 2, "", "nowhere.jsonl", ""},
		"export, form":        {"export 00000000000000d4 --as xml", 2, "", `--as: got "xml"`, ""},
		"cancel":              {"cancel 00000000000000d4 --reason enough", 0, "run_00000000000000d4 stopped cancelled\n", "", "cancel run_00000000000000d4 cli enough"},
		"cancel, long":        {"cancel 00000000000000d4 --reason " + strings.Repeat("x", 501), 2, "", "it has 501 characters", ""},
		"settle, happened":    {`settle 00000000000000d4 pay#1 --happened --result {"b":1,"a":[2.50]}`, 0, "settled", "", `settle run_00000000000000d4 pay#1 happened {"a":[2.5],"b":1}`},
		"settle, did not":     {"settle 00000000000000d4 pay#1 --did-not-happen --comment looked", 0, "settled", "", "settle run_00000000000000d4 pay#1 did not looked"},
		"settle, neither":     {"settle 00000000000000d4 pay#1", 2, "", "say whether the call happened\ntry: --happened or --did-not-happen", ""},
		"settle, both":        {"settle 00000000000000d4 pay#1 --happened --did-not-happen", 2, "", "say whether the call happened", ""},
		"settle, result":      {"settle 00000000000000d4 pay#1 --did-not-happen --result {}", 2, "", "a call that did not happen has no result", ""},
		"settle, no JSON":     {"settle 00000000000000d4 pay#1 --happened --result {", 2, "", "--result: not JSON: ends too early (byte 1)", ""},
		"settle, no effect":   {"settle 00000000000000d4 --happened", 2, "", "a RUN and an EFFECT", ""},
		"seize, nobody there": {"seize 00000000000000d4", 2, "", "it needs a yes, and there is no terminal to ask at\ntry: patterngate runs take-over run_00000000000000d4 --yes", ""},
		"seize":               {"seize 00000000000000d4 --yes", 0, "run_00000000000000d4 taken over", "", "seize run_00000000000000d4"},
		"resume":              {"resume", 0, "run_00000000000000a1 ok success\nrun_00000000000000d4 waiting retry config_missing sha256:00\n", "run_00000000000000d4 began under another configuration. Give the file that was in force then (--config FILE), or cancel the run: patterngate runs cancel run_00000000000000d4\n", "resume "},
		"resume one":          {"resume 00000000000000d4", 0, "run_00000000000000a1 ok", "", "resume run_00000000000000d4"},
		"prune":               {"prune --older-than 90d", 0, "run_aaaaaaaaaaaaaaaa  2026-11-21T09:30:00Z  route_ticket  success\n1 run deleted\n", "", "prune"},
		"prune, dry":          {"prune --older-than 90d --dry-run", 0, "1 run to delete", "", "prune dry"},
		"prune, no age":       {"prune", 2, "", "--older-than: got \"\"", ""},
		"prune, bad age":      {"prune --older-than -5d", 2, "", "--older-than: got \"-5d\"", ""},
		"pruned":              {"show aaaaaaaa", 2, "", "try: it was pruned; of its record only 3:", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFakeRuns(t)
			f.unkeyedFor(test.line)
			f.stones = []local.Tombstone{{RunID: "run_aaaaaaaaaaaaaaaa", Pattern: "route_ticket", StopReason: "success", Began: recordtest.Began, Ended: recordtest.Began, Head: patterns.Head{Events: 3, Hash: make([]byte, 32)}}}
			code, out, errs := f.command(t, append([]string{"runs"}, strings.Fields(test.line)...)...)
			if code != test.code || !strings.Contains(out, test.out) || !strings.Contains(errs, test.errs) || test.out == "" && out != "" && test.code == 2 {
				t.Errorf("runs %s = %d, want %d\nstdout:\n%s\nwant in it %q\nstderr:\n%s\nwant in it %q", test.line, code, test.code, out, test.out, errs, test.errs)
			}
			if got := strings.Join(f.calls, "; "); strings.TrimSpace(got) != strings.TrimSpace(test.call) {
				t.Errorf("runs %s decided %q, want %q", test.line, got, test.call)
			}
			harmless(t, "stdout", out)
			harmless(t, "stderr", errs)
		})
	}
}

// What a run does not take, as it stands, is refused: exit code 3; a run that went meanwhile is unknown: 2.
func TestRunsCommandsRefused(t *testing.T) {
	for err, code := range map[error]int{patterns.ErrOver: 3, patterns.ErrNotTaken: 3, patterns.ErrNoRun: 2, patterns.ErrJournal: 1} {
		for _, line := range []string{"cancel 00000000000000d4", "settle 00000000000000d4 pay#1 --happened", "seize 00000000000000d4 --yes"} {
			f := newFakeRuns(t)
			f.unkeyedFor(line)
			f.refuse = err
			got, out, errs := f.command(t, append([]string{"runs"}, strings.Fields(line)...)...)
			if got != code || out != "" || !strings.HasPrefix(errs, "runs ") || strings.Contains(errs, "patterns: ") {
				t.Errorf("runs %s with %v = %d, want %d; stdout %q, stderr %q", line, err, got, code, out, errs)
			}
		}
	}
}

// --json is one document on standard output, of every command that prints something; trace and export are JSON Lines.
func TestRunsJSON(t *testing.T) {
	for _, line := range []string{
		"list", "show 00000000000000a1", "show 00000000000000e5", "show 00000000000000a1 --receipt", "head 00000000000000a1", "verify 00000000000000a1", "verify --all",
		"cancel 00000000000000a1", "settle 00000000000000d4 pay#1 --happened", "seize 00000000000000a1 --yes", "resume", "prune --older-than 90d",
	} {
		f := newFakeRuns(t)
		f.unkeyedFor(line)
		code, out, errs := f.command(t, append([]string{"runs", "--json"}, strings.Fields(line)...)...)
		if code != 0 || !json.Valid([]byte(out)) {
			t.Errorf("runs %s --json = %d: %.300s\n%s", line, code, out, errs)
		}
		harmless(t, line, out)
	}
	_, out, _ := newFakeRuns(t).command(t, "runs", "trace", "00000000000000a1", "--json")
	want := ""
	for _, e := range recordtest.Refund(t) {
		want += string(e.AppendLine(nil))
	}
	if out != want {
		t.Errorf("trace --json:\n%s\nwant\n%s", out, want)
	}
}

// An export that was written is verified from its file, without the state; an edited one is not.
func TestRunsExportAndVerify(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	f := newFakeRuns(t)
	if code, out, errs := f.command(t, "runs", "export", "00000000000000a1", "-o", file); code != 0 || out != "" {
		t.Fatalf("export = %d, %q, %q", code, out, errs)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the export: %v, %v, want mode 0600", info.Mode(), err)
	}
	if code, out, _ := (&fakeRuns{}).command(t, "runs", "verify", file); code != 0 || out != signedLines {
		t.Errorf("verify = %d, %q", code, out)
	}
	if code, out, _ := (&fakeRuns{}).command(t, "runs", "verify", file, "--key", recordtest.KeyText); code != 0 || out != signedLines {
		t.Errorf("verify --key = %d, %q", code, out)
	}
	const stranger = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	if code, out, _ := (&fakeRuns{}).command(t, "runs", "verify", file, "--key", stranger); code != 1 || !strings.HasPrefix(out, "broken: event 13: was signed by key \""+recordtest.Key.ID+"\", which is not the given one") {
		t.Errorf("verify by another --key = %d, %q", code, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(text, []byte(`"amount_usd":800`), []byte(`"amount_usd":900`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := (&fakeRuns{}).command(t, "runs", "verify", file); code != 1 || out != "broken: event 13: does not follow from the one before\n" {
		t.Errorf("verify of an edited export = %d, %q", code, out)
	}
	if code, out, _ := (&fakeRuns{}).command(t, "runs", "verify", file, "--json"); code != 1 || !strings.Contains(out, `"broken_seq": 13`) {
		t.Errorf("verify --json of an edited export = %d, %q", code, out)
	}
	if code, _, errs := f.command(t, "runs", "export", "00000000000000a1", "-o", filepath.Join(file, "x")); code != 2 || !strings.Contains(errs, "-o ") {
		t.Errorf("export into a file as a directory = %d, %q", code, errs)
	}
}

// signedLines are what a check of the refund's record says.
var signedLines = "ok: 17 events\napprovals: 1 decided, 1 of them signed, 1 spent\nsignatures: 1 by key " + recordtest.Key.ID + " (Anna)\n"

// A record in the state that lost its end, or was changed, is found by the length and the chain, and still shown.
func TestRunsBroken(t *testing.T) {
	f := newFakeRuns(t)
	const short, changed = "run_00000000000000a1", "run_00000000000000b2"
	f.records[short] = f.records[short][:9]
	f.records[changed] = slices.Clone(f.records[changed])
	f.records[changed][4].Body = json.RawMessage(`{}`)
	if code, out, _ := f.command(t, "runs", "verify", short); code != 1 || out != "broken: event 10: missing; 9 of 17 events are there\n" {
		t.Errorf("verify of a short record = %d, %q", code, out)
	}
	if code, out, _ := f.command(t, "runs", "verify", "--all"); code != 1 || !strings.Contains(out, changed+" broken: event 5: does not follow") || !strings.HasSuffix(out, "broken: 2 of 9 runs\n") {
		t.Errorf("verify --all = %d, %q", code, out)
	}
	if code, out, errs := f.command(t, "runs", "show", short); code != 0 || !strings.Contains(out, "get_refund_context") || !strings.Contains(errs, "the record is broken: event 10") {
		t.Errorf("show of a short record = %d, %q, %q", code, out, errs)
	}
}

func TestRunsDamagedFile(t *testing.T) {
	f := newFakeRuns(t)
	f.damage = errors.New("page 7 is never used")
	if code, out, _ := f.command(t, "runs", "verify", "--all"); code != 1 || out != "broken: the state file is damaged: page 7 is never used; 0 of 9 runs are broken\n" {
		t.Errorf("verify --all of a damaged file = %d, %q", code, out)
	}
}

func TestRunsStateIsNotMade(t *testing.T) {
	dir := t.TempDir()
	for state, want := range map[string]string{
		filepath.Join(dir, "none.db"): "there is no file", ":memory:": "runs are only in the memory of the server",
	} {
		var errs bytes.Buffer
		a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: io.Discard, Err: &errs, Environ: []string{"HOME=" + dir}}}}
		root := a.root()
		root.SetArgs([]string{"runs", "list", "--state", state})
		if code := a.Exit(t.Context(), root.ExecuteContext(t.Context())); code != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("--state %s = %d, %q, want 2 and %q", state, code, errs.String(), want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("a reading command left %v, %v", left, err)
	}
}
