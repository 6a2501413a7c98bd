package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/approver"
	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/patterns/record/recordtest"
	"patterngate/server/cli/console"
	"patterngate/server/cli/statefile"
)

func TestApprovalsCommands(t *testing.T) {
	digest := askedRefund(askedID).Digest // the same for a second: below it is put in again
	other := "sha256:" + strings.Repeat("0", 64)
	tests := map[string]struct {
		line      string
		code      int
		out, errs string // parts of them
		decided   string
	}{
		"list":               {"list", 0, "refunding 1200.00 USD to user 42 (high_refund_requires_human)", "", ""},
		"list, limit":        {"list --limit 0", 2, "", "--limit: got 0\ntry: --limit 1 to 100", ""},
		"list, rule":         {"list --rule high_refund_requires_human", 0, "refunding 1200.00 USD to user 42", "", ""},
		"list, other rule":   {"list --rule night", 0, "no call waits for a person", "", ""},
		"list, no rule":      {"list --rule No", 2, "", "--rule: got \"No\"; the id of a rule has small letters, digits and _", ""},
		"list, empty rule":   {"list --rule=", 2, "", "--rule: got", ""},
		"watch, no rule":     {"watch --rule a/b", 2, "", "--rule: got", ""},
		"list, cursor":       {"list --cursor damaged", 2, "", "--cursor: the cursor does not belong to this list", ""},
		"list, words":        {"list x", 2, "", "unknown command", ""},
		"show":               {"show 03f2", 0, "issue_refund (writes)\n  | amount_usd: 1200\n  | reason: \"annual plan\"\n  | user_id: 42\n", "", ""},
		"show, none":         {"show", 2, "", "approvals show: name the approval\ntry: patterngate approvals list", ""},
		"show, unknown":      {"show ap_ffff", 2, "", "no approval ap_ffff is recorded here\ntry: patterngate approvals list --all", ""},
		"show, a run":        {"show run_71aa", 2, "", `"run_71aa" is not the id of an approval`, ""},
		"approve":            {"approve 03f2 --digest DIGEST", 0, "assurance user: any program of this system user could have decided this", "", "approve " + askedID + " cli"},
		"approve, goes on":   {"approve 03f2 --digest DIGEST", 0, askedRun + " continues: a server has taken it\ntell the agent: continue " + askedRun, "", "approve " + askedID + " cli"},
		"approve, log":       {"approve 03f2 --digest DIGEST", 0, "", `msg="approval decided" approval_id=` + askedID + " run_id=" + askedRun + " decision=approve assurance=user channel=cli", "approve " + askedID + " cli"},
		"approve, a script":  {"approve 03f2", 2, "", "nothing was decided. Without a terminal, an approval needs the digest of the call\ntry: patterngate approvals show " + askedID, ""},
		"edit, a script":     {"approve 03f2 --edit amount_usd=800", 2, "", "nothing was decided. Without a terminal, an approval needs the digest of the call", ""},
		"approve, yes":       {"approve 03f2 --yes", 0, ": not compared with what a person saw, as the record says", "", "approve " + askedID + " cli, not compared"},
		"edit, yes":          {"approve 03f2 --yes --edit amount_usd=800", 0, "digest sha256:", "", "edit " + askedID + " cli, not compared amount_usd=800 reason=\"annual plan\" user_id=42"},
		"approve, compared":  {"approve 03f2 --yes --digest DIGEST", 0, "assurance user", "", "approve " + askedID + " cli"},
		"approve, other":     {"approve 03f2 --digest " + other, 3, "", "the request is not the one that you saw: its digest is sha256:", "approve " + askedID + " cli"},
		"approve, no digest": {"approve 03f2 --digest sha256:12", 2, "", "--digest: got \"sha256:12\"", ""},
		"approve, two":       {"approve 03f2 03f3", 2, "", "one approval, got 2 arguments", ""},
		"approve, comment":   {"approve 03f2 --digest DIGEST --comment " + strings.Repeat("ä", 1001), 2, "", "it has 1001 characters\ntry: at most 1000 characters", ""},
		"approve, not UTF-8": {"approve 03f2 --digest DIGEST --comment \xff", 2, "", "it is not UTF-8", ""},
		"approve, bad key":   {"approve 03f2 --digest DIGEST --key ../../x", 2, "", "--key: got", ""},
		"approve, no key":    {"approve 03f2 --digest DIGEST --key 0123456789abcdef", 2, "", "is not a key that is enrolled here\ntry: patterngate approvals keys", ""},
		"edit":               {"approve 03f2 --digest DIGEST --edit amount_usd=800", 0, " approved with changes. Proposed was: refunding 1200.00 USD to user 42\napproved with these arguments instead, which the policy judges again:\n  | amount_usd: 800   was 1200\nassurance user", "", "edit " + askedID + " cli amount_usd=800 reason=\"annual plan\" user_id=42"},
		"edit, two":          {"approve 03f2 --digest DIGEST --edit amount_usd=1 --edit reason:=\"=x\" --comment ok", 0, "", "", "edit " + askedID + " cli amount_usd=1 reason=\"=x\" user_id=42 ok"},
		"edit, at":           {"approve 03f2 --digest DIGEST --edit reason=@/etc/hostname", 0, "", "", "edit " + askedID + " cli amount_usd=1200 reason=\"@/etc/hostname\" user_id=42"},
		"edit, unknown":      {"approve 03f2 --digest DIGEST --edit amount=1", 2, "", "the tool has no argument amount. It has amount_usd, reason, user_id", ""},
		"edit, type":         {"approve 03f2 --digest DIGEST --edit amount_usd=much", 2, "", "amount_usd: got much; want a number", ""},
		"edit, value":        {"approve 03f2 --digest DIGEST --edit amount_usd=-1", 2, "", "amount_usd: at least 0\ntry: --edit with a value that the tool takes", ""},
		"edit, JSON":         {"approve 03f2 --digest DIGEST --edit amount_usd:={", 2, "", "amount_usd", ""},
		"edit, NaN":          {"approve 03f2 --digest DIGEST --edit amount_usd:=NaN", 2, "", "amount_usd", ""},
		"edit, huge":         {"approve 03f2 --digest DIGEST --edit amount_usd=1e999", 2, "", "amount_usd", ""},
		"edit, same":         {"approve 03f2 --digest DIGEST --edit amount_usd=1200.0", 2, "", "it changes nothing", ""},
		"edit, twice":        {"approve 03f2 --digest DIGEST --edit amount_usd=1 --edit amount_usd=2", 2, "", "amount_usd: given twice", ""},
		"edit, no value":     {"approve 03f2 --digest DIGEST --edit amount_usd", 2, "", "write NAME=VALUE or NAME:=JSON", ""},
		"edit, no name":      {"approve 03f2 --digest DIGEST --edit =1", 2, "", "write NAME=VALUE or NAME:=JSON", ""},
		"edit, all faults":   {"approve 03f2 --digest DIGEST --edit a=1 --edit b=2", 2, "", "no argument a. It has amount_usd, reason, user_id\nthe tool has no argument b", ""},
		"reject":             {"reject ap_03f2 --comment no", 0, askedID + " rejected: refunding 1200.00 USD to user 42", "", "reject " + askedID + " cli no"},
		"reject, edit":       {"reject 03f2 --edit amount_usd=1", 2, "", "unknown flag: --edit", ""},
		"reject, other":      {"reject 03f2 --digest " + other, 3, "", "the request is not the one that you saw", "reject " + askedID + " cli"},
		"keys":               {"keys", 0, "No approver key is enrolled", "", ""},
		"a passphrase flag":  {"enroll --passphrase x", 2, "", "unknown flag: --passphrase", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFakeDesk(t)
			digest = f.asked[0].Digest
			words := strings.Fields(test.line)
			for i := range words {
				words[i] = strings.Replace(words[i], "DIGEST", digest, 1)
			}
			code, out, errs := f.command(t, nil, words...)
			if code != test.code || !strings.Contains(out, test.out) || !strings.Contains(errs, test.errs) || out != "" && code != 0 {
				t.Errorf("approvals %s = %d, want %d\nstdout:\n%s\nwant in it %q\nstderr:\n%s\nwant in it %q", test.line, code, test.code, out, test.out, errs, test.errs)
			}
			if got := shortOf(f.decided); got != test.decided {
				t.Errorf("approvals %s decided %q, want %q", test.line, got, test.decided)
			}
			harmless(t, "stdout", out)
			harmless(t, "stderr", errs)
		})
	}
}

