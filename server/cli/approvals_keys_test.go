package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/approver"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/settings"
)

const goodPassphrase = "correct horse battery"

// sealedKey is an approver key that the passphrase opens, and the same one open. All tests share it, since to derive one
// takes long.
var sealedKey = sync.OnceValues(func() (file approver.File, key *approver.Key) {
	file, key, err := approver.New("Anna", goodPassphrase, console.Now())
	if err != nil {
		panic(err)
	}
	return file, key
})

// keyIn puts the shared key's file into a directory, and returns the key as it is enrolled in a state file.
func keyIn(t *testing.T, dir string) gateway.PublicKey {
	t.Helper()
	file, key := sealedKey()
	public, err := approver.Enrolment(file, key, console.Now())
	if err = errors.Join(err, approver.Dir(dir).Write(file)); err != nil {
		t.Fatal(err)
	}
	return public
}

// A key is enrolled, signs decisions, vouches for another and is removed; what it signs, the port takes.
func TestApproverKeys(t *testing.T) {
	t.Parallel()
	f := newFakeDesk(t)
	f.asked = append(f.asked, askedRefund("ap_03f2000000000002"))
	code, out, errs := f.command(t, []string{goodPassphrase, goodPassphrase}, "enroll", "--name", "Anna")
	found := regexp.MustCompile(`^enrolled approver key ([0-9a-f]{16}) \(Anna\)\nfile (\S+)\n`).FindStringSubmatch(out)
	if code != 0 || found == nil || len(f.stored) != 1 {
		t.Fatalf("enroll = %d, %q, %q", code, out, errs)
	}
	first := found[1]
	if info, err := os.Stat(found[2]); err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' || strings.Contains(out+errs, goodPassphrase) {
		t.Errorf("the key's file: %v, %v; said %q, %q", info, err, out, errs)
	}

	if code, out, errs = f.command(t, []string{goodPassphrase}, "approve", askedID, "--digest", f.asked[0].Digest); code != 0 || !strings.Contains(out, "assurance signed: with the approver key "+first) {
		t.Fatalf("approve = %d, %q, %q", code, out, errs)
	}
	if !strings.Contains(errs, "\n  | amount_usd: 1200\n  | reason: \"annual plan\"\n  | user_id: 42\nTo approve "+askedID+", refunding 1200.00 USD to user 42: passphrase of approver key "+first+" (Anna)]") {
		t.Errorf("the prompt is %q", errs)
	}
	d := f.decided[0]
	if ring, _ := f.Keys(); d.By != "key:"+first || d.Key != first || ring.Keys()[0].Verify(d.Message(), d.Signature) != nil {
		t.Errorf("the decision is not signed: %+v", d)
	}
	if code, _, errs = f.command(t, []string{"correct horse batterz"}, "approve", "ap_03f2000000000002", "--digest", f.asked[1].Digest); code != console.ExitRefused || len(f.decided) != 1 || !strings.Contains(errs, "the passphrase does not open the key") {
		t.Errorf("with a wrong passphrase approve = %d, %q; decided %d", code, errs, len(f.decided))
	}

	code, out, errs = f.command(t, []string{goodPassphrase, "another passphrase", "another passphrase"}, "enroll", "--name", "Bo")
	if code != 0 || len(f.stored) != 2 || f.stored[1].Vouched.Key != first {
		t.Fatalf("a further enroll = %d, %q, %q", code, out, errs)
	}
	second := f.stored[1].ID
	if code, _, errs = f.command(t, nil, "reject", "ap_03f2000000000002"); code != console.ExitUsage || !strings.Contains(errs, "several keys can sign:") || !strings.Contains(errs, first) || !strings.Contains(errs, second) {
		t.Errorf("with two keys here reject = %d, %q", code, errs)
	}
	if code, out, errs = f.command(t, []string{goodPassphrase}, "keys", "remove", second[:6], "--key", first); code != 0 || !strings.Contains(out, "removed approver key "+second) || !strings.Contains(out, "you can delete its file") {
		t.Errorf("keys remove = %d, %q, %q", code, out, errs)
	}
	if code, _, errs = f.command(t, nil, "keys", "remove", second); code != console.ExitRefused || !strings.Contains(errs, "it was removed at") {
		t.Errorf("keys remove again = %d, %q", code, errs)
	}
	keysAreShown(t, f, first, second)
	code, out, errs = f.command(t, []string{goodPassphrase}, "keys", "remove", first)
	if code != 0 || !strings.Contains(errs, "This is the last key.") || !strings.Contains(out, "unsigned decisions count again") {
		t.Errorf("keys remove of the last = %d, %q, %q", code, out, errs)
	}
	code, _, errs = f.command(t, []string{goodPassphrase, goodPassphrase}, "enroll")
	if ring, _ := f.Keys(); code != 0 || !ring.Counts(console.Now()) || f.stored[2].Vouched.Key != f.stored[2].ID {
		t.Errorf("enroll after the last was removed = %d, %q; vouched for by %s", code, errs, f.stored[len(f.stored)-1].Vouched.Key)
	}
}

