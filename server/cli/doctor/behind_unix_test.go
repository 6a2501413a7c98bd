//go:build unix

package doctor

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"patterngate/catalog/pins"
	"patterngate/catalog/upstream"
	"patterngate/patterns/store/processtest"
	"patterngate/server/assembly"
	"patterngate/server/cli/importer"
	"patterngate/server/settings/tools"
)

// asServer makes the test binary an MCP server with the tools find and note. Its value says what it does first.
const asServer = "DOCTOR_TEST_SERVER"

func init() {
	what, argument, _ := strings.Cut(os.Getenv(asServer), " ")
	switch what {
	case "":
		return
	case "ends":
		fmt.Fprint(os.Stderr, "starting\nno database at db.example\n")
		os.Exit(3)
	case "wants": // a variable
		if os.Getenv(argument) == "" {
			fmt.Fprintf(os.Stderr, "KeyError: '%s'\n", argument)
			os.Exit(1)
		}
	case "repeats": // a secret, in another form
		fmt.Fprintln(os.Stderr, "auth Basic "+base64.StdEncoding.EncodeToString([]byte(os.Getenv(argument))))
		os.Exit(1)
	case "silent": // and says which process it is
		_ = os.WriteFile(argument, []byte(strconv.Itoa(os.Getpid())), 0o600)
		_, _ = bufio.NewReader(os.Stdin).ReadString(0)
	case "needs": // a file in its own directory
		if _, err := os.Stat(argument); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "meets": // another server that waits for this one: both run at once
		mine, theirs, _ := strings.Cut(argument, " ")
		_ = os.WriteFile(mine, nil, 0o600)
		for _, err := os.Stat(theirs); err != nil; _, err = os.Stat(theirs) {
			if os.Getppid() == 1 {
				os.Exit(1)
			}
		}
	}
	answerAsServer()
	os.Exit(0)
}

// answerAsServer answers what doctor asks.
func answerAsServer() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var r struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(in.Bytes(), &r) != nil || r.ID == nil {
			continue
		}
		result := `{"tools":[{"name":"find","inputSchema":{"type":"object"}},{"name":"note","inputSchema":{"type":"object"}}]}`
		if r.Method == "initialize" {
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
	}
}

