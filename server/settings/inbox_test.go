package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/settings"
)

// What the keys about people say is taken, and shown so that it loads to the same.
func TestLoadConfigInbox(t *testing.T) {
	program := filepath.Join(t.TempDir(), "tell me")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := "PATH=relative" + string(filepath.ListSeparator) + filepath.Dir(program)
	person := patterns.Approver{Kind: patterns.InboxApprover, CapUSD: 800, Expires: 24 * time.Hour, Least: gateway.UserAssurance}
	nobody, signed := person, person
	nobody.Kind = patterns.RejectApprover
	signed.Expires, signed.Least = time.Minute, gateway.SignedAssurance
	tests := map[string]struct {
		file     string
		inbox    string
		notify   settings.Notify
		approver patterns.Approver
		url      string
	}{
		"nothing said":   {"", "127.0.0.1:8766", settings.Notify{Mode: "auto"}, person, "http://127.0.0.1:8766"},
		"null":           {"inbox: null\nnotify: null\npatterns: {supervised_refund: {approver: null}}\n", "127.0.0.1:8766", settings.Notify{Mode: "auto"}, person, "http://127.0.0.1:8766"},
		"off":            {"inbox: off\nnotify: off\n", "off", settings.Notify{Mode: "off"}, person, ""},
		"in memory":      {"state: ':memory:'\n", "127.0.0.1:8766", settings.Notify{Mode: "auto"}, nobody, "http://127.0.0.1:8766"},
		"written":        {"inbox: '[::1]:0'\npatterns: {supervised_refund: {approver: {kind: inbox, expires_seconds: 60.0, min_assurance: signed}}}\n", "[::1]:0", settings.Notify{Mode: "auto"}, signed, "http://[::1]:0"},
		"a program":      {"notify: {exec: ['" + program + "', --to, '']}\n", "127.0.0.1:8766", settings.Notify{Mode: "exec", Exec: []string{program, "--to", ""}}, person, "http://127.0.0.1:8766"},
		"one on PATH":    {"notify: {exec: [tell me]}\n", "127.0.0.1:8766", settings.Notify{Mode: "exec", Exec: []string{"tell me"}}, person, "http://127.0.0.1:8766"},
		"a local name":   {"inbox: localhost:1\n", "localhost:1", settings.Notify{Mode: "auto"}, person, "http://localhost:1"},
		"rest elsewhere": {"inbox: 127.0.0.2:8765\nhttp: {listen: '127.0.0.1:8765'}\n", "127.0.0.2:8765", settings.Notify{Mode: "auto"}, person, "http://127.0.0.2:8765"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			loaded, warnings, err := readText(t, "version: 1\n"+tt.file, path)
			if err != nil || len(warnings) > 0 {
				t.Fatalf("Load(%s): %v %v", tt.file, err, warnings)
			}
			if loaded.Inbox != tt.inbox || loaded.InboxURL() != tt.url {
				t.Errorf("inbox %q at %q, want %q at %q", loaded.Inbox, loaded.InboxURL(), tt.inbox, tt.url)
			}
			if diff := cmp.Diff(tt.notify, loaded.Notify); diff != "" {
				t.Errorf("notify (-want +got):\n%s", diff)
			}
			p, _ := loaded.Pattern("supervised_refund")
			if diff := cmp.Diff(tt.approver, p.Approver); diff != "" {
				t.Errorf("approver (-want +got):\n%s", diff)
			}
			again, _, err := readText(t, string(loaded.YAML()), path)
			if err != nil {
				t.Fatalf("what is shown does not load: %v\n%s", err, loaded.YAML())
			}
			if diff := sameConfig(loaded.Config, again.Config); diff != "" {
				t.Errorf("what is shown loads to something else (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadConfigRefusesInbox(t *testing.T) {
	const want = "write host:port of this machine, 127.0.0.1:8766, or off"
	const words = "write auto, off or {exec: [program, argument]}"
	testFaults(t, map[string]faultCase{
		"others could reach it":     {"version: 1\ninbox: 0.0.0.0:8766\n", "pg.yaml:2:8: inbox: 0.0.0.0:8766 is not loopback, and others must not reach it; " + want},
		"every address":             {"version: 1\ninbox: ':8766'\n", "pg.yaml:2:8: inbox: :8766 is not loopback, and others must not reach it; " + want},
		"no port":                   {"version: 1\ninbox: 127.0.0.1\n", `pg.yaml:2:8: inbox: got "127.0.0.1"; ` + want},
		"a URL":                     {"version: 1\ninbox: http://127.0.0.1:8766/\n", `pg.yaml:2:8: inbox: got "http://127.0.0.1:8766/"; ` + want},
		"another word":              {"version: 1\ninbox: Off\n", `pg.yaml:2:8: inbox: got "Off"; ` + want + "; did you mean off?"},
		"false for off":             {"version: 1\ninbox: false\n", "pg.yaml:2:8: inbox: got false; write text in quotes"},
		"empty":                     {"version: 1\ninbox: ''\n", `pg.yaml:2:8: inbox: got ""; ` + want},
		"the address of http":       {"version: 1\nhttp: {listen: '127.0.0.1:8766'}\n", "pg.yaml:2:16: http.listen: http.listen and inbox are both 127.0.0.1:8766; write another address for one of them, or inbox: off"},
		"another word for notify":   {"version: 1\nnotify: on\n", `pg.yaml:2:9: notify: got "on"; write auto or off`},
		"a list for notify":         {"version: 1\nnotify: [notify-send]\n", "pg.yaml:2:9: notify: got a list; " + words},
		"an empty mapping":          {"version: 1\nnotify: {}\n", "pg.yaml:2:9: notify: got a mapping; " + words},
		"another member":            {"version: 1\nnotify: {exce: [a]}\n", "pg.yaml:2:10: notify.exce: unknown key; did you mean exec?"},
		"a line for a list":         {"version: 1\nnotify: {exec: /bin/sh -c x}\n", `pg.yaml:2:16: notify.exec: got "/bin/sh -c x"; write a list: [program, argument]; no shell reads it`},
		"no program":                {"version: 1\nnotify: {exec: []}\n", "pg.yaml:2:16: notify.exec: got 0 words of 0 bytes; write 1 to 16 words of at most 4096 bytes together"},
		"too many words":            {"version: 1\nnotify: {exec: [a" + strings.Repeat(", a", 16) + "]}\n", "pg.yaml:2:16: notify.exec: got 17 words of 17 bytes; write 1 to 16 words of at most 4096 bytes together"},
		"too much":                  {"version: 1\nnotify: {exec: [" + strings.Repeat("a", 4097) + "]}\n", "pg.yaml:2:16: notify.exec: got 1 words of 4097 bytes; write 1 to 16 words of at most 4096 bytes together"},
		"a number for a word":       {"version: 1\nnotify: {exec: [a, 1]}\n", "pg.yaml:2:20: notify.exec[1]: got 1; write text in quotes"},
		"NUL in a word":             {"version: 1\nnotify: {exec: [\"a\\0\"]}\n", `pg.yaml:2:17: notify.exec[0]: got "a\u0000"; write text in quotes`},
		"a program that is nowhere": {"version: 1\nnotify: {exec: [tell-me]}\n", `pg.yaml:2:16: notify.exec[0]: tell-me is not installed or not in PATH; write the path that "which tell-me" prints`},
		"a path to nothing":         {"version: 1\nnotify: {exec: [/nowhere/at/all]}\n", `pg.yaml:2:16: notify.exec[0]: no program "/nowhere/at/all"; write the path of a program that this user can run`},
		"a relative path":           {"version: 1\nnotify: {exec: [./tell]}\n", `pg.yaml:2:16: notify.exec[0]: got "./tell"; write the whole path, or the name of a program on PATH`},
	})
}

// Flag over environment over file.
func TestInboxSources(t *testing.T) {
	file := writeConfig(t, "version: 1\ninbox: 127.0.0.1:1\n")
	for name, tt := range map[string]struct {
		in   settings.Sources
		want string
	}{
		"file":        {settings.Sources{Path: file}, "127.0.0.1:1"},
		"environment": {settings.Sources{Path: file, Environ: []string{"PATTERNGATE_INBOX=off"}}, "off"},
		"empty":       {settings.Sources{Path: file, Environ: []string{"PATTERNGATE_INBOX="}}, "127.0.0.1:1"},
		"flag":        {settings.Sources{Path: file, Inbox: "127.0.0.1:3", Environ: []string{"PATTERNGATE_INBOX=off"}}, "127.0.0.1:3"},
	} {
		if loaded, _, err := read(tt.in); err != nil || loaded.Inbox != tt.want {
			t.Errorf("%s: inbox %q, %v, want %q", name, loaded.Inbox, err, tt.want)
		}
	}
	_, _, err := read(settings.Sources{Inbox: "0.0.0.0:1"})
	if want := "--inbox: inbox: 0.0.0.0:1 is not loopback, and others must not reach it; write host:port of this machine, 127.0.0.1:8766, or off"; err == nil || err.Error() != want {
		t.Errorf("--inbox 0.0.0.0:1\n got %v\nwant %s", err, want)
	}
}