// A key may be enrolled before the first run is recorded: the state file is made.
func TestEnrollFirst(t *testing.T) {
	ownHome(t)
	path := filepath.Join(t.TempDir(), "state.db")
	run := func(args ...string) (code int, errs string) {
		var o, e bytes.Buffer
		a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: &o, Err: &e}}, secret: typedBy([]string{goodPassphrase, goodPassphrase}, io.Discard)}
		root := a.root()
		root.SetArgs(append([]string{"--state", path}, args...))
		code = a.Exit(t.Context(), root.ExecuteContext(t.Context()))
		return code, o.String() + e.String()
	}
	if code, said := run("approvals", "keys"); code != console.ExitUsage || !strings.Contains(said, "no run has been recorded") {
		t.Errorf("keys of no file = %d, %s", code, said)
	}
	if code, said := run("approvals", "enroll"); code != 0 || !strings.Contains(said, "enrolled approver key") {
		t.Errorf("enroll = %d, %s", code, said)
	}
	if code, said := run("approvals", "keys"); code != 0 || !strings.Contains(said, "Only decisions that an enrolled key signed count here") {
		t.Errorf("keys = %d, %s", code, said)
	}
	path = settings.MemoryState
	if code, said := run("approvals", "enroll"); code != console.ExitUsage || !strings.Contains(said, settings.MemoryState) {
		t.Errorf("enroll in memory = %d, %s", code, said)
	}
}

func keysAreShown(t *testing.T, f *fakeDesk, first, second string) {
	t.Helper()
	_, out, _ := f.command(t, nil, "keys")
	if !strings.Contains(out, first) || !strings.Contains(out, second) || !strings.Contains(out, "Only decisions that an enrolled key signed count here") {
		t.Errorf("keys:\n%s", out)
	}
	var shown struct {
		Keys []struct {
			ID       string `json:"id"`
			Removed  string `json:"removed_at"`
			SignedBy string `json:"signed_by"`
		} `json:"keys"`
	}
	_, out, _ = f.command(t, nil, "keys", "--json")
	if err := json.Unmarshal([]byte(out), &shown); err != nil || len(shown.Keys) != 2 || shown.Keys[0].SignedBy != first || shown.Keys[1].Removed == "" {
		t.Errorf("keys --json: %v, %s", err, out)
	}
}

// A passphrase that is short, or typed otherwise the second time, makes no key; nobody at a terminal makes none either.
func TestEnrollRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		typed []string
		args  []string
		code  int
		errs  string
	}{
		"short":       {[]string{"12345678901"}, nil, console.ExitUsage, "12 to"},
		"unequal":     {[]string{goodPassphrase, goodPassphrase + "!"}, nil, console.ExitUsage, "the two passphrases differ; no key was made"},
		"nobody":      {nil, nil, console.ExitRefused, "a passphrase is typed at a terminal, and this process has none"},
		"nobody left": {[]string{goodPassphrase}, nil, console.ExitRefused, "a passphrase is typed at a terminal"},
		"no name":     {nil, []string{"--name", "a\x1b[2J"}, console.ExitUsage, "printable"},
		"a voucher":   {nil, []string{"--key", "0123456789abcdef"}, console.ExitUsage, "is not a key that is enrolled here"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeDesk(t)
			code, out, errs := f.command(t, test.typed, append([]string{"enroll"}, test.args...)...)
			left, _ := os.ReadDir(f.dir)
			if code != test.code || out != "" || !strings.Contains(errs, test.errs) || len(f.stored) > 0 || len(left) > 0 {
				t.Errorf("enroll = %d, %q, %q, want %d and %q; %d keys, %d files", code, out, errs, test.code, test.errs, len(f.stored), len(left))
			}
		})
	}
}

