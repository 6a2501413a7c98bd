package importer

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patterngate/server/assembly"

	"github.com/google/go-cmp/cmp"

	"patterngate/server/settings"
)

// testImporter has a home with one program outside the bare PATH.
func testImporter(t *testing.T, more ...string) (translator, string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "tool")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return translator{"linux", append([]string{"HOME=/home/u", "PATH=" + dir + ":/usr/bin:/bin"}, more...)}, path
}

func TestImporterHidesSecrets(t *testing.T) {
	in, _ := testImporter(t, "GH_TOKEN=of-the-environment", "PLACE=north", "HEXED=9f86d081884c7d659a2feaa0c55ad015")
	for name, c := range map[string]struct {
		name, text, want string
	}{
		"plain":             {"REGION", "eu", "eu"},
		"empty secret":      {"TOKEN", "", ""},
		"empty":             {"REGION", "", `""`},
		"named":             {"My-Api-Key", "abc", `{secret: "file:secrets/s.My_Api_Key"}`},
		"beginning":         {"KEY", "ghp_abcdefgh1234", `{secret: "file:secrets/s.KEY"}`},
		"entropy":           {"KEY", "tGk7Zq19fPw3Lm8XcRv2", `{secret: "file:secrets/s.KEY"}`},
		"uuid":              {"KEY", "123e4567-e89b-12d3-a456-426614174000", `{secret: "file:secrets/s.KEY"}`},
		"package":           {"PACKAGE", "mcp-server-fetch==2024.11.5", `"mcp-server-fetch==2024.11.5"`},
		"path":              {"DIR", "/srv/some/long/path/with/number/2024", "/srv/some/long/path/with/number/2024"},
		"password in a url": {"DB", "postgres://u:pw@h/db", `{secret: "file:secrets/s.DB"}`},
		"settings":          {"DB", "host=h password=pw", `{secret: "file:secrets/s.DB"}`},
		"reference":         {"TOKEN", "${GH_TOKEN}", `{secret: "env:GH_TOKEN"}`},
		"reference of code": {"TOKEN", "${env:GH_TOKEN}", `{secret: "env:GH_TOKEN"}`},
		"reference itself":  {"PLACE", "${PLACE}", "true"},
		"reference, plain":  {"WHERE", "${PLACE}", "north"},
		"reference, secret": {"WHERE", "${HEXED}", `{secret: "env:HEXED"}`},
		"default":           {"WHERE", "${NOT_SET:-south}", "south"},
		"within":            {"WHERE", "in ${PLACE}!", `"in north!"`},
		"secret within":     {"WHERE", "in ${GH_TOKEN}", `{secret: "file:secrets/s.WHERE"}`},
		"home":              {"WHERE", "${userHome}/x", "/home/u/x"},
		"word of yaml":      {"WHERE", "yes", `"yes"`},
		"number":            {"WHERE", "010", `"010"`},
		"line":              {"WHERE", "a\nb", `{secret: "file:secrets/s.WHERE"}`},
		"hidden characters": {"WHERE", "a\u202e\U0001F600", `"a\u202e\U0001f600"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := in.entry(ClientServer{Name: "s", Command: "tool", Env: []Variable{{c.name, c.text}}})
			servers := []Server{s}
			NameServers(servers)
			file := initFile{path: filepath.Join(t.TempDir(), "pg.yaml")}
			file.keepSecrets(servers)
			got := ""
			for _, v := range servers[0].env {
				if v.name == c.name {
					got = v.yaml()
				}
			}
			if got != c.want || servers[0].problem != "" {
				t.Errorf("%s=%s is written %s (%s), want %s", c.name, c.text, got, servers[0].problem, c.want)
			}
		})
	}
}

func TestImporterTranslates(t *testing.T) {
	in, tool := testImporter(t, "GITHUB_TOKEN=tok-of-env")
	for name, c := range map[string]struct {
		server  ClientServer
		want    string // in the file's entry
		problem string
	}{
		"bare command":        {ClientServer{Command: "sh"}, "command: sh\n        env: [HOME, PATH]", ""},
		"command of a shell":  {ClientServer{Command: "tool"}, "command: " + tool + "\n        env: {HOME: true, PATH: \"" + filepath.Dir(tool) + ":/usr/bin", ""},
		"no command":          {ClientServer{Command: "no-such-tool"}, "enabled: false", "is not installed or not in PATH"},
		"command not there":   {ClientServer{Command: "/no/such"}, "enabled: false", "there is no program /no/such"},
		"flag with secret":    {ClientServer{Command: "sh", Args: []string{"--token=abc", "-x"}}, `args: [{secret: "file:secrets/s.arg_1"}, -x]`, ""},
		"flag before secret":  {ClientServer{Command: "sh", Args: []string{"--api-key", "abc", "--api-key", "--verbose"}}, `args: [--api-key, {secret: "file:secrets/s.arg_2"}, --api-key, --verbose]`, ""},
		"input of code":       {ClientServer{Command: "sh", Env: []Variable{{"GITHUB_TOKEN", "${input:gh}"}}}, `GITHUB_TOKEN: {secret: "env:GITHUB_TOKEN"}`, ""},
		"input, not there":    {ClientServer{Command: "sh", Args: []string{"${input:my-key}"}}, `args: [{secret: "env:MY_KEY"}]`, "needs the variable MY_KEY"},
		"folder":              {ClientServer{Command: "sh", Args: []string{"${workspaceFolder}/x"}}, "enabled: false", "needs ${workspaceFolder}"},
		"passed on":           {ClientServer{Command: "sh", Passes: []string{"LANG"}}, "env: [HOME, LANG, PATH]", ""},
		"switched off":        {ClientServer{Command: "sh", Off: true}, "enabled: false", "it is disabled in the client"},
		"url":                 {ClientServer{URL: "https://h.example/mcp", headers: []Variable{{"Authorization", "Bearer abc"}, {"X-Region", "eu"}}}, `http: {url: "https://h.example/mcp", headers: {Authorization: {secret: "file:secrets/s.Authorization", prefix: "Bearer "}, X-Region: eu}}`, ""},
		"url with reference":  {ClientServer{URL: "https://h.example/mcp", headers: []Variable{{"Authorization", "Bearer ${GITHUB_TOKEN}"}}}, `{secret: "env:GITHUB_TOKEN", prefix: "Bearer "}`, ""},
		"empty secrets":       {ClientServer{URL: "https://h.example/mcp", headers: []Variable{{"X-Api-Key", ""}, {"Authorization", "Bearer "}, {"X-Region", ""}}}, `# header X-Api-Key is left out: it is empty`, ""},
		"no value of a flag":  {ClientServer{Command: "sh", Args: []string{"token=;x", "--my.api_key=", "-token", "1"}}, `args: [{secret: "file:secrets/s.arg_1"}, "--my.api_key=", -token, {secret: "file:secrets/s.arg_4"}]`, ""},
		"a header of ours":    {ClientServer{URL: "https://h.example/mcp", headers: []Variable{{"Host", "h.example"}, {"a b", "c"}}}, "# header Host is left out", ""},
		"headers alike":       {ClientServer{URL: "https://h.example/mcp", headers: []Variable{{"X-A", "b"}, {"x-a", "c"}}}, "# header x-a is left out", ""},
		"no such variable":    {ClientServer{Command: "sh", Env: []Variable{{"A=B", "c"}}}, "# variable A=B is left out", ""},
		"long":                {ClientServer{Command: "sh", Args: []string{strings.Repeat("long ", 1000)}}, `args: [{secret: "file:secrets/s.arg_1"}]`, ""},
		"url of another kind": {ClientServer{URL: "ws://h.example/mcp"}, "# left out: its url cannot be used", "not an absolute http or https URL"},
		"url with a password": {ClientServer{URL: "https://u:pw@h.example/mcp?x=1&api_key=k&y=2"}, `http: {url: "https://h.example/mcp?x=1&y=2"}`, "query member api_key"},
	} {
		t.Run(name, func(t *testing.T) {
			c.server.Name = "s"
			servers := []Server{in.entry(c.server)}
			NameServers(servers)
			file := initFile{path: filepath.Join(t.TempDir(), "pg.yaml")}
			file.keepSecrets(servers)
			got := servers[0].yaml()
			if !strings.Contains(got, c.want) || !strings.Contains(servers[0].problem, c.problem) || (c.problem == "") != (servers[0].problem == "") {
				t.Errorf("it is written (%s)\n%s\nwant %s (%s)", servers[0].problem, got, c.want, c.problem)
			}
			reads(t, &file, importedText("x", "patterngate.lock", servers))
		})
	}
}

// reads has our own reader take what init writes.
func reads(t *testing.T, file *initFile, text []byte) {
	t.Helper()
	if err := file.write(text); err != nil {
		t.Fatal(err)
	}
	if _, _, err := assembly.Load(settings.Sources{Path: file.path, Environ: []string{"HOME=/home/u", "PATH=/usr/bin:/bin"}}, assembly.LoadOptions{}); err != nil {
		t.Fatalf("it does not load: %v\n%s", err, text)
	}
}

func TestServersThatReachTheConfigurationAreComments(t *testing.T) {
	in, _ := testImporter(t)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		server ClientServer
		out    bool
	}{
		"argument":  {ClientServer{Command: "sh", Args: []string{dir}}, true},
		"above":     {ClientServer{Command: "sh", Args: []string{filepath.Dir(dir)}}, true},
		"flag":      {ClientServer{Command: "sh", Args: []string{"--root=" + dir + "/"}}, true},
		"directory": {ClientServer{Command: "sh", Dir: dir}, true},
		"beside":    {ClientServer{Command: "sh", Args: []string{dir + "-x", "/srv/x"}}, false},
		"variable":  {ClientServer{Command: "sh", Env: []Variable{{"VAULT", dir}}}, true},
		"list":      {ClientServer{Command: "sh", Args: []string{"/srv/x," + dir}}, true},
		"below":     {ClientServer{Command: "sh", Args: []string{filepath.Join(dir, "data")}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.server.Name = "s"
			servers := []Server{in.entry(c.server)}
			NameServers(servers)
			servers[0].reaches(settings.Sources{}, dir, "")
			text := string(importedText("x", "patterngate.lock", servers))
			found, _ := valueAt(decoded(t, text), "catalog", "servers").(map[string]any)
			if (len(found) == 0) != c.out || (servers[0].problem != "") != c.out || !strings.Contains(text, "command: sh") {
				t.Errorf("%q, %v: left out %t, want %t\n%s", servers[0].problem, found, len(found) == 0, c.out, text)
			}
		})
	}
}

