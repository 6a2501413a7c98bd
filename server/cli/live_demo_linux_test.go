package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"patterngate/server/web/webtest"
)

// desktop is a stand-in for what opens links on a desktop: a program of that name on PATH, which hands them to the test.
type desktop struct {
	path   string // what PATH is
	opened *os.File
	lines  *bufio.Scanner // of it
	looked io.Writer      // a line lets the program end
}

func newDesktop(t *testing.T) desktop {
	t.Helper()
	dir := t.TempDir()
	pipes := [2]*os.File{}
	for i, name := range []string{"opened", "looked"} {
		path := filepath.Join(dir, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		pipe, err := os.OpenFile(path, os.O_RDWR, 0) // so that neither end waits for the other
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = pipe.Close() }) // nobody is there any more
		pipes[i] = pipe
	}
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$1\" > '%[1]s/opened'\nread line < '%[1]s/looked'\n", dir)
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return desktop{dir + ":/usr/bin:/bin", pipes[0], bufio.NewScanner(pipes[0]), pipes[1]}
}

// link is the next that is opened. None is once opened is closed.
func (d desktop) link(t *testing.T) string {
	t.Helper()
	if !d.lines.Scan() {
		t.Fatalf("nothing is opened: %v", d.lines.Err())
	}
	return d.lines.Text()
}

// demo --live leads the person to the page twice, before and after it kills its server, and ends with what they decided.
func TestLiveDemo(t *testing.T) {
	browser := webtest.Start(t)
	for name, tt := range map[string]struct {
		decides func(p *webtest.Page)
		ends    string
	}{
		"approved at 800": {
			func(p *webtest.Page) {
				p.Click("details.edit > summary")
				p.Fill(`[name="edit.amount_usd"]`, "800")
				p.Follow("text=Approve with changes")
			}, "✓ You     approved 800 USD. 800 USD paid, email sent.\n  ✓ Ledger  A separate process counted 1 payment: 800 USD.",
		},
		"rejected": {func(p *webtest.Page) { p.Follow("text=Reject") }, "✓ You     rejected the refund.\n  ✓ Ledger  A separate process counted no payment."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, page := newDesktop(t), browser.Page(t)
			address := freeAddress(t)
			cmd := program(t, "demo", "--live", "--inbox", address)
			cmd.Env = append(cmd.Env, "PATH="+d.path, "DISPLAY=:0")
			var out, errs shared
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				ended <- cmd.Wait()
				_ = d.opened.Close() // nothing is opened any more
			}()
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("the demo said\n%s%s", &errs, &out)
				}
			})
			for _, when := range []string{"before the kill", "after the kill"} {
				page.SignIn(d.link(t))
				page.Follow(`main a[href^="/a/"]`)
				page.Says("Refund 1200.00 USD to user 42")
				page.Screenshot(when)
				fmt.Fprintln(d.looked)
			}
			tt.decides(page)
			page.Says("continue run_")
			page.Screenshot("decided")
			err := <-ended
			last := "The demo ended as it should, in "
			if err != nil || !strings.Contains(out.String(), tt.ends) || !strings.Contains(out.String(), last) {
				t.Errorf("the demo ends with %v and %s%s; want %q and %q", err, &errs, &out, tt.ends, last)
			}
			for _, want := range []string{"The agent reads: ", "The request is unchanged: sha256:"} {
				if !strings.Contains(errs.String(), want) {
					t.Errorf("the demo does not say %q:\n%s", want, &errs)
				}
			}
			if strings.Contains(errs.String()+out.String(), "/sign-in/") {
				t.Errorf("a link that signs in is told:\n%s%s", &errs, &out)
			}
		})
	}
}

// At a terminal without a desktop the link stands on the screen, and the person says when the server is killed and when it
// is over.
func TestLiveDemoAtATerminal(t *testing.T) {
	browser := webtest.Start(t)
	terminal, page := newPty(t), browser.Page(t)
	cmd := program(t, "demo", "--live", "--inbox", freeAddress(t))
	terminal.seat(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	signIn := func(n int, then string) {
		t.Helper()
		links := regexp.MustCompile(`http://\S+/sign-in/\S+`).FindAllString(terminal.until(t, then, 1), -1)
		if len(links) != n {
			t.Fatalf("%d links stand on the screen, want %d", len(links), n)
		}
		page.SignIn(links[n-1])
		page.Follow(`main a[href^="/a/"]`)
	}
	signIn(1, "press Enter here, and Patterngate kills the server.")
	terminal.press(t, "\r")
	signIn(2, "3 You decide")
	page.Follow("text=Reject")
	page.Says("continue run_")
	screen := terminal.until(t, "The page stays until you press Enter", 1)
	page.Open(strings.Split(page.Address(), "/a/")[0] + "/r")
	page.Says("human_rejected")
	terminal.press(t, "\r")
	if code := ended(t, cmd); code != 0 {
		t.Errorf("the demo ends with %d:\n%s", code, screen)
	}
	terminal.until(t, "The demo ended as it should, in ", 1)
}