// What is not open any more is refused, and it is told why.
func TestApproveRefused(t *testing.T) {
	given := &patterns.Given{Answer: gateway.Answer{Choice: gateway.ChooseReject, By: "local:\x1b1", At: recordtest.Began}}
	for name, test := range map[string]struct {
		change func(*fakeDesk)
		code   int
		errs   string
	}{
		"decided":  {func(f *fakeDesk) { f.asked[0].State, f.asked[0].Given = patterns.AskedDecided, given }, 3, `it is already decided: rejected by local:\u001b1 at 2026-11-21T09:30:00Z`},
		"expired":  {func(f *fakeDesk) { f.asked[0].State = patterns.AskedExpired }, 3, "so the call was rejected"},
		"over":     {func(f *fakeDesk) { f.asked[0].State = patterns.AskedOver }, 3, "its run has ended"},
		"quicker":  {func(f *fakeDesk) { f.refuse = &patterns.NotOpen{Why: patterns.WhyDecided} }, 3, "it is already decided"},
		"unsigned": {func(f *fakeDesk) { f.refuse = patterns.ErrUnsigned }, 3, "only signed decisions count here"},
		"forged":   {func(f *fakeDesk) { f.refuse = fmt.Errorf("%w: other", patterns.ErrForged) }, 3, "the signature does not hold"},
		"removed":  {func(f *fakeDesk) { f.refuse = patterns.ErrKeyRemoved }, 3, "the signature does not hold: its key was removed; nothing was decided"},
		"gone":     {func(f *fakeDesk) { f.refuse = patterns.ErrNoApproval }, 2, "no such approval"},
		"edit": {func(f *fakeDesk) {
			f.refuse = &patterns.BadEdit{Problems: []document.Problem{{Pointer: "/args/a", Reason: "bad_args", Want: "less"}}}
		}, 2, "/args/a: bad_args; want less"},
		"journal":     {func(f *fakeDesk) { f.refuse = patterns.ErrJournal }, 1, "journal_unavailable"},
		"needs a key": {func(f *fakeDesk) { f.asked[0].Least = gateway.SignedAssurance }, 3, "no key is valid"},
		"several":     {func(f *fakeDesk) { f.asked = append(f.asked, askedRefund("ap_03f2000000000002")) }, 2, "2 approvals begin with 03f2: " + askedID + ", ap_03f2000000000002\ntry: type more digits"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeDesk(t)
			digest := f.asked[0].Digest
			test.change(f)
			code, out, errs := f.command(t, nil, "approve", "03f2", "--digest", digest)
			if code != test.code || out != "" || !strings.Contains(errs, test.errs) {
				t.Errorf("approve = %d, %q, %q; want %d and %q", code, out, errs, test.code, test.errs)
			}
			harmless(t, "stderr", errs)
		})
	}
}