// A key that the state file does not take leaves no file behind.
func TestEnrollUndone(t *testing.T) {
	t.Parallel()
	f := newFakeDesk(t)
	f.refuse = patterns.ErrForged
	code, _, errs := f.command(t, []string{goodPassphrase, goodPassphrase}, "enroll")
	if left, _ := os.ReadDir(f.dir); code != console.ExitRefused || len(left) > 0 || !strings.Contains(errs, "the signature does not hold") {
		t.Errorf("enroll = %d, %q; %d files", code, errs, len(left))
	}
	f.stored = nil
	f.refuse = fmt.Errorf("%w: disk I/O error", patterns.ErrJournal) // the key may be in the state file
	code, _, errs = f.command(t, []string{goodPassphrase, goodPassphrase}, "enroll", "--name", "Anna")
	if left, _ := os.ReadDir(f.dir); code != console.ExitFault || len(left) != 1 || !strings.Contains(errs, "Its file stays: "+f.dir) {
		t.Errorf("enroll without an answer = %d, %q; %d files, want its file", code, errs, len(left))
	}
}

// With a key enrolled settle and seize are signed, over exactly what is done; without its passphrase nothing is done.
func TestSignedActs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	public := keyIn(t, dir)
	const run = "run_00000000000000d4"
	ring := gateway.NewRing([]gateway.PublicKey{public})
	for line, want := range map[string]gateway.Act{
		"settle 00000000000000d4 pay#1 --happened --result {}": {Act: gateway.ActSettle, Subject: local.Settlement{Happened: true, Result: []byte("{}")}.Subject(run, "pay#1")},
		"seize 00000000000000d4 --yes":                         {Act: gateway.ActSeize, Subject: local.SeizeSubject(run)},
	} {
		f := newFakeRuns(t)
		f.ring, f.keyDir = ring, dir
		code, out, errs := f.commandTyped(t, nil, append([]string{"runs"}, strings.Fields(line)...)...)
		if code != console.ExitRefused || len(f.calls) > 0 || !strings.Contains(errs, "it needs the signature of an approver key") || !strings.Contains(errs, "\ntry: run this command at a terminal") {
			t.Errorf("runs %s with nobody at a terminal = %d, %q, %q; did %q", line, code, out, errs, f.calls)
		}
		code, out, errs = f.commandTyped(t, []string{goodPassphrase}, append([]string{"runs"}, strings.Fields(line)...)...)
		if code != 0 || len(f.acts) != 1 || ring.Check(f.acts[0], console.Now()) != nil || f.acts[0].Act.Act != want.Act || !equalJSON(f.acts[0].Subject, want.Subject) {
			t.Errorf("runs %s = %d, %q, %q; signed %+v, want %+v", line, code, out, errs, f.acts, want)
		}
		for refusal, cause := range map[error]string{patterns.ErrUnsigned: "signature of an approver key", patterns.ErrForged: "does not hold", patterns.ErrUsed: "used before"} {
			f.refuse, f.ring = refusal, gateway.Ring{}
			if code, _, errs := f.commandTyped(t, nil, append([]string{"runs"}, strings.Fields(line)...)...); code != console.ExitRefused || !strings.Contains(errs, cause) {
				t.Errorf("runs %s refused with %v = %d, %q", line, refusal, code, errs)
			}
		}
	}
}

// Which key signs is found, or it is said why none does.
func TestWhichKeySigns(t *testing.T) {
	t.Parallel()
	f := newFakeDesk(t)
	f.stored = []gateway.PublicKey{keyIn(t, f.dir)}
	id := f.stored[0].ID
	path := approver.Dir(f.dir).Path(id)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	refusals := map[string][]string{
		"others can read or change":          {"reject", askedID},
		"is not a key that is enrolled":      {"reject", askedID, "--key", "0123456789abcdef"},
		"others can read or change " + f.dir: {"reject", askedID, "--key", id},
		"no key \"0123\" is":                 {"keys", "remove", "0123"},
		"name the key":                       {"keys", "remove"},
	}
	for want, args := range refusals {
		if code, out, errs := f.command(t, []string{goodPassphrase}, args...); code == 0 || out != "" || !strings.Contains(errs, want) || len(f.decided) > 0 {
			t.Errorf("%q = %d, %q, %q; want %q", args, code, out, errs, want)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"reject", askedID}, {"reject", askedID, "--key", id}} {
		if code, _, errs := f.command(t, []string{goodPassphrase}, args...); code != console.ExitRefused || !strings.Contains(errs, "the file of") || slices.Contains(strings.Fields(errs), "[To") {
			t.Errorf("%q without the key's file = %d, %q", args, code, errs)
		}
	}
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}
