package settings_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// What is wrong with a catalog is said with its place and what would have been right (spec/config.md sections 4 and 11).
func TestCatalogRefuses(t *testing.T) {
	server := func(members string) string {
		return "version: 1\ncatalog:\n  servers:\n    crm: {" + members + "}\n"
	}
	stdio := func(members string) string { return server("stdio: {command: prog" + members + "}") }
	tool := func(members string) string {
		return server("stdio: {command: prog}, tools: {find: {" + members + "}}")
	}
	http := func(members string) string { return "version: 1\ncatalog:\n  http:\n    find: {" + members + "}\n" }
	request := func(members string) string {
		return http("description: Finds., effect: write, input: {id: {type: string}}, request: {" + members + "}")
	}
	patterns := func(members string) string {
		return "version: 1\ncatalog: {http: {" + httpTool("find", "") + "}}\npatterns: {" + members + "}\n"
	}
	tests := map[string]faultCase{
		"unknown key":           {"version: 1\ncatalog: {server: {}}\n", "pg.yaml:2:11: catalog.server: unknown key; did you mean servers?"},
		"server name":           {"version: 1\ncatalog: {servers: {Crm: {}}}\n", "pg.yaml:2:21: catalog.servers.Crm: not a name; write a name: a lower-case letter, then up to 63 lower-case letters, digits and _"},
		"neither":               {server(""), "pg.yaml:4:10: catalog.servers.crm: neither stdio nor http; write stdio: {command: ...} or http: {url: ...}"},
		"both":                  {server("stdio: {command: prog}, http: {url: 'https://a.example'}"), "pg.yaml:4:10: catalog.servers.crm: both stdio and http; keep one"},
		"no command":            {server("stdio: {args: [x]}"), "pg.yaml:4:18: catalog.servers.crm.stdio.command: missing; write the program, for example npx"},
		"no such program":       {server("stdio: {command: npx}"), `pg.yaml:4:28: catalog.servers.crm.stdio.command: npx is not installed or not in PATH; write the path that "which npx" prints`},
		"effect missing":        {tool("as: look"), "pg.yaml:4:49: catalog.servers.crm.tools.find.effect: missing; write read, write or destructive"},
		"effect unknown":        {tool("effect: reads"), `pg.yaml:4:58: catalog.servers.crm.tools.find.effect: got "reads"; write read, write or destructive; did you mean read?`},
		"tool's name":           {server("stdio: {command: prog}, tools: {a.b: {effect: read}}"), "pg.yaml:4:48: catalog.servers.crm.tools.\"a.b\": not a name that models can use; give it one of 1 to 64 letters, digits, _ and -: as: NAME"},
		"a taken name":          {tool("effect: read, as: caller"), "pg.yaml:4:64: catalog.servers.crm.tools.find.as: caller is a reserved name; give the tool another name"},
		"result too long":       {tool("effect: read, max_result_bytes: 65537"), "pg.yaml:4:82: catalog.servers.crm.tools.find.max_result_bytes: got 65537; write a whole number from 1 to 65536"},
		"no rate":               {tool("effect: read, rate: {calls: 0, per_seconds: 0}"), "pg.yaml:4:78: catalog.servers.crm.tools.find.rate.calls: got 0; write a whole number from 1 to 10000\npg.yaml:4:94: catalog.servers.crm.tools.find.rate.per_seconds: got 0; write a number of seconds above 0 to 86400"},
		"rate without time":     {tool("effect: read, rate: {calls: 1}"), "pg.yaml:4:70: catalog.servers.crm.tools.find.rate.per_seconds: missing; write in how many seconds"},
		"a tool of http and S":  {server("stdio: {command: prog}, tools: {find: {effect: read}}") + "  http: {" + httpTool("find", "") + "}\n", "pg.yaml:5:10: catalog.http.find: also a tool of crm; write another name"},
		"literal argument":      {stdio(", args: [--api-key, abcdef]"), `pg.yaml:4:52: catalog.servers.crm.stdio.args[1]: a secret in plain text; write {secret: "env:NAME"}`},
		"literal in argument":   {stdio(", args: ['--Access-TOKEN=abcdef']"), `pg.yaml:4:41: catalog.servers.crm.stdio.args[0]: a secret in plain text; write {secret: "env:NAME"}`},
		"literal variable":      {stdio(", env: {GITHUB_TOKEN: abcdef}"), `pg.yaml:4:54: catalog.servers.crm.stdio.env.GITHUB_TOKEN: a secret in plain text; write {secret: "env:GITHUB_TOKEN"}`},
		"secret number in env":  {stdio(", env: {GITHUB_TOKEN: 1234567}"), `pg.yaml:4:54: catalog.servers.crm.stdio.env.GITHUB_TOKEN: a secret in plain text; write {secret: "env:GITHUB_TOKEN"}`},
		"secret list in env":    {stdio(", env: {GITHUB_TOKEN: [abcdef]}"), `pg.yaml:4:54: catalog.servers.crm.stdio.env.GITHUB_TOKEN: a secret in plain text; write {secret: "env:GITHUB_TOKEN"}`},
		"secret number in args": {stdio(", args: [--token, 1234567]"), `pg.yaml:4:50: catalog.servers.crm.stdio.args[1]: a secret in plain text; write {secret: "env:NAME"}`},
		"secret number, query":  {request("method: GET, url: 'https://a.example', query: {api_key: 1234567}"), `pg.yaml:4:143: catalog.http.find.request.query.api_key: a secret in plain text; write {secret: "env:NAME"}`},
		"secret as a program":   {server("http: {url: 'https://a.example', headers: {Cookie: {secret: {exec: hunter2}}}}"), `pg.yaml:4:78: catalog.servers.crm.http.headers.Cookie.secret.exec: a secret in plain text; write a list: [program, argument]; no shell reads it`},
		"number for a variable": {stdio(", env: {LEVEL: 3}"), `pg.yaml:4:47: catalog.servers.crm.stdio.env.LEVEL: got 3; write text in quotes, or {secret: "env:NAME"}`},
		"literal fix":           {tool("effect: read, fix: {auth: {Client-Secret: abc}}"), `pg.yaml:4:92: catalog.servers.crm.tools.find.fix.auth.Client-Secret: a secret in plain text; write {secret: "env:NAME"}`},
		"literal header":        {server("http: {url: 'https://a.example', headers: {Authorization: Bearer abc}}"), `pg.yaml:4:69: catalog.servers.crm.http.headers.Authorization: a secret in plain text; write {secret: "env:NAME", prefix: "Bearer "}`},
		"literal X-Api-Key":     {server("http: {url: 'https://a.example', headers: {X-Api-Key: abc}}"), `pg.yaml:4:65: catalog.servers.crm.http.headers.X-Api-Key: a secret in plain text; write {secret: "env:NAME"}`},
		"secret misspelled":     {server("http: {url: 'https://a.example', headers: {Cookie: {secret: hunter2}}}"), `pg.yaml:4:71: catalog.servers.crm.http.headers.Cookie.secret: a secret in plain text; write "env:NAME", "file:PATH" or {exec: [program, argument]}`},
		"user in a URL":         {server("http: {url: 'https://me:hunter2@a.example'}"), `pg.yaml:4:23: catalog.servers.crm.http.url: a user or password in a URL; remove it, and write headers: {Authorization: {secret: "env:NAME", prefix: "Basic "}}`},
		"token in a URL":        {server("http: {url: 'https://a.example/?access_token=hunter2'}"), `pg.yaml:4:23: catalog.servers.crm.http.url: a plain value for "access_token" in a URL; write it in query or headers: {secret: "env:NAME"}`},
		"Host":                  {server("http: {url: 'https://a.example', headers: {hOst: b}}"), `pg.yaml:4:54: catalog.servers.crm.http.headers.hOst: got "hOst"; remove it`},
		"Connection":            {request("method: GET, url: 'https://a.example', headers: {Connection: close}"), `pg.yaml:4:136: catalog.http.find.request.headers.Connection: got "Connection"; remove it`},
		"no request":            {http("description: Finds., effect: read"), `pg.yaml:4:11: catalog.http.find.request: missing; write {method: GET, url: "https://host/path"}`},
		"no description":        {http("effect: read, request: {method: GET, url: 'https://a.example'}"), "pg.yaml:4:11: catalog.http.find.description: missing; write what it does, for the model"},
		"argument in the host":  {request("method: GET, url: 'https://{id}.example/x'"), "pg.yaml:4:105: catalog.http.find.request.url: {id} is in the host; an argument can stand only in a path segment or a query value"},
		"no such argument":      {request("method: GET, url: 'https://a.example/{ix}'"), "pg.yaml:4:105: catalog.http.find.request.url: no argument ix (id); declare it in input"},
		"argument misspelled":   {strings.Replace(request("method: GET, url: 'https://a.example/', query: {q: '{order_idd}'}"), "{id:", "{order_id:", 1), "pg.yaml:4:144: catalog.http.find.request.query.q: no argument order_idd (order_id); did you mean order_id?"},
		"absent of a write":     {request("method: POST, url: 'https://a.example', absent: [404]"), "pg.yaml:4:135: catalog.http.find.request.absent: effect write; write absent only for effect read"},
		"body of GET":           {request("method: GET, url: 'https://a.example', body: args"), "pg.yaml:4:132: catalog.http.find.request.body: a GET has no body; use query, or another method"},
		"status code":           {request("method: GET, url: 'https://a.example', success: [6xx]"), `pg.yaml:4:136: catalog.http.find.request.success[0]: got "6xx"; write a status code, 200, or a class, "2xx"`},
		"network":               {"version: 1\ncatalog: {allow_networks: [10.0.0.1, 10.0.0.1/8, x]}\n", "pg.yaml:2:28: catalog.allow_networks[0]: got \"10.0.0.1\"; write 10.0.0.1/32 for one address\npg.yaml:2:38: catalog.allow_networks[1]: got \"10.0.0.1/8\"; write 10.0.0.0/8\npg.yaml:2:50: catalog.allow_networks[2]: got \"x\"; write a network: 127.0.0.1/32"},
		"unknown reconcile":     {request("method: POST, url: 'https://a.example'}, reconcile: {tool: fnd, happened: 'true'"), "pg.yaml:4:146: catalog.http.find.reconcile.tool: no tool fnd; did you mean find?"},
		"reconcile writes":      {request("method: POST, url: 'https://a.example'}, reconcile: {tool: find, happened: 'true'"), "pg.yaml:4:146: catalog.http.find.reconcile.tool: find has effect write; name a tool of effect read"},
		"unknown tool":          {patterns("look: {kind: call, tool: fnd}"), "pg.yaml:3:37: patterns.look.tool: no tool fnd; did you mean find?"},
		"no tool":               {patterns("look: {kind: call}"), "pg.yaml:3:18: patterns.look.tool: missing; write the tool that it calls"},
		"no kind":               {patterns("look: {tool: find}"), "pg.yaml:3:18: patterns.look.kind: missing; write task_decomposition, orchestrator, routing, supervisor, planning or call"},
		"a name of ours":        {patterns("run_wait: {kind: call, tool: find}"), "pg.yaml:3:12: patterns.run_wait: also a tool of this server; write another name"},
		"a planning name":       {patterns("plan_execute: {kind: call, tool: find}"), "pg.yaml:3:12: patterns.plan_execute: also a tool of this server; write another name"},
		"unknown in tools":      {patterns("route_ticket: {tools: [fimd]}"), "pg.yaml:3:35: patterns.route_ticket.tools[0]: no tool fimd; did you mean find?"},
		"demo and real":         {"version: 1\ndemo: {enabled: true}\ncatalog: {http: {" + httpTool("find", "") + "}}\npatterns: {plan: {tools: [sales_worker, find]}}\n", "pg.yaml:4:26: patterns.plan.tools: sales_worker is demo data and find is real; use only demo tools or only real tools in a pattern"},
		"a name of the demo":    {"version: 1\ndemo: {enabled: true}\ncatalog: {http: {" + httpTool("sales_worker", "") + "}}\n", "pg.yaml:3:18: catalog.http.sales_worker: also a tool of the demo; write another name"},
		"exposed and named":     {"version: 1\ncatalog: {expose: [find], http: {" + httpTool("find", "") + "}}\npatterns: {find: {kind: call, tool: find}}\n", "pg.yaml:2:20: catalog.expose[0]: find is also a pattern; keep it here or in patterns"},
		"destructive":           {strings.Replace(patterns("look: {kind: call, tool: find}"), "effect: read", "effect: destructive", 1), "pg.yaml:3:37: patterns.look.tool: find is destructive, and no policy judges it; write policy: NAME in patterns.look or in catalog.http.find, or remove it"},
		"simulated person":      {strings.Replace(patterns("look: {kind: call, tool: find, approver: {kind: simulated}}"), "effect: read", "effect: write", 1), "pg.yaml:3:60: patterns.look.approver.kind: simulated, but find is a real tool of effect write; write inbox or reject"},
		"anchor loop":           {"version: 1\ncatalog: &c {servers: {crm: *c}}\n", "pg.yaml:2:29: catalog.servers.crm: the alias c is inside its own anchor; write the value out"},
		"repeated":              {"version: 1\ncatalog:\n  http:\n    find: null\n    find: null\n", "pg.yaml:5:5: catalog.http.find: repeated key, first at line 4"},
		"schema":                {http("description: Finds., effect: read, request: {method: GET, url: 'https://a.example'}, input: {id: string}"), "pg.yaml:4:109: catalog.http.find.input.id: got \"string\"; write an object such as {type: string}"},
		"blank expression":      {tool("effect: write, once: ' '"), "pg.yaml:4:71: catalog.servers.crm.tools.find.once: blank; write an expression, or remove the key"},
		"no certificates":       {server("http: {url: 'https://a.example', ca_file: nowhere.pem}"), `pg.yaml:4:53: catalog.servers.crm.http.ca_file: "DIR/nowhere.pem": no such file or directory; write a path that exists`},
	}
	path := binaries(t, "prog")
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			loaded, _, err := readText(t, tt.file, path)
			if err == nil {
				t.Fatalf("Load(%q) loaded %+v, want %s", tt.file, loaded.Catalog, tt.want)
			}
			got := strings.ReplaceAll(err.Error(), strings.TrimPrefix(path, "PATH="), "/BIN")
			if at := strings.Index(got, `"/`); at >= 0 && strings.Contains(got, "nowhere.pem") {
				got = got[:at] + `"DIR/` + got[strings.Index(got, "nowhere.pem"):]
			}
			if got != tt.want {
				t.Errorf("Load(%q)\n got %s\nwant %s", tt.file, got, tt.want)
			}
			if strings.Contains(got, "hunter2") {
				t.Errorf("the fault %s quotes a secret", got)
			}
		})
	}
}