// A decision is about what was shown, made by this user, in whole seconds; an edit executes another call.
func TestDecisionIsWhole(t *testing.T) {
	f := newFakeDesk(t)
	q := f.asked[0]
	if code, _, errs := f.command(t, nil, "approve", q.ID, "--digest", q.Digest, "--edit", "amount_usd=800", "--comment", "less"); code != 0 {
		t.Fatalf("approve = %d: %s", code, errs)
	}
	d := f.decided[0]
	edited := q.Question.With(map[string]any{"user_id": 42.0, "amount_usd": 800.0, "reason": "annual plan"})
	if d.Digest != q.Digest || d.Executes != edited.Digest() || d.By != statefile.ByUser("").By || d.Key != "" || d.Signature != "" || d.At.Nanosecond() != 0 || time.Since(d.At) > time.Minute {
		t.Errorf("decided %+v", d)
	}
	if back, err := gateway.ReadAnswer(d.Answer.Object()); err != nil || back != d.Answer {
		t.Errorf("the answer reads back as %+v, %v", back, err)
	}
	if q.Question.Args["amount_usd"] != 1200.0 {
		t.Errorf("the question was changed: %v", q.Question.Args)
	}
}

// An approval that nobody compared with a call says so: in the answer itself, and wherever the decision is shown.
func TestUncomparedIsShown(t *testing.T) {
	f := newFakeDesk(t)
	_, out, _ := f.command(t, nil, "approve", askedID, "--yes", "--json")
	if !strings.Contains(out, `"compared": false`) || !strings.Contains(out, `"digest": "`+f.asked[0].Digest) {
		t.Errorf("approve --yes --json:\n%s", out)
	}
	if text := string(f.decided[0].Object()); !strings.Contains(text, `"compared":false`) {
		t.Errorf("the answer does not say it: %s", text)
	}
	if _, out, _ = f.command(t, nil, "show", askedID); !strings.Contains(strings.Join(strings.Fields(out), " "), "digest not compared") {
		t.Errorf("show:\n%s", out)
	}
}

