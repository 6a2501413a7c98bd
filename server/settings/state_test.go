package settings_test

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/ijson"
	"patterngate/server/settings"
)

// The state lies where the system keeps such things.
func TestDefaultState(t *testing.T) {
	tests := map[string]struct {
		goos    string
		environ []string
		want    string // with / for every separator
		fault   string
	}{
		"linux":                      {"linux", []string{"HOME=/home/ann"}, "/home/ann/.local/state/patterngate/state.db", ""},
		"XDG":                        {"linux", []string{"HOME=/home/ann", "XDG_STATE_HOME=/var/ann"}, "/var/ann/patterngate/state.db", ""},
		"XDG alone":                  {"freebsd", []string{"XDG_STATE_HOME=/var/ann"}, "/var/ann/patterngate/state.db", ""},
		"an empty XDG":               {"linux", []string{"HOME=/home/ann", "XDG_STATE_HOME="}, "/home/ann/.local/state/patterngate/state.db", ""},
		"a relative XDG":             {"linux", []string{"HOME=/home/ann", "XDG_STATE_HOME=state"}, "", "XDG_STATE_HOME is a relative path"},
		"a relative home":            {"linux", []string{"HOME=ann"}, "", "HOME is a relative path"},
		"no home":                    {"linux", nil, "", "no default place for it: HOME is not set"},
		"mac":                        {"darwin", []string{"HOME=/Users/ann", "XDG_STATE_HOME=/var/ann"}, "/Users/ann/Library/Application Support/patterngate/state.db", ""},
		"mac without a home":         {"darwin", nil, "", "no default place for it: HOME is not set"},
		"windows":                    {"windows", []string{`LOCALAPPDATA=C:\Local`, "HOME=/home/ann"}, `C:\Local/patterngate/state.db`, ""},
		"windows without that":       {"windows", []string{"HOME=/home/ann"}, "", "no default place for it: LOCALAPPDATA is not set"},
		"windows, in another letter": {"windows", []string{`LocalAppData=C:\Local`}, `C:\Local/patterngate/state.db`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, fault := settings.DefaultState(tt.goos, tt.environ, settings.StateFile)
			if filepath.ToSlash(got) != filepath.ToSlash(tt.want) || fault.Reason != tt.fault {
				t.Errorf("defaultState(%s, %q) = %q, %q; want %q, %q", tt.goos, tt.environ, got, fault.Reason, tt.want, tt.fault)
			}
			if tt.fault != "" && !strings.Contains(fault.Want, "--state") {
				t.Errorf("the fault wants %q and does not name --state", fault.Want)
			}
		})
	}
}

// Flag over environment over file over default; a path in a file starts at that file, ~/ at home.
func TestStateSources(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the paths of this table are those of Linux; TestDefaultState has the others")
	}
	file := writeConfig(t, "version: 1\nstate: runs.db\n")
	dir, home := filepath.Dir(file), "HOME=/home/ann"
	at := func(text string) string { return writeConfig(t, "version: 1\nstate: "+text+"\n") }
	tests := map[string]struct {
		in   settings.Sources
		want string
	}{
		"default":              {settings.Sources{Environ: []string{home}}, "/home/ann/.local/state/patterngate/demo.db"},
		"nowhere":              {settings.Sources{}, ""},
		"file":                 {settings.Sources{Path: file, Environ: []string{home}}, filepath.Join(dir, "runs.db")},
		"file, in the home":    {settings.Sources{Path: at("~/a/runs.db"), Environ: []string{home}}, "/home/ann/a/runs.db"},
		"file, absolute":       {settings.Sources{Path: at("/var/runs.db"), Environ: []string{home}}, "/var/runs.db"},
		"file, empty":          {settings.Sources{Path: at(`""`), Environ: []string{home}}, "/home/ann/.local/state/patterngate/demo.db"},
		"file, null":           {settings.Sources{Path: at(`null`), Environ: []string{home}}, "/home/ann/.local/state/patterngate/demo.db"},
		"file, memory":         {settings.Sources{Path: at(`":memory:"`), Environ: []string{home}}, ":memory:"},
		"environment":          {settings.Sources{Path: file, Environ: []string{home, "PATTERNGATE_STATE=b/runs.db"}}, "b/runs.db"},
		"environment, home":    {settings.Sources{Path: file, Environ: []string{home, "PATTERNGATE_STATE=~/runs.db"}}, "/home/ann/runs.db"},
		"environment, memory":  {settings.Sources{Path: file, Environ: []string{home, "PATTERNGATE_STATE=:memory:"}}, ":memory:"},
		"environment, empty":   {settings.Sources{Path: file, Environ: []string{home, "PATTERNGATE_STATE="}}, filepath.Join(dir, "runs.db")},
		"flag":                 {settings.Sources{Path: file, State: "c.db", Environ: []string{home, "PATTERNGATE_STATE=b/runs.db"}}, "c.db"},
		"flag over the memory": {settings.Sources{Path: at(`":memory:"`), State: "/c.db", Environ: []string{home}}, "/c.db"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			loaded, warnings, err := read(tt.in)
			if err != nil || len(warnings) > 0 || loaded.State != tt.want {
				t.Fatalf("Load(%+v) has the state %q, %v, %v; want %q", tt.in, loaded.State, warnings, err, tt.want)
			}
			again, _, err := read(settings.Sources{Path: writeConfig(t, string(loaded.YAML())), State: tt.in.State, Environ: tt.in.Environ})
			if err != nil || !ijson.Equal(again.Value(), loaded.Value()) {
				t.Errorf("what is shown does not load to the same: %v\n%s", err, loaded.YAML())
			}
		})
	}
}