// Doctor starts the servers that have an enabled tool, several at once, in the directory of the client, and reports each. None keeps
// running.
func TestExamineBehind(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	pid := filepath.Join(dir, "pid")
	server := func(name, what, tools, more string) string {
		return fmt.Sprintf("    %s: {stdio: {command: '%s', args: [--of, x y], env: {%s: '%s'}}, tools: {%s}%s}\n", name, self, asServer, what, tools, more)
	}
	start := startOf(t, "version: 1\ncatalog:\n  servers:\n"+
		server("one", "meets "+filepath.Join(dir, "1")+" "+filepath.Join(dir, "2"), "find: {effect: read}", "")+
		server("two", "meets "+filepath.Join(dir, "2")+" "+filepath.Join(dir, "1"), "find: {effect: read, as: look}", "")+
		server("needs", "needs here.txt", "find: {effect: read, as: seek}", "")+
		server("ends", "ends", "note: {effect: write}", "")+
		server("silent", "silent "+pid, "find: {effect: read, as: search}", ", start_timeout_seconds: 3")+
		server("wrong", "serves", "finds: {effect: read}, note: {effect: write, as: jot}", "")+
		server("unused", "ends", "find: {effect: read, enabled: false}", "")+
		server("disabled", "ends", "find: {effect: read}", ", enabled: false"))
	if err := os.WriteFile(filepath.Join(start.dir, "here.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found := &findings{client: "cursor"}
	var loaded *assembly.Loaded
	if loaded = servedBy(start).examineConfig(start.dir, found); loaded == nil {
		t.Fatalf("found %+v", found.rows)
	}
	found.rows = nil
	examineBehind(t.Context(), loaded, variables{}, found)
	loaded.Close()
	processtest.EndsSoon(t, pid)
	byHand := fmt.Sprintf("in %s, run it by hand, with only the variables that env names (%s): %s --of 'x y'", start.dir, asServer, self)
	want := []finding{
		{"cursor", "server", stateOK, "one offers 2 tools, started in " + start.dir, ""},
		{"cursor", "server", stateOK, "two offers 2 tools, started in " + start.dir, ""},
		{"cursor", "server", stateOK, "needs offers 2 tools, started in " + start.dir, ""},
		{"cursor", "server", stateFail, "ends does not start in " + start.dir + ": the server ended: exit status 3; the last line on its standard error: no database at db.example", byHand},
		{"cursor", "server", stateFail, "silent does not start in " + start.dir + ": the server did not answer within 3s", byHand},
		{"cursor", "server", stateFail, "wrong has no tool finds", "correct the tool's name, or remove it: " + loaded.Path + ":9"},
	}
	if !slices.Equal(found.rows, want) {
		t.Errorf("found\n%+v\nwant\n%+v", found.rows, want)
	}
}

// A program that is started where a relative argument leads nowhere fails with the fix. Doctor names the place in the file.
func TestExamineBehindRelativeArgument(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := startOf(t, "version: 1\ncatalog:\n  servers:\n    shop: {stdio: {command: '"+self+"', args: [orders], env: {"+asServer+": needs orders}}, tools: {find: {effect: read}}}\n")
	beside := start.dir
	if err := os.Mkdir(filepath.Join(beside, "orders"), 0o700); err != nil {
		t.Fatal(err)
	}
	start.dir = t.TempDir()
	found := &findings{client: "cursor"}
	loaded := servedBy(start).examineConfig(start.dir, found)
	if loaded == nil {
		t.Fatalf("found %+v", found.rows)
	}
	found.rows = nil
	examineBehind(t.Context(), loaded, variables{}, found)
	loaded.Close()
	fix := "write " + beside + "/orders"
	want := []finding{
		{"cursor", "server", stateWarn, loaded.Path + `:4: catalog.servers.shop.stdio.args[0]: "orders" is a relative path, and the program starts in ` + start.dir, fix},
		{"cursor", "server", stateFail, "shop does not start in " + start.dir + ": the server ended: exit status 1; the last line on its standard error: stat orders: no such file or directory", fix},
	}
	if !slices.Equal(found.rows, want) {
		t.Errorf("found\n%+v\nwant\n%+v", found.rows, want)
	}
}

// Doctor compares what a server declares with the lock. It reports the tools that are held because their definition changed,
// with the command that accepts them.
func TestExamineBehindChanged(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		accepted map[string]string // description in the lock by tool; the server declares none
		want     []finding
	}{
		"new":  {nil, nil},
		"same": {map[string]string{"find": "", "note": ""}, nil},
		"one":  {map[string]string{"find": "", "note": "Notes."}, []finding{{"", "tools", stateWarn, "jot is held: its definition changed", "patterngate catalog accept shop/note"}}},
		"both": {map[string]string{"find": "Finds.", "note": "Notes."}, []finding{
			{"", "tools", stateWarn, "2 tools are held because their definitions changed: find, jot", "patterngate catalog accept shop/find shop/note"},
		}},
		"disabled": {map[string]string{"off": "Off."}, nil},
	} {
		start := startOf(t, "version: 1\ncatalog:\n  servers:\n    shop: {stdio: {command: '"+self+"', env: {"+asServer+": serves}}, tools: "+
			"{find: {effect: read}, note: {effect: write, as: jot}, off: {effect: read, enabled: false}}}\n")
		lock := &pins.Lock{}
		for tool, words := range tt.accepted {
			d := pins.Definition{Name: tool, Description: words, Input: []byte(`{"type":"object"}`)}
			if err := lock.Accept("shop", d, pins.Acceptance{By: "local:1", Assurance: "user"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := lock.Write(filepath.Join(start.dir, "patterngate.lock")); err != nil {
			t.Fatal(err)
		}
		found := &findings{}
		loaded := servedBy(start).examineConfig(start.dir, found)
		if loaded == nil {
			t.Fatalf("%s: found %+v", name, found.rows)
		}
		found.rows = nil
		examineBehind(t.Context(), loaded, variables{}, found)
		loaded.Close()
		want := append([]finding{{"", "server", stateOK, "shop offers 2 tools, started in " + start.dir, ""}}, tt.want...)
		if !slices.Equal(found.rows, want) {
			t.Errorf("%s: found\n%+v\nwant\n%+v", name, found.rows, want)
		}
	}
}

// The name of a server's tool is one word of the printed command. A shell does not run what it contains.
func TestChangedToolIsOneWord(t *testing.T) {
	const hostile = "x;touch${IFS}/tmp/owned;"
	lock := &pins.Lock{}
	d := pins.Definition{Name: hostile, Description: "Old.", Input: []byte(`{"type":"object"}`)}
	if err := lock.Accept("shop", d, pins.Acceptance{By: "local:1", Assurance: "user"}); err != nil {
		t.Fatal(err)
	}
	s := tools.Server{Name: "shop", Tools: []tools.ServerTool{{Tool: tools.Tool{Name: "x", Enabled: true}, Upstream: hostile}}}
	_, accept := changedTools(lock, s, []upstream.Definition{{Name: []byte(`"` + hostile + `"`), Input: []byte(`{"type":"object"}`)}})
	if got, want := fixChanged(accept), "patterngate catalog accept 'shop/"+hostile+"'"; got != want {
		t.Errorf("the fix is %s, want %s", got, want)
	}
}

// The fix of a server that does not start names the variable that it lacks and env does not pass on, or the secret that leads
// nowhere.
func TestExamineBehindVariables(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	odd := filepath.Join(dir, "open;id")
	for _, path := range []string{open, odd} {
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	client := []string{"HOME=" + dir, "NOTES_TOKEN=t", "REGION=eu", "AWS_SECRET_ACCESS_KEY=a", "STRIPE_KEY=k"}
	const only = "the server gets only the variables that env names, and "
	for name, tt := range map[string]struct {
		env  string
		has  variables
		want string
	}{
		"a secret":          {asServer + ": wants NOTES_TOKEN, HOME: true", variables{client, client}, "the server asks for NOTES_TOKEN. Give it only if it is meant for this server: env at pg.yaml:4"},
		"an access key":     {asServer + ": wants AWS_SECRET_ACCESS_KEY", variables{client, client}, "the server asks for AWS_SECRET_ACCESS_KEY. Give it only if it is meant for this server: env at pg.yaml:4"},
		"a key":             {asServer + ": wants STRIPE_KEY", variables{nil, client}, "the server asks for STRIPE_KEY. Give it only if it is meant for this server: env at pg.yaml:4"},
		"no secret":         {asServer + ": wants REGION", variables{client, client}, only + "REGION is not one; add env: {REGION: true} at pg.yaml:4"},
		"only in the shell": {asServer + ": wants REGION", variables{nil, client}, only + "REGION is not one; add env: {REGION: true} at pg.yaml:4, and set REGION for Patterngate in the client, which does not pass it on"},
		"set nowhere":       {asServer + ": wants REGION", variables{}, "in DIR, run it by hand, with only the variables that env names (" + asServer + "): " + self},
		"no file":           {asServer + ": serves, A_TOKEN: {secret: 'file:" + dir + "/none'}", variables{}, "write the secret to " + dir + "/none, and run: chmod 600 " + dir + "/none"},
		"an odd path":       {asServer + ": serves, A_TOKEN: {secret: 'file:" + dir + "/no ne'}", variables{}, "write the secret to " + dir + "/no ne, and run: chmod 600 '" + dir + "/no ne'"},
		"an odd open file":  {asServer + ": serves, A_TOKEN: {secret: 'file:" + odd + "'}", variables{}, "chmod 600 '" + odd + "'"},
		"an open file":      {asServer + ": serves, A_TOKEN: {secret: 'file:" + open + "'}", variables{}, "chmod 600 " + open},
		"no variable":       {asServer + ": serves, A_TOKEN: {secret: 'env:A_TOKEN'}", variables{}, `set A_TOKEN for Patterngate in the client, or use a file: {secret: "file:PATH"}`},
	} {
		start := startOf(t, "version: 1\ncatalog:\n  servers:\n    shop: {stdio: {command: '"+self+"', env: {"+tt.env+"}}, tools: {find: {effect: read}}}\n")
		found := &findings{}
		loaded := servedBy(start).examineConfig(start.dir, found)
		if loaded == nil {
			t.Fatalf("%s: found %+v", name, found.rows)
		}
		found.rows = nil
		examineBehind(t.Context(), loaded, tt.has, found)
		loaded.Close()
		if len(found.rows) != 1 || found.rows[0].State != stateFail || strings.NewReplacer(loaded.Path, "pg.yaml", start.dir, "DIR").Replace(found.rows[0].Fix) != tt.want {
			t.Errorf("%s: found\n%+v\nwant the fix\n%s", name, found.rows, tt.want)
		}
	}
	passes := tools.Server{Name: "shop", Stdio: &tools.Stdio{Env: []tools.Variable{{Name: "HOME", Pass: true}}}}
	if got, want := fixVariable(&assembly.Loaded{}, passes, "REGION is missing", variables{client, client}), only+"REGION is not one; write env: {HOME: true, REGION: true} at :"; !strings.HasPrefix(got, want) {
		t.Errorf("of a list: %s, want %s", got, want)
	}
}

// A server that dies with its secret on standard error, also in base64, does not bring the secret into the report.
func TestFailedServerHidesItsSecret(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const secret = "correct horse battery"
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	start := startOf(t, "version: 1\ncatalog:\n  servers:\n    shop: {stdio: {command: '"+self+"', env: {"+asServer+": repeats A_TOKEN, A_TOKEN: {secret: 'env:A_TOKEN'}}}, tools: {find: {effect: read}}}\n")
	start.environ = append(start.environ, "A_TOKEN="+secret)
	found := &findings{}
	loaded := servedBy(start).examineConfig(start.dir, found)
	if loaded == nil {
		t.Fatalf("found %+v", found.rows)
	}
	found.rows = nil
	examineBehind(t.Context(), loaded, variables{start.environ, start.environ}, found)
	loaded.Close()
	if !found.has("server", stateFail, "auth Basic ***") || strings.Contains(fmt.Sprint(found.rows), encoded) {
		t.Errorf("found %+v", found.rows)
	}
}

// Doctor starts at most four servers at once, and all of them in the end.
func TestServersStartFourAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, done atomic.Int32
		next := make(chan struct{})
		go each(10, startsAtOnce, func(int) {
			running.Add(1)
			<-next
			running.Add(-1)
			done.Add(1)
		})
		for left := int32(10); left > 0; left-- {
			if synctest.Wait(); running.Load() != min(left, 4) {
				t.Errorf("with %d left, %d run", left, running.Load())
			}
			next <- struct{}{}
		}
		if synctest.Wait(); done.Load() != 10 {
			t.Errorf("%d of 10 are done", done.Load())
		}
	})
}

// A secret that only the shell provides is a warning, since the client can be started elsewhere.
func TestExamineShell(t *testing.T) {
	secret := func(name string) tools.Variable {
		return tools.Variable{Name: name, Value: tools.Value{Secret: tools.SecretRef{Env: name}}}
	}
	catalog := &tools.Catalog{Servers: []tools.Server{
		{Name: "shop", Enabled: true, Stdio: &tools.Stdio{Env: []tools.Variable{secret("A_TOKEN"), secret("B_TOKEN"), secret("C_TOKEN"), {Name: "HOME", Pass: true}}}},
		{Name: "off", Stdio: &tools.Stdio{Env: []tools.Variable{secret("D_TOKEN")}}},
	}}
	for want, shell := range map[string][]string{
		"": {"HOME=/home", "B_TOKEN=b", "D_TOKEN=d"},
		"A_TOKEN comes from your shell; the client may not have it":           {"A_TOKEN=a", "B_TOKEN=b"},
		"A_TOKEN, C_TOKEN come from your shell; the client may not have them": {"A_TOKEN=a", "C_TOKEN=c"},
	} {
		found := &findings{}
		examineShell(catalog, []importer.Variable{{Name: "B_TOKEN"}}, shell, found)
		if want == "" && len(found.rows) > 0 || want != "" && (len(found.rows) != 1 || found.rows[0].State != stateWarn || found.rows[0].Detail != want) {
			t.Errorf("with %v: %+v, want %q", shell, found.rows, want)
		}
	}
}