// Two servers' tools of one name: one of them is given another.
func TestCatalogNamesAreUnique(t *testing.T) {
	two := func(as string) string {
		return "version: 1\ncatalog:\n  servers:\n    crm: {stdio: {command: prog}, tools: {search: {effect: read}}}\n    docs: {stdio: {command: prog}, tools: {search: {effect: read" + as + "}}}\n"
	}
	path := binaries(t, "prog")
	_, _, err := readText(t, two(""), path)
	if want := "pg.yaml:5:44: catalog.servers.docs.tools.search: also a tool of crm; give one of them as: NAME"; err == nil || err.Error() != want {
		t.Errorf("two tools search: %v, want %s", err, want)
	}
	if _, _, err := readText(t, two(", as: search_docs"), path); err != nil {
		t.Errorf("with as: %v", err)
	}
	if _, _, err := readText(t, two(", enabled: false"), path); err != nil {
		t.Errorf("one of them is off: %v", err)
	}
}

// A server that names a directory with the configuration, the lock or the state in it could switch the gate off.
func TestServersMustNotHoldTheGate(t *testing.T) {
	path := binaries(t, "prog")
	root := t.TempDir()
	for _, dir := range []string{"etc", "state", "data", "home/inner"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "etc"), filepath.Join(root, "data", "link")); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		server string // within stdio, ROOT standing for the directory
		want   string // the path of the fault; "" loads
	}{
		"beside it":              {"args: [ROOT/data]", ""},
		"its directory":          {"args: [ROOT/etc]", "stdio.args[0]"},
		"a directory above":      {"args: [-v, ROOT]", "stdio.args[1]"},
		"the root":               {"args: [/]", "stdio.args[0]"},
		"the file itself":        {"args: [ROOT/etc/pg.yaml]", "stdio.args[0]"},
		"a flag's value":         {"args: ['--root=ROOT/etc']", "stdio.args[0]"},
		"one of a list":          {"args: ['ROOT/data:ROOT/state']", "stdio.args[0]"},
		"a file URL":             {"args: ['file://ROOT/etc/']", "stdio.args[0]"},
		"a mount":                {"args: ['type=bind,src=ROOT/etc,dst=/x']", "stdio.args[0]"},
		"by a link":              {"args: [ROOT/data/link]", "stdio.args[0]"},
		"by dots":                {"args: [ROOT/data/../etc]", "stdio.args[0]"},
		"home":                   {"args: ['~/inner']", "stdio.args[0]"},
		"elsewhere below home":   {"args: ['~/other']", ""},
		"as a variable":          {"env: {DIR: ROOT/state}", "stdio.env.DIR"},
		"a home above it":        {"env: {HOME: ROOT, PATH: 'ROOT/etc:/bin'}", ""},
		"where it starts":        {"dir: ROOT/etc", "stdio.dir"},
		"from where it starts":   {"dir: ROOT/data, args: [../etc]", "stdio.args[0]"},
		"a longer name":          {"args: [ROOT/etcetera]", ""},
		"fixed":                  {"}, tools: {t: {effect: read, fix: {path: ROOT/etc}}", "tools.t.fix.path"},
		"fixed within":           {"}, tools: {t: {effect: read, fix: {paths: [{at: ROOT/state}]}}", "tools.t.fix.paths"},
		"bound to a word":        {"}, tools: {t: {effect: read, bound: {path: {enum: [ROOT/etc]}}}", "tools.t.bound.path"},
		"bound by a pattern":     {"}, tools: {t: {effect: read, bound: {path: {pattern: '^ROOT/.*'}}}", "tools.t.bound.path"},
		"bound past it":          {"}, tools: {t: {effect: read, bound: {path: {pattern: '^ROOT/data/[a-z]+$'}}}", ""},
		"bound within it":        {"}, tools: {t: {effect: read, bound: {path: {within: ROOT}}}", "tools.t.bound.path"},
		"bound within another":   {"}, tools: {t: {effect: read, bound: {path: {within: ROOT/data}}}", ""},
		"a pattern of something": {"}, tools: {t: {effect: read, bound: {path: {pattern: '[a-z]+'}}}", ""},
		"off":                    {"args: [/]}, tools: {}, enabled: false", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			members := strings.ReplaceAll(tt.server, "ROOT", root)
			text := "version: 1\nstate: " + root + "/state/runs.db\ncatalog: {pin: " + root + "/home/inner/lock, servers: {fs: {stdio: {command: prog, " + members
			text = strings.Replace(text, "prog, }", "prog}", 1)
			text += strings.Repeat("}", strings.Count(text, "{")-strings.Count(text, "}")) + "\n"
			file := filepath.Join(root, "etc", "pg.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err := read(settings.Sources{Path: file, Environ: []string{path, "HOME=" + filepath.Join(root, "home")}})
			if tt.want == "" {
				if err != nil {
					t.Errorf("%s\n%v", text, err)
				}
				return
			}
			faults, ok := errors.AsType[*yamldoc.Error](err)
			if !ok || !slices.ContainsFunc(faults.Faults, func(f yamldoc.Fault) bool {
				return f.Path == "catalog.servers.fs."+tt.want && strings.Contains(f.Reason, " is in ") && f.Line == 3
			}) {
				t.Errorf("%s\n%v, want a fault at %s", text, err, tt.want)
			}
		})
	}
}

// A lock that others can write, or replace, holds nothing.
func TestLockMustBeOurs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes")
	}
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"version":1,"tools":{}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("open.lock", 0o666)
	write("own.lock", 0o644)
	if err := os.Mkdir(filepath.Join(dir, "all"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "all"), 0o777); err != nil {
		t.Fatal(err)
	}
	for lock, want := range map[string]string{
		"open.lock": "everyone can write to this file", "own.lock": "", "new.lock": "", "all/new.lock": "everyone can write to its directory", "gone/new.lock": "no directory", "all": "a directory",
	} {
		_, _, err := readText(t, "version: 1\ncatalog: {pin: "+filepath.Join(dir, lock)+"}\n")
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "pg.yaml:2:16: catalog.pin: the lock ")) {
			t.Errorf("with the lock %s: %v, want %q", lock, err, want)
		}
	}
}