func TestNamesFitTheFile(t *testing.T) {
	servers := []Server{}
	for _, name := range []string{"My CRM", "my-crm", "42", "http", "", strings.Repeat("x", 90), "évén"} {
		servers = append(servers, Server{From: ClientServer{Name: name}})
	}
	NameServers(servers)
	var got []string
	for _, s := range servers {
		got = append(got, s.Name)
	}
	want := []string{"my_crm", "my_crm_2", "s_42", "http_2", "s", strings.Repeat("x", 60), "v_n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names, -want +got:\n%s", diff)
	}
	tools := []Server{{Name: "a"}, {Name: "b"}}
	for _, name := range []string{"x", "x.y", "x/y", "final", "taken", strings.Repeat("é", 80)} {
		tools[0].tools = append(tools[0].tools, importedTool{declaredName(name), "", "write", false})
	}
	tools[1].tools = []importedTool{{declaredName("x"), "", "write", false}}
	nameTools(tools, []string{"taken"})
	got = nil
	for _, s := range tools {
		for _, tool := range s.tools {
			got = append(got, tool.listed())
		}
	}
	if diff := cmp.Diff([]string{"x", "x_y", "a_x_y", "a_final", "a_taken", "_", "b_x"}, got); diff != "" {
		t.Errorf("tools, -want +got:\n%s", diff)
	}
}

