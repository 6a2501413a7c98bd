package settings_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/server/settings"
)

// What http and limits say is taken, a path of the file from its directory on, and shown so that it loads to the same.
func TestLoadConfigHTTP(t *testing.T) {
	const file = `version: 1
http:
  listen: "0.0.0.0:8765"
  token_file: secrets/tokens
  origins: ["https://app.example", "http://localhost:6274"]
  hosts: [gate.example, "10.0.0.1:8765"]
  body_bytes: 65536
  session_idle_seconds: 90.5
limits: {concurrent_runs: 10, parked_runs: 0}
`
	path := writeConfig(t, file)
	loaded, warnings, err := read(settings.Sources{Path: path})
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	want := settings.HTTP{
		Listen: "0.0.0.0:8765", TokenFile: filepath.Join(filepath.Dir(path), "secrets", "tokens"),
		Origins: []string{"https://app.example", "http://localhost:6274"}, Hosts: []string{"gate.example", "10.0.0.1:8765"},
		BodyBytes: 65536, SessionIdle: 90*time.Second + 500*time.Millisecond,
	}
	if diff := cmp.Diff(want, loaded.HTTP); diff != "" {
		t.Errorf("http (-want +got):\n%s", diff)
	}
	if l := loaded.Limits; l.ConcurrentRuns != 10 || l.ParkedRuns != 0 {
		t.Errorf("limits: %+v", l)
	}
	again, _, err := read(settings.Sources{Path: writeConfig(t, string(loaded.YAML()))})
	if err != nil {
		t.Fatalf("what is shown does not load: %v\n%s", err, loaded.YAML())
	}
	if diff := sameConfig(loaded.Config, again.Config); diff != "" {
		t.Errorf("what is shown loads to something else (-want +got):\n%s", diff)
	}
}

// Flag over environment over file; a path of a flag or variable starts where the program does.
func TestHTTPSources(t *testing.T) {
	file := writeConfig(t, "version: 1\nhttp: {listen: \"127.0.0.1:1\", token_file: tokens}\n")
	home := filepath.Join(filepath.Dir(file), "tokens")
	for name, tt := range map[string]struct {
		in            settings.Sources
		listen, token string
	}{
		"file":        {settings.Sources{Path: file}, "127.0.0.1:1", home},
		"environment": {settings.Sources{Path: file, Environ: []string{"PATTERNGATE_HTTP=127.0.0.1:2", "PATTERNGATE_TOKEN_FILE=b/t"}}, "127.0.0.1:2", "b/t"},
		"empty ones":  {settings.Sources{Path: file, Environ: []string{"PATTERNGATE_HTTP=", "PATTERNGATE_TOKEN_FILE="}}, "127.0.0.1:1", home},
		"flags":       {settings.Sources{Path: file, HTTP: "0.0.0.0:3", TokenFile: "c/t", Environ: []string{"PATTERNGATE_HTTP=127.0.0.1:2"}}, "0.0.0.0:3", "c/t"},
		"one flag":    {settings.Sources{Path: file, HTTP: "gate.example:3"}, "gate.example:3", home},
		"home":        {settings.Sources{TokenFile: "~/t", HTTP: "localhost:0", Environ: []string{"HOME=/home/ann"}}, "localhost:0", "/home/ann/t"},
	} {
		if name == "home" && runtime.GOOS == "windows" {
			continue
		}
		loaded, _, err := read(tt.in)
		if err != nil || loaded.HTTP.Listen != tt.listen || loaded.HTTP.TokenFile != tt.token {
			t.Errorf("%s: %v, %v; want %s and %s", name, loaded.HTTP, err, tt.listen, tt.token)
		}
	}
}

