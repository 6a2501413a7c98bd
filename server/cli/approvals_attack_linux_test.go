package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/statefile"
	"patterngate/server/settings"
)

// scene is a state file with a refund that waits and an approver key, and programs of the same user that want it paid.
type scene struct {
	path, id, digest, run string
	key                   string
}

func newScene(t *testing.T) scene {
	t.Helper()
	s := waitingScene(t)
	engine := s.open(t)
	defer engine.Close()
	key := keyIn(t, filepath.Dir(s.path))
	if err := engine.Approvals().Enroll(key); err != nil {
		t.Fatal(err)
	}
	s.key = key.ID
	return s
}

// waitingScene has no key.
func waitingScene(t *testing.T) scene {
	t.Helper()
	s := scene{path: filepath.Join(t.TempDir(), "state.db")}
	engine := s.open(t)
	defer engine.Close()
	asked := waitingRefund(t, engine)
	s.id, s.digest, s.run = asked.ID, asked.Digest, asked.Question.Run
	return s
}

func (s scene) open(t *testing.T) *local.Engine {
	t.Helper()
	engine, err := local.Open(local.Options{Path: s.path, Source: noConfigurations{}})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// waitingRefund begins a run whose refund waits for a person.
func waitingRefund(t *testing.T, engine *local.Engine) patterns.Asked {
	t.Helper()
	config, _, err := assembly.Load(settings.Sources{}, assembly.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range config.Patterns {
		config.Patterns[i].Approver = patterns.Approver{Kind: patterns.InboxApprover, Expires: 24 * time.Hour}
	}
	d, err := assembly.Declare(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	actions, err := ijson.Of(refundOf(1200))
	if err != nil {
		t.Fatal(err)
	}
	job, err := d.Job(patterns.Begun{Pattern: "supervised_refund", Caller: patterns.Caller{Principal: statefile.ByUser("").By}, Arguments: map[string]any{"goal": "Refund user 42", "actions": actions}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Start(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	page, err := engine.Approvals().ListApprovals(patterns.ApprovalFilter{})
	if err != nil || len(page.Rows) != 1 {
		t.Fatalf("%d approvals wait, %v; want one", len(page.Rows), err)
	}
	return page.Rows[0]
}

// program is the program on this state, in a session without a terminal.
func (s scene) program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := program(t, append([]string{"--state", s.path}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// stands is the question as it stands now.
func (s scene) stands(t *testing.T) patterns.Asked {
	t.Helper()
	engine := s.open(t)
	defer engine.Close()
	asked, err := engine.Approvals().Approval(s.id)
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

// undecided fails where anything was decided or called.
func (s scene) undecided(t *testing.T) {
	t.Helper()
	if asked := s.stands(t); asked.State != patterns.AskedOpen || asked.Spent {
		t.Errorf("the approval stands %s, spent %t; want it open", asked.State, asked.Spent)
	}
}

func ended(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	err := cmd.Wait()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// A program that has no terminal hands the passphrase in by every other way. None counts: nothing is decided, although it
// is the right one.
func TestPassphraseFromNowhereElse(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(goodPassphrase+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	approve := []string{"approvals", "approve", s.id, "--digest", s.digest}
	tests := map[string]struct {
		args, environ []string
		stdin         string
		code          int
	}{
		"a pipe":         {approve, nil, strings.Repeat(goodPassphrase+"\n", 3), console.ExitRefused},
		"variables":      {approve, []string{"PATTERNGATE_PASSPHRASE=" + goodPassphrase, "PASSPHRASE=" + goodPassphrase}, "", console.ExitRefused},
		"a flag":         {append(approve, "--passphrase", goodPassphrase), nil, "", console.ExitUsage},
		"a flag's file":  {append(approve, "--passphrase-file", secret), nil, "", console.ExitUsage},
		"yes":            {append(approve, "--yes"), nil, "y\ny\n", console.ExitRefused},
		"without digest": {[]string{"approvals", "approve", s.id, "--yes"}, nil, "y\n", console.ExitRefused},
		"another key":    {append(approve, "--key", "0123456789abcdef"), nil, goodPassphrase + "\n", console.ExitUsage},
		"reject":         {[]string{"approvals", "reject", s.id}, nil, goodPassphrase + "\n", console.ExitRefused},
		"enroll":         {[]string{"approvals", "enroll"}, nil, strings.Repeat(goodPassphrase+"\n", 3), console.ExitRefused},
		"remove the key": {[]string{"approvals", "keys", "remove", s.key}, nil, goodPassphrase + "\n", console.ExitRefused},
		"seize":          {[]string{"runs", "seize", s.run, "--yes"}, nil, goodPassphrase + "\n", console.ExitRefused},
		"settle":         {[]string{"runs", "settle", s.run, "issue_refund#1", "--did-not-happen"}, nil, goodPassphrase + "\n", console.ExitRefused},
	}
	always := []string{"a pipe", "variables", "yes"} // the others, which start nine processes, under CI=true only
	for name, test := range tests {
		if os.Getenv("CI") == "" && !slices.Contains(always, name) {
			continue
		}
		var out, errs bytes.Buffer
		cmd := s.program(t, test.args...)
		cmd.Env = append(cmd.Env, test.environ...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(test.stdin), &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if code := ended(t, cmd); code != test.code || out.Len() > 0 {
			t.Errorf("%s: exit %d, want %d: %s%s", name, code, test.code, out.String(), errs.String())
		}
	}
	s.undecided(t)
}

// A program that makes itself a terminal, as script does, is asked and does not know. What the person types there counts,
// and is not shown.
func TestPassphraseAtTerminal(t *testing.T) {
	inCI(t, "it starts five processes at a terminal")
	t.Parallel()
	s := newScene(t)
	p := newPty(t)
	sit := func(args ...string) *exec.Cmd {
		cmd := s.program(t, args...)
		p.seat(cmd)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	const prompt = "(Anna): "
	approve := []string{"approvals", "approve", s.id, "--digest", s.digest}

	guess := sit(approve...)
	if screen := p.until(t, prompt, 1); !strings.Contains(screen, "| amount_usd: 1200\r\n") {
		t.Errorf("the call that is signed does not stand above the prompt:\n%s", screen)
	}
	if p.echoes(t) {
		t.Error("at the prompt the terminal shows what is typed")
	}
	p.press(t, "wrong horse battery\r")
	if code := ended(t, guess); code != console.ExitRefused {
		t.Errorf("a wrong passphrase: exit %d, want %d", code, console.ExitRefused)
	}
	s.undecided(t)

	for i, end := range []func(*exec.Cmd){ // a person who gives up, and one whose program is ended
		func(*exec.Cmd) { p.press(t, "half a pass\x03") },
		func(cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGINT) },
	} {
		cmd := sit(approve...)
		p.until(t, prompt, 2+i)
		end(cmd)
		if code := ended(t, cmd); code != console.ExitInterrupted || !p.echoes(t) {
			t.Errorf("given up (%d): exit %d, want %d; the terminal shows what is typed: %t", i, code, console.ExitInterrupted, p.echoes(t))
		}
	}
	s.undecided(t)

	// The right one in standard input is not read, where there is a terminal.
	cmd := s.program(t, approve...)
	p.seat(cmd)
	cmd.Stdin, cmd.ExtraFiles, cmd.SysProcAttr.Ctty = strings.NewReader(goodPassphrase+"\n"), []*os.File{p.slave}, 3
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.until(t, prompt, 4)
	p.press(t, "\r")
	if code := ended(t, cmd); code != console.ExitRefused {
		t.Errorf("a piped passphrase: exit %d, want %d", code, console.ExitRefused)
	}
	s.undecided(t)

	right := sit(approve...)
	p.until(t, prompt, 5)
	p.press(t, "wrong\x15"+goodPassphrase+"\r")
	if code := ended(t, right); code != 0 {
		t.Errorf("the right passphrase: exit %d\n%s", code, p.until(t, prompt, 5))
	}
	screen := p.until(t, "tell the agent: continue "+s.run, 1)
	for _, secret := range []string{"horse", "half"} {
		if strings.Contains(screen, secret) {
			t.Errorf("the screen shows what was typed:\n%s", screen)
		}
	}
	if asked := s.stands(t); asked.State != patterns.AskedDecided || asked.Given.Assurance != gateway.SignedAssurance || asked.Given.Key != s.key {
		t.Errorf("decided: %+v", asked.Given)
	}
}

// Without a digest the call is shown at the terminal and it is asked; only a yes is one.
func TestApproveIsAskedAtTerminal(t *testing.T) {
	t.Parallel()
	s, p := waitingScene(t), newPty(t)
	for i, test := range []struct {
		keys string
		code int
	}{{"\n", console.ExitRefused}, {"no\n", console.ExitRefused}, {"y\n", 0}} {
		cmd := s.program(t, "approvals", "approve", s.id, "--edit", "amount_usd=800")
		p.seat(cmd)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		screen := p.until(t, "Approve it? [y/N] ", i+1)
		if want := "| amount_usd: 800   was 1200"; !strings.Contains(screen, want) {
			t.Errorf("the screen has no %q:\n%s", want, screen)
		}
		if i < 2 {
			s.undecided(t)
		}
		p.press(t, test.keys)
		if code := ended(t, cmd); code != test.code {
			t.Errorf("%q: exit %d, want %d", test.keys, code, test.code)
		}
	}
	if got := s.stands(t); got.Given == nil || got.Given.Choice != gateway.ChooseEdit || got.Given.Args["amount_usd"] != 800.0 {
		t.Errorf("decided: %+v", got.Given)
	}
}

// Many decide at once: one is taken, the others are told.
func TestManyDecideAtOnce(t *testing.T) {
	t.Parallel()
	s := waitingScene(t)
	var cmds []*exec.Cmd
	var errs [6]bytes.Buffer
	for i := range errs {
		args := []string{"approvals", "reject", s.id}
		if i%2 == 0 {
			args = []string{"approvals", "approve", s.id, "--digest", s.digest}
		}
		cmd := s.program(t, args...)
		cmd.Stderr = &errs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	codes := map[int]int{}
	for i, cmd := range cmds {
		code := ended(t, cmd)
		if codes[code]++; code == console.ExitRefused && !strings.Contains(errs[i].String(), "it is already decided: ") {
			t.Errorf("one was told %q", errs[i].String())
		}
	}
	if codes[0] != 1 || codes[console.ExitRefused] != len(errs)-1 {
		t.Errorf("they ended with %v (code: times), want one 0", codes)
	}
}