func TestDurableKeys(t *testing.T) {
	loaded, _, err := readText(t, "version: 1\nwait: {default_seconds: 0.5, max_seconds: 0.5, join_seconds: 0}\nredact: [/args/card, \"/result/*/e~1mail\", /input/iban, /answer]\n")
	if err != nil {
		t.Fatal(err)
	}
	want := settings.Wait{Caller: 30 * time.Minute, Default: time.Second / 2, Max: time.Second / 2}
	if loaded.Wait != want || !slices.Equal(loaded.Redact, []string{"/args/card", "/result/*/e~1mail", "/input/iban", "/answer"}) {
		t.Errorf("wait %+v, redact %q; want %+v and the four pointers", loaded.Wait, loaded.Redact, want)
	}
	const pointer = "; write a pointer such as /args/card, /result/*/email, /input/iban or /answer"
	testFaults(t, map[string]faultCase{
		"default over the usual max": {"version: 1\nwait: {default_seconds: 60, max_seconds: 50}\n", "pg.yaml:2:25: wait.default_seconds: got 60; write at most wait.max_seconds, 50"},
		"max under the usual default": {"version: 1\nwait: {max_seconds: 30}\n",
			"pg.yaml:2:21: wait.max_seconds: got 30; write at least wait.default_seconds, 45, or set that too"},
		"more than 240":       {"version: 1\nwait: {max_seconds: 241}\n", "pg.yaml:2:21: wait.max_seconds: got 241; write a number of seconds from 0 to 240"},
		"a state that is not": {"version: 1\nstate: 5\n", "pg.yaml:2:8: state: got 5; write text in quotes"},
		"a NUL in the state":  {"version: 1\nstate: \"a\\0b\"\n", "pg.yaml:2:8: state: a NUL character in a path; write the path of a file"},
		"redact no list":      {"version: 1\nredact: /args/a\n", `pg.yaml:2:9: redact: got "/args/a"; write a list, [] for none`},
		"redact another type": {"version: 1\nredact: [5]\n", "pg.yaml:2:10: redact[0]: got 5" + pointer},
		"redact null":         {"version: 1\nredact: [null]\n", "pg.yaml:2:10: redact[0]: got null" + pointer},
		"no pointer":          {"version: 1\nredact: [args/card]\n", `pg.yaml:2:10: redact[0]: got "args/card"` + pointer},
		"a bad escape":        {"version: 1\nredact: [/args/a~2]\n", `pg.yaml:2:10: redact[0]: got "/args/a~2"` + pointer},
		"empty":               {"version: 1\nredact: ['']\n", `pg.yaml:2:10: redact[0]: got ""` + pointer},
		"wrong first word":    {"version: 1\nredact: [/arg/card]\n", `pg.yaml:2:10: redact[0]: got "/arg/card"; begin with /args, /result, /input or /answer`},
		"all arguments":       {"version: 1\nredact: [/args]\n", `pg.yaml:2:10: redact[0]: got "/args"; name a member: /args/card, or any: /args/*`},
		"below the answer":    {"version: 1\nredact: [/answer/name]\n", `pg.yaml:2:10: redact[0]: got "/answer/name"; write /answer`},
	})
}
