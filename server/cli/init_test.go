package cli

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog/pins"
	"patterngate/server/assembly"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/cli/doctor"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// initSecret is a value that must stand in no output and no file but its own.
const initSecret = "tGk7Zq19fPw3Lm8XcRv2"

// initHome is a home with a client's file.
type initHome struct {
	dir, client, self string
}

// newInitHome writes Cursor's file with that text.
func newInitHome(t *testing.T, text string) initHome {
	t.Helper()
	h := initHome{dir: t.TempDir(), self: installedSetup(t)}
	h.client = filepath.Join(h.dir, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(h.client), 0o700); err != nil {
		t.Fatal(err)
	}
	putFile(t, h.client, text)
	return h
}

// command is the program in that home.
func (h initHome) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := setupProgram(t, h.self, args...)
	cmd.Env = append(cmd.Env, "HOME="+h.dir, "XDG_CONFIG_HOME=", "PATH="+os.Getenv("PATH"))
	return cmd
}

// crmEntry is an entry of a client's file that starts the server of the tests.
func crmEntry(command string, env map[string]string) map[string]any {
	all := map[string]string{foreignTools: crmTools}
	for k, v := range env {
		all[k] = v
	}
	return map[string]any{"command": command, "args": []string{}, "env": all}
}

func clientText(t *testing.T, servers map[string]any) string {
	t.Helper()
	text, err := json.MarshalIndent(map[string]any{"theme": "dark", "mcpServers": servers}, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// read is a file of the home.
func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// yamlOf is a configuration as values, by the rules of the file.
func yamlOf(t *testing.T, text string) any {
	t.Helper()
	faults := &yamldoc.Faults{}
	n := yamldoc.Read("FILE", []byte(text), faults)
	if err := faults.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return n.Decoded()
}

// at walks into values.
func at(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

func TestInitWritesAStarterThatServes(t *testing.T) {
	h := newInitHome(t, "{}")
	path := filepath.Join(h.dir, "deep", "pg.yaml")
	out, errs, code := setupRun(t, h.command(t, "init", "-o", path))
	if code != console.ExitDone || !strings.Contains(out, path) {
		t.Fatalf("init ends with %d: %s%s", code, out, errs)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file: %v, %v", info, err)
	}
	loaded, warnings, err := assembly.Load(settings.Sources{Path: path, Environ: []string{"HOME=" + h.dir}}, assembly.LoadOptions{})
	if err != nil || len(warnings) > 0 || loaded.Path != path {
		t.Fatalf("the starter does not load: %v %v", err, warnings)
	}
	tools := listSetupTools(t, h.command(t, "serve", "--config", path))
	if !strings.Contains(tools, `"route_ticket"`) {
		t.Errorf("the starter serves %.300s", tools)
	}
	before := readFile(t, path)
	out, errs, code = setupRun(t, h.command(t, "init", "-o", path))
	if code != console.ExitUsage || !strings.Contains(errs, "already exists") || !strings.Contains(errs, "try: ") || readFile(t, path) != before {
		t.Errorf("a second init ends with %d: %s%s", code, out, errs)
	}
}

// Without a terminal nothing is in force that no flag names, and no secret stands anywhere but in its own file.
func TestInitImportsNothingThatWasNotConfirmed(t *testing.T) {
	crm := foreignServer(t, "crm-server")
	text := clientText(t, map[string]any{
		"My CRM":      crmEntry(crm, map[string]string{"CRM_TOKEN": initSecret, "REGION": "eu"}),
		"gone":        map[string]any{"command": "no-such-program-here"},
		"dies":        crmEntry(crm, map[string]string{foreignNeeds: "NOT_THERE", "API_KEY": initSecret}),
		"patterngate": map[string]any{"command": "/opt/patterngate", "args": []string{"serve"}},
	})
	h := newInitHome(t, text)
	path := filepath.Join(h.dir, "pg.yaml")
	out, errs, code := setupRun(t, h.command(t, "init", "--import", "cursor", "-o", path))
	if code != console.ExitDone {
		t.Fatalf("init ends with %d: %s%s", code, out, errs)
	}
	file := readFile(t, path)
	if strings.Contains(out+errs+file, initSecret) {
		t.Errorf("a secret is shown:\n%s%s%s", out, errs, file)
	}
	if strings.ContainsAny(file+out+errs, "\x1b\u202e") {
		t.Errorf("control characters are shown: %q", file)
	}
	v := yamlOf(t, file)
	servers, _ := at(v, "catalog", "servers").(map[string]any)
	if got := strings.Join(slices.Sorted(maps.Keys(servers)), " "); got != "dies gone my_crm" {
		t.Fatalf("the servers are %s, want dies gone my_crm\n%s", got, file)
	}
	wantTools := map[string]any{
		"search":     map[string]any{"effect": "write", "enabled": false},
		"add_note":   map[string]any{"effect": "write", "enabled": false},
		"files.read": map[string]any{"as": "files_read", "effect": "write", "enabled": false},
	}
	if diff := cmp.Diff(any(wantTools), at(v, "catalog", "servers", "my_crm", "tools")); diff != "" {
		t.Errorf("the tools, -want +got:\n%s\n%s", diff, file)
	}
	env := at(v, "catalog", "servers", "my_crm", "stdio", "env").(map[string]any)
	secret, _ := at(env, "CRM_TOKEN", "secret").(string)
	if env["REGION"] != "eu" || env["HOME"] != true || env["PATH"] != true || secret != "file:secrets/my_crm.CRM_TOKEN" {
		t.Errorf("the environment is %v", env)
	}
	kept := filepath.Join(h.dir, "secrets", "my_crm.CRM_TOKEN")
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 || readFile(t, kept) != initSecret+"\n" {
		t.Errorf("the secret's file: %v, %v", info, err)
	}
	for _, name := range []string{"gone", "dies"} {
		if at(v, "catalog", "servers", name, "enabled") != false {
			t.Errorf("%s is in force\n%s", name, file)
		}
	}
	for _, want := range []string{"no-such-program-here is not installed or not in PATH", "My CRM"} {
		if !strings.Contains(file, want) {
			t.Errorf("the file does not say %q:\n%s", want, file)
		}
	}
	if list, _ := at(v, "catalog", "expose").([]any); len(list) != 0 {
		t.Errorf("exposed: %v", list)
	}
	if _, _, err := assembly.Load(settings.Sources{Path: path, Environ: []string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH")}}, assembly.LoadOptions{}); err != nil {
		t.Errorf("the file does not load: %v", err)
	}
	if readFile(t, h.client) != text {
		t.Error("the client's file was changed")
	}
	if strings.Contains(errs+out, "+patterngate") {
		t.Errorf("a change is shown that is not made: %s", errs)
	}
	again := "patterngate init --import cursor -o " + path + " --read my_crm/search\n"
	if !strings.Contains(errs, "no tool is enabled") || !strings.Contains(errs, again) {
		t.Errorf("the way out is not said: %s\nwant %s", errs, again)
	}
	if replace := "patterngate init --import cursor --replace --config " + path + "   # starts Patterngate in place of these servers in Cursor\n"; !strings.Contains(out, replace) {
		t.Errorf("out is %s\nwant %s", out, replace)
	}
	if want := "# Off. The server says that it only reads. To enable it, write {effect: read}."; !strings.Contains(file, want) {
		t.Errorf("the file does not say %q:\n%s", want, file)
	}
	for _, name := range []string{"bad", "my search"} {
		if !strings.Contains(errs+out, "its tool "+name+" is left out") {
			t.Errorf("the tool %s that cannot stand there is not told of: %s%s", name, out, errs)
		}
	}
}

func TestInitTakesWhatFlagsName(t *testing.T) {
	h := newInitHome(t, clientText(t, map[string]any{"crm": crmEntry(foreignServer(t, "crm-server"), nil)}))
	path := filepath.Join(h.dir, "pg.yaml")
	cmd := h.command(t, "init", "--import", "cursor", "-o", path, "--read", "crm/search", "--allow", "crm/add_note", "--json")
	out, errs, code := setupRun(t, cmd)
	type row struct {
		Name, From, Effect string
		InForce            bool `json:"in_force"`
	}
	var report struct{ Servers []struct{ Tools []row } }
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != console.ExitDone {
		t.Fatalf("init ends with %d, %v: %s%s", code, err, out, errs)
	}
	want := []row{{"search", "search", "read", true}, {"add_note", "add_note", "write", true}, {"files_read", "files.read", "write", false}}
	if diff := cmp.Diff(want, report.Servers[0].Tools); diff != "" {
		t.Errorf("the tools, -want +got:\n%s", diff)
	}
	v := yamlOf(t, readFile(t, path))
	if diff := cmp.Diff(any([]any{"search"}), at(v, "catalog", "expose")); diff != "" {
		t.Errorf("exposed, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(any(map[string]any{"effect": "read"}), at(v, "catalog", "servers", "crm", "tools", "search")); diff != "" {
		t.Errorf("search, -want +got:\n%s", diff)
	}
	lock, err := pins.Read(filepath.Join(h.dir, "patterngate.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"crm/add_note", "crm/search"}, lock.Names()); diff != "" {
		t.Errorf("the lock, -want +got:\n%s", diff)
	}
	if d, _ := lock.Tool("crm", "search"); d.Description != "Searches the CRM." || string(d.Output) != `{"type":"object"}` {
		t.Errorf("search is kept as %+v", d)
	}
	loaded, _, err := assembly.Load(settings.Sources{Path: path, Environ: []string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH")}}, assembly.LoadOptions{})
	if err != nil || len(loaded.Catalog.Servers) != 1 || !slices.Equal(loaded.Catalog.Expose, []string{"search"}) {
		t.Errorf("the file loads as %+v, %v", loaded.Catalog, err)
	}
}

// A tool whose declaration repeats a secret of its server is left out, and the secret stands in its own file alone.
func TestInitLeavesOutWhatRepeatsASecret(t *testing.T) {
	tools := strings.Replace(crmTools, "Searches the CRM.", "Searches the CRM as "+foreignEcho+".", 1)
	h := newInitHome(t, clientText(t, map[string]any{
		"crm": crmEntry(foreignServer(t, "crm-server"), map[string]string{foreignTools: tools, "CRM_TOKEN": initSecret}),
	}))
	path := filepath.Join(h.dir, "pg.yaml")
	out, errs, code := setupRun(t, h.command(t, "init", "--import", "cursor", "-o", path, "--allow", "crm/add_note", "--no-replace"))
	text := readFile(t, path)
	if code != console.ExitDone || at(yamlOf(t, text), "catalog", "servers", "crm", "tools", "search") != nil || !strings.Contains(text, "repeats a secret") {
		t.Errorf("init ends with %d: %s%s%s", code, out, errs, text)
	}
	if all := out + errs + text + readFile(t, filepath.Join(h.dir, "patterngate.lock")); strings.Contains(all, initSecret) {
		t.Errorf("the secret is shown or written: %s", all)
	}
	if got := readFile(t, filepath.Join(h.dir, "secrets", "crm.CRM_TOKEN")); got != initSecret+"\n" {
		t.Errorf("the secret's file holds %q", got)
	}
}

// However many secrets a server has: none of them is forgotten.
func TestInitKnowsEachOfManySecrets(t *testing.T) {
	t.Parallel()
	tools := strings.Replace(crmTools, "Searches the CRM.", "Searches the CRM as "+foreignEcho+".", 1)
	env := map[string]string{foreignTools: tools, "CRM_TOKEN": strings.Repeat(initSecret, 2)}
	for i := range 40 {
		env[fmt.Sprintf("TOKEN_%02d", i)] = fmt.Sprintf("%s%02d", initSecret, i)
	}
	h := newInitHome(t, clientText(t, map[string]any{"crm": crmEntry(foreignServer(t, "crm-server"), env)}))
	path := filepath.Join(h.dir, "pg.yaml")
	out, errs, code := setupRun(t, h.command(t, "init", "--import", "cursor", "-o", path, "--no-replace"))
	if text := readFile(t, path); code != console.ExitDone || !strings.Contains(text, "repeats a secret") || strings.Contains(out+errs+text, initSecret) {
		t.Errorf("init ends with %d: %s%s%s", code, out, errs, text)
	}
}

// With --replace the client starts this program in the servers' place, and --undo brings its file back byte for byte.
func TestInitReplacesAndBringsBack(t *testing.T) {
	text := clientText(t, map[string]any{
		"crm":  crmEntry(foreignServer(t, "crm-server"), map[string]string{"CRM_TOKEN": initSecret}),
		"gone": map[string]any{"command": "no-such-program-here"},
	})
	h := newInitHome(t, text)
	path := filepath.Join(h.dir, "pg.yaml")
	out, errs, code := setupRun(t, h.command(t, "init", "--import", "cursor", "-o", path, "--read", "crm/search", "--replace"))
	const none = "no tool is enabled, so the client sees no tool"
	if code != console.ExitDone || strings.Contains(out+errs, initSecret) || !strings.Contains(errs, "-crm") || strings.Contains(out+errs, none) {
		t.Fatalf("init ends with %d: %s%s", code, out, errs)
	}
	entries, _, err := (clientfile.JSONServers{Member: "mcpServers"}).Decode([]byte(readFile(t, h.client)))
	if err != nil || strings.Join(slices.Sorted(maps.Keys(entries)), " ") != "gone patterngate" {
		t.Fatalf("the client's file has %v, %v", entries, err)
	}
	loaded, _, err := assembly.Load(settings.Sources{Path: path, Environ: []string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH")}}, assembly.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	environ := []string{"HOME=" + h.dir}
	if found := doctor.Bypasses(environ, loaded.Catalog); len(found) != 0 {
		t.Errorf("ways around the gate: %+v", found)
	}
	out, errs, code = setupRun(t, h.command(t, "init", "--import", "cursor", "--undo"))
	if code != console.ExitDone || readFile(t, h.client) != text {
		t.Fatalf("--undo ends with %d: %s%s", code, out, errs)
	}
	if found := doctor.Bypasses(environ, loaded.Catalog); len(found) != 1 || found[0] != (doctor.Bypass{Client: "cursor", File: h.client, Server: "crm", Ours: "crm"}) {
		t.Errorf("ways around the gate: %+v, want crm", found)
	}
	out, errs, code = setupRun(t, h.command(t, "init", "--import", "cursor", "-o", filepath.Join(h.dir, "none.yaml"), "--yes", "--replace"))
	if code != console.ExitDone || !strings.Contains(out+errs, none) {
		t.Errorf("without an enabled tool: it ends with %d and without a warning: %s%s", code, out, errs)
	}
}

// setup may change the same file before init or after it. --undo restores the text before init, says which servers come back,
// and leaves the change by a person alone.
func TestInitUndoBesideSetup(t *testing.T) {
	t.Parallel()
	text := clientText(t, map[string]any{"crm": crmEntry(foreignServer(t, "crm-server"), nil)})
	replace := []string{"init", "--import", "cursor", "-o", "pg.yaml", "--read", "crm/search", "--replace"}
	setup, unsetup := []string{"setup", "cursor", "--write"}, []string{"setup", "cursor", "--undo"}
	other := append(slices.Clone(setup), "--config", "other.yaml")
	for name, c := range map[string]struct {
		before, after [][]string
		later         bool
	}{
		"setup before":          {before: [][]string{setup}},
		"setup after":           {after: [][]string{other}, later: true},
		"setup without a file":  {after: [][]string{setup}}, // the entry keeps its own
		"setup undone after":    {after: [][]string{unsetup}, later: true},
		"setup before and done": {before: [][]string{setup}, after: [][]string{other, unsetup}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newInitHome(t, text)
			putFile(t, filepath.Join(h.dir, "other.yaml"), "version: 1\n")
			run := func(args []string) {
				t.Helper()
				cmd := h.command(t, args...)
				cmd.Dir = h.dir
				if out, errs, code := setupRun(t, cmd); code != console.ExitDone {
					t.Fatalf("%q ends with %d: %s%s", args, code, out, errs)
				}
			}
			for _, args := range c.before {
				run(args)
			}
			want := readFile(t, h.client)
			run(replace)
			for _, args := range c.after {
				run(args)
			}
			undo := []string{"init", "--import", "cursor", "--undo"}
			out, errs, code := setupRun(t, h.command(t, undo...))
			if code != console.ExitDone || readFile(t, h.client) != want {
				t.Fatalf("--undo ends with %d: %s%s and leaves\n%s\nwant\n%s", code, out, errs, readFile(t, h.client), want)
			}
			if !strings.Contains(out, `init replaced "crm"`) || strings.Contains(out, "undoes what setup changed") != c.later || !strings.Contains(out, "then   restart Cursor\n") {
				t.Errorf("--undo says %s", out)
			}
			if out, errs, code := setupRun(t, h.command(t, undo...)); code != console.ExitUsage || readFile(t, h.client) != want {
				t.Errorf("a second --undo ends with %d: %s%s", code, out, errs)
			}
		})
	}
}

// A flag that names nothing is a fault, and nothing is written.
func TestInitRefuses(t *testing.T) {
	t.Parallel()
	text := clientText(t, map[string]any{"crm": crmEntry(foreignServer(t, "crm-server"), nil), "gone": map[string]any{"command": "no-such-program-here"}})
	h := newInitHome(t, text)
	bad := filepath.Join(h.dir, "bad.json")
	putFile(t, bad, "{\"mcpServers\": {,}}")
	empty := filepath.Join(h.dir, "empty.json")
	putFile(t, empty, `{"mcpServers": {"patterngate": {"command": "patterngate"}}}`)
	path := filepath.Join(h.dir, "pg.yaml")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such client":       {[]string{"--import", "cursr"}, "(did you mean cursor?). The clients are claude-desktop"},
		"client without file":  {[]string{"--import", "codex"}, "has no file"},
		"file without servers": {[]string{"--import", empty}, "no other MCP server than this one"},
		"file of no sense":     {[]string{"--import", bad}, "bad.json:1:"},
		"directory":            {[]string{"--import", h.dir}, "a directory"},
		"unknown tool":         {[]string{"--import", "cursor", "--read", "crm/serch"}, "(did you mean crm/search?); it has search, add_note, files.read"},
		"suggested tool":       {[]string{"--import", "cursor", "--read", "crm/add_note,crm/serch"}, "--read crm/add_note,crm/search\n"},
		"suggested client":     {[]string{"--import", "cursr"}, "try: patterngate init --import cursor\n"},
		"suggested command":    {[]string{"--import", "cursor", "--read", "crm/serch"}, "try: patterngate init --import cursor -o "},
		"unknown server":       {[]string{"--import", "cursor", "--allow", "cmr/search"}, "there are crm, gone"},
		"misspelt server":      {[]string{"--import", "cursor", "--allow", "gon/x"}, "(did you mean gone/x?); there are crm, gone"},
		"server not in force":  {[]string{"--import", "cursor", "--allow", "gone/x"}, "not enabled"},
		"read and allow":       {[]string{"--import", "cursor", "--allow", "crm/search", "--read", "crm/search"}, "--allow too"},
		"flags without import": {[]string{"--read", "crm/search"}, "without --import"},
		"opposites":            {[]string{"--import", "cursor", "--replace", "--no-replace"}, "exclude each other"},
		"undo of nothing":      {[]string{"--import", "cursor", "--undo"}, "has no backup"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"init"}, c.args...)
			if !slices.Contains(args, "--undo") {
				args = append(args, "-o", path)
			}
			out, errs, code := setupRun(t, h.command(t, args...))
			if code != console.ExitUsage || !strings.Contains(errs, c.want) {
				t.Errorf("%q ends with %d: %s%s\nwant %q", args, code, out, errs, c.want)
			}
			if _, err := os.Lstat(path); !os.IsNotExist(err) {
				t.Errorf("a file was written: %v", err)
			}
		})
	}
	if left, err := fs.Glob(os.DirFS(h.dir), "secrets/*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