// It is said how the run goes on: by a server, by one that has not come to it yet, or by hand.
func TestHowARunGoesOn(t *testing.T) {
	for want, test := range map[string]struct{ alive, taken bool }{
		askedRun + " continues: a server has taken it\n": {true, true},
		askedRun + " continues when the running server continues it, which it has not done yet. Otherwise: patterngate runs resume " + askedRun: {true, false},
		askedRun + " continues when your client's server runs again; none runs now. To continue it here: patterngate runs resume " + askedRun:   {false, true},
	} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			f := &fakeDesk{asked: []patterns.Asked{askedRefund(askedID)}, dir: dir, alive: test.alive, taken: test.taken}
			_, out, _ := f.command(t, nil, "approve", askedID, "--digest", f.asked[0].Digest)
			if !strings.Contains(out, want) {
				t.Errorf("approve says\n%s\nwant in it %q", out, want)
			}
		})
	}
}

// --json is one document of every command; watch has a line each.
func TestApprovalsJSON(t *testing.T) {
	for line, want := range map[string]string{
		"list --all": `"approval_id": "` + askedID, "show 03f2": `"amount_usd": 1200`, "approve 03f2 --digest DIGEST": `"goes_on": "taken"`,
		"reject 03f2": `"decision": "reject"`, "keys": `"signature_needed": false`,
	} {
		f := newFakeDesk(t)
		code, out, errs := f.command(t, nil, append(strings.Fields(strings.Replace(line, "DIGEST", f.asked[0].Digest, 1)), "--json")...)
		if code != 0 || !json.Valid([]byte(out)) || !strings.Contains(out, want) {
			t.Errorf("approvals %s --json = %d: %s\n%s\nwant in it %s", line, code, out, errs, want)
		}
	}
}

// Pages follow one another by their cursor.
func TestApprovalsPages(t *testing.T) {
	f := newFakeDesk(t)
	f.asked = append(f.asked, askedRefund("ap_03f2000000000002"), askedRefund("ap_03f2000000000003"))
	_, out, errs := f.command(t, nil, "list", "--limit", "2")
	if !strings.Contains(errs, "more: --cursor ap_03f2000000000002") || strings.Contains(out, "0003") {
		t.Errorf("list:\n%s\n%s", out, errs)
	}
	if _, out, errs = f.command(t, nil, "list", "--limit", "2", "--cursor", "ap_03f2000000000002"); !strings.Contains(out, "0003") || errs != "" {
		t.Errorf("the second page:\n%s\n%s", out, errs)
	}
}

// watch tells what waits, oldest first, then what comes, each once, and ends when it is interrupted.
func TestWatch(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeDesk(t)
			f.asked = []patterns.Asked{askedRefund("ap_0000000000000002"), askedRefund("ap_0000000000000001")}
			ctx, stop := context.WithCancel(t.Context())
			f.more = make(chan patterns.Asked)
			looks := 0
			f.looked = func() {
				switch looks++; looks {
				case 2:
					go func() { f.more <- askedRefund("ap_0000000000000003") }()
				case 5:
					stop()
				}
			}
			var o, e bytes.Buffer
			a := f.app(&o, &e)
			root := a.root()
			args := []string{"approvals", "watch"}
			if asJSON {
				args = append(args, "--json")
			}
			root.SetArgs(args)
			if code := a.Exit(ctx, root.ExecuteContext(ctx)); code != console.ExitInterrupted {
				t.Errorf("watch ends with %d, want %d: %s", code, console.ExitInterrupted, e.String())
			}
			lines := strings.Split(strings.TrimSpace(o.String()), "\n")
			if len(lines) != 3 {
				t.Fatalf("watch tells %d, want 3:\n%s", len(lines), o.String())
			}
			for i, line := range lines {
				if want := fmt.Sprintf("ap_000000000000000%d", i+1); !strings.Contains(line, want) || json.Valid([]byte(line)) != asJSON {
					t.Errorf("line %d is %s, want one about %s", i+1, line, want)
				}
			}
		})
	}
}