func TestLoadConfigRefusesHTTP(t *testing.T) {
	testFaults(t, map[string]faultCase{
		"open to all": {
			"version: 1\nhttp: {listen: \"0.0.0.0:8765\"}\n",
			"pg.yaml:2:16: http.listen: 0.0.0.0:8765 is not loopback; set http.token_file",
		},
		"every address": {
			"version: 1\nhttp: {listen: \":8765\", token_file: \"\"}\n",
			"pg.yaml:2:16: http.listen: :8765 is not loopback; set http.token_file",
		},
		"a port alone": {
			"version: 1\nhttp: {listen: \"8765\"}\n",
			`pg.yaml:2:16: http.listen: got "8765"; write host:port: 127.0.0.1:8765`,
		},
		"a number": {
			"version: 1\nhttp: {listen: 8765}\n",
			"pg.yaml:2:16: http.listen: got 8765; write text in quotes",
		},
		"a URL": {
			"version: 1\nhttp: {listen: \"http://127.0.0.1:8765\"}\n",
			`pg.yaml:2:16: http.listen: got "http://127.0.0.1:8765"; write host:port: 127.0.0.1:8765`,
		},
		"a number as a path": {
			"version: 1\nhttp: {token_file: 1}\n",
			"pg.yaml:2:20: http.token_file: got 1; write text in quotes",
		},
		"one origin": {
			"version: 1\nhttp: {origins: \"https://app.example\"}\n",
			`pg.yaml:2:17: http.origins: got "https://app.example"; write a list, [] for none`,
		},
		"all origins": {
			"version: 1\nhttp: {origins: [\"*\"]}\n",
			`pg.yaml:2:18: http.origins[0]: got "*"; write an origin as browsers write it: https://app.example`,
		},
		"the null origin": {
			"version: 1\nhttp: {origins: [\"null\"]}\n",
			`pg.yaml:2:18: http.origins[0]: got "null"; write an origin as browsers write it: https://app.example`,
		},
		"an origin with a path": {
			"version: 1\nhttp: {origins: [\"https://a.example\", \"https://b.example/\"]}\n",
			`pg.yaml:2:39: http.origins[1]: got "https://b.example/"; write an origin as browsers write it: https://app.example`,
		},
		"a URL as host": {
			"version: 1\nhttp: {hosts: [\"https://gate.example\"]}\n",
			`pg.yaml:2:16: http.hosts[0]: got "https://gate.example"; write a name or address, with or without a port: gate.example`,
		},
		"a number as host": {
			"version: 1\nhttp: {hosts: [1]}\n",
			"pg.yaml:2:16: http.hosts[0]: got 1; write a name or address, with or without a port: gate.example",
		},
		"small bodies": {
			"version: 1\nhttp: {body_bytes: 1}\n",
			"pg.yaml:2:20: http.body_bytes: got 1; write a whole number from 4096 to 67108864",
		},
		"no idle time": {
			"version: 1\nhttp: {session_idle_seconds: 0}\n",
			"pg.yaml:2:30: http.session_idle_seconds: got 0; write a number of seconds from 1 to 2592000",
		},
		"unknown key": {
			"version: 1\nhttp: {token-file: x}\n",
			"pg.yaml:2:8: http.token-file: unknown key; did you mean token_file?",
		},
		"too many runs": {
			"version: 1\nlimits: {concurrent_runs: 100001}\n",
			"pg.yaml:2:27: limits.concurrent_runs: got 100001; write a whole number from 0 to 100000",
		},
		"half a run": {
			"version: 1\nlimits: {parked_runs: 0.5}\n",
			"pg.yaml:2:23: limits.parked_runs: got 0.5; write a whole number from 0 to 100000",
		},
	})
	for name, tt := range map[string]struct {
		in   settings.Sources
		want string
	}{
		"a flag":                {settings.Sources{HTTP: "0.0.0.0:8765"}, "--http: http.listen: 0.0.0.0:8765 is not loopback; set http.token_file"},
		"a variable":            {settings.Sources{Environ: []string{"PATTERNGATE_HTTP=[::]:1"}}, "PATTERNGATE_HTTP: http.listen: [::]:1 is not loopback; set http.token_file"},
		"a flag without a host": {settings.Sources{HTTP: "8765"}, `--http: http.listen: got "8765"; write host:port: 127.0.0.1:8765`},
		"tokens for nothing":    {settings.Sources{TokenFile: "t"}, "--token-file: http.token_file: HTTP is off, so the key has no effect; give --http 127.0.0.1:8765"},
	} {
		if _, _, err := read(tt.in); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v\nwant %s", name, err, tt.want)
		}
	}
	loaded, warnings, err := read(settings.Sources{Environ: []string{"PATTERNGATE_HTPP=x"}})
	if err != nil || loaded.HTTP.Listen != "" || len(warnings) != 1 || !strings.Contains(warnings[0].String(), "did you mean PATTERNGATE_HTTP?") {
		t.Errorf("a variable that is not ours: %v, %v", warnings, err)
	}
}