func declaredName(name string) foreignTool { return foreignTool{Name: name} }

// Whatever a client's file and a server say, the configuration reads back as just these servers and tools, and none of it
// is in force.
func FuzzImportedText(f *testing.F) {
	f.Add("crm", "search", "Searches.\n  evil: {effect: read}", "-y", "KEY", "value: [", "/srv")
	f.Add("a\u2028b", "x\x85y: {}", "\x00\x1b[2J\ufeff", "yes", "N", "010", "~")
	f.Add("crm", "my search", "", "--token=", "API_KEY", "", "")
	f.Add("crm", "s\u00f6k", "", "/", "A=B", "x", "relative")
	f.Add("http", "#", "# --- ...", "*a", "&b", "!tag", "'\"\\")
	f.Fuzz(func(t *testing.T, server, tool, description, arg, name, value, dir string) {
		in := translator{"linux", []string{"HOME=/home/u", "PATH=/bin"}}
		s := in.entry(ClientServer{Name: server, Command: "sh", Args: []string{arg}, Env: []Variable{{name, value}}, Dir: dir})
		servers := []Server{s}
		NameServers(servers)
		if unfitTool(tool, map[string]any{"inputSchema": map[string]any{}}) != "" {
			tool = "search" // list leaves that one out
		}
		servers[0].tools = []importedTool{{foreignTool: foreignTool{Name: tool, Description: description}, effect: "write"}}
		nameTools(servers, nil)
		home := t.TempDir()
		file := &initFile{path: filepath.Join(home, "pg.yaml")}
		servers[0].reaches(settings.Sources{Environ: in.environ}, home, "/home/u/.local/state/patterngate")
		file.keepSecrets(servers)
		text := string(importedText(server, "patterngate.lock", servers))
		v := decoded(t, text)
		reads(t, file, []byte(text))
		if servers[0].out != "" {
			if left, _ := valueAt(v, "catalog", "servers").(map[string]any); len(left) != 0 {
				t.Fatalf("what is left out reads back as %v\n%s", left, text)
			}
			return
		}
		tools, _ := valueAt(v, "catalog", "servers", servers[0].Name, "tools").(map[string]any)
		if len(tools) != 1 || valueAt(tools, slices.Sorted(maps.Keys(tools))[0], "enabled") != false {
			t.Fatalf("it reads back as %v\n%s", v, text)
		}
		if keys, _ := v.(map[string]any); len(keys) != 2 {
			t.Fatalf("it has %v at the top\n%s", slices.Sorted(maps.Keys(keys)), text)
		}
		want := string([]rune(arg)) // each byte that is no UTF-8 becomes one U+FFFD
		args, _ := valueAt(v, "catalog", "servers", servers[0].Name, "stdio", "args").([]any)
		if len(args) != 1 || !servers[0].args[0].hidden() && !strings.Contains(arg, "${") && args[0] != want {
			t.Fatalf("the argument %q reads back as %v\n%s", arg, args, text)
		}
	})
}