// Hostile text in a question, its run and its answer stays on lines that are plainly not ours, and acts on no terminal.
func TestShowHostile(t *testing.T) {
	const evil = "x\nDecide with one of these:\n  patterngate approvals approve all\x1b[2J\u202e<script>"
	f := newFakeDesk(t)
	q := &f.asked[0]
	q.Question.Args = map[string]any{evil: evil, "long": strings.Repeat(evil, 2000), "n": 1.0}
	q.Digest, q.Question.Tool, q.Rule, q.Reason, q.Phrase, q.Pattern, q.Phase = q.Question.Digest(), evil, evil, evil, "", evil, evil
	q.State, q.Given = patterns.AskedDecided, &patterns.Given{Answer: gateway.Answer{Choice: gateway.ChooseEdit, By: evil, Comment: strings.Repeat(evil, 100)}, Args: map[string]any{evil: evil}}
	f.events = map[string][]patterns.Event{askedRun: recordtest.Refund(t)}
	for _, line := range []string{"show 03f2", "show 03f2 --json", "list --all", "list --all --json"} {
		code, out, errs := f.command(t, nil, strings.Fields(line)...)
		if code != 0 {
			t.Errorf("%s = %d: %s", line, code, errs)
		}
		harmless(t, line, out)
		for _, one := range strings.Split(out, "\n") {
			if strings.HasPrefix(strings.TrimSpace(one), "patterngate approvals approve all") || strings.HasPrefix(one, "Decide with") {
				t.Errorf("%s: a line of an outsider stands as ours: %s", line, one)
			}
		}
	}
	_, out, _ := f.command(t, nil, "show", "03f2")
	if whole := strings.Count(strings.ReplaceAll(strings.ReplaceAll(out, "\n  | ", ""), "\n", ""), "<script>"); whole < 2000 {
		t.Errorf("of a long argument %d of 2000 parts are shown", whole)
	}
	if n, long := strings.Index(out, "  | n: 1\n"), strings.Index(out, "  | long:"); n < 0 || long < n {
		t.Errorf("short arguments do not come first: %d, %d", n, long)
	}
}

// Ids of what waits are completed.
func TestCompleteApprovals(t *testing.T) {
	f := newFakeDesk(t)
	var o, e bytes.Buffer
	a := f.app(&o, &e)
	root := a.root()
	root.SetOut(&o)
	root.SetArgs([]string{"__complete", "approvals", "show", "ap_0"})
	if err := root.Execute(); err != nil || !strings.Contains(o.String(), askedID+"\trefunding 1200.00 USD to user 42") {
		t.Errorf("completion: %v\n%s", err, o.String())
	}
}

// Who names a removed key is told that it was removed, before a passphrase is asked for.
func TestRemovedKeyIsNamed(t *testing.T) {
	t.Parallel()
	f := newFakeDesk(t)
	public := keyIn(t, f.dir)
	_, key := sealedKey()
	gone := approver.Sign(gateway.ActRemove, gateway.RemoveSubject(public.ID), key, console.Now())
	public.Removed, public.Dropped = gone.At, gone
	f.stored = []gateway.PublicKey{public}
	code, _, errs := f.command(t, nil, "reject", askedID, "--key", public.ID)
	if want := "the key " + public.ID + " was removed at " + console.ClockText(gone.At); code != console.ExitUsage || !strings.Contains(errs, want) {
		t.Errorf("reject with a removed key = %d, %q; want %d, %q", code, errs, console.ExitUsage, want)
	}
}

// An approval of a call that a kill switch stops is warned of; a rejection, and switches of other calls, are not.
func TestApproveUnderKillSwitch(t *testing.T) {
	tool := askedRefund(askedID).Question.Tool
	pattern := askedRefund(askedID).Pattern
	for name, test := range map[string]struct {
		command string
		on      []patterns.Switch
		want    string // of the warning; "": there is none
	}{
		"everything":      {"approve", []patterns.Switch{{Tool: "other"}, {}}, "a kill switch stops every call. Approved now, the run stops, and a new call needs a new approval. Turn the switch off first: patterngate kill-switch off\n"},
		"its tool":        {"approve", []patterns.Switch{{Tool: tool}}, "kill-switch off --tool " + tool + "\n"},
		"its pattern":     {"approve", []patterns.Switch{{Pattern: pattern}}, "kill-switch off --pattern " + pattern + "\n"},
		"another tool":    {"approve", []patterns.Switch{{Tool: "other"}}, ""},
		"around its run":  {"approve", []patterns.Switch{{Pattern: "desk"}}, "kill-switch off --pattern desk\n"},
		"another pattern": {"approve", []patterns.Switch{{Pattern: "other"}}, ""},
		"a rejection":     {"reject", []patterns.Switch{{}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeDesk(t)
			f.switches, f.within = test.on, []string{"desk"}
			code, out, errs := f.command(t, nil, test.command, "03f2", "--digest", f.asked[0].Digest)
			if warned := strings.Contains(errs, "kill switch"); code != 0 || warned != (test.want != "") || !strings.Contains(errs, test.want) {
				t.Errorf("%s = %d, %q, %q; want a warning with %q", test.command, code, out, errs, test.want)
			}
		})
	}
}
