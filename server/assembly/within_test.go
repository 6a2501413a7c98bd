package assembly

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/server/settings/tools"
)

// What is in a state file starts no program, reaches no server and sends no secret that the configuration does not name
// for it; that a snapshot has its members sorted is no difference.
func TestCatalogWithin(t *testing.T) {
	path := binaries(t, "prog")
	load := func(t *testing.T, text string) Loaded {
		t.Helper()
		loaded, _, err := loadText(t, text, path)
		if err != nil {
			t.Fatal(err)
		}
		return loaded
	}
	const file = "version: 1\ncatalog:\n" +
		"  servers:\n" +
		"    crm: {stdio: {command: prog, env: {ZONE: a, LEVEL: b, HOME: true}}, tools: {find: {effect: read, fix: {token: {secret: 'env:CRM'}}}, list: {effect: read}}}\n" +
		"    web: {http: {url: 'https://a.example/mcp', headers: {X-B: b, X-A: a}}}\n" +
		"  http:\n" +
		"    look: {description: Looks., effect: read, request: {method: GET, url: 'https://a.example', headers: {X-B: b, X-A: a}, query: {z: '1', a: '2'}}}\n"
	own := load(t, file)
	again, err := reloaded(own, path)
	if err != nil {
		t.Fatal(err)
	}
	again.Catalog.FindCommands([]string{path})
	if !again.Catalog.Within(own.Catalog) {
		t.Errorf("a snapshot is not within the configuration that it was taken of:\n%+v\n%+v", again.Catalog, own.Catalog)
	}
	for name, swap := range map[string][2]string{
		"another secret":            {"env:CRM", "env:AWS_SECRET_ACCESS_KEY"},
		"a secret of another tool":  {"list: {effect: read}", "list: {effect: read, fix: {token: {secret: 'env:CRM'}}}"},
		"a secret elsewhere":        {"fix: {token:", "fix: {name:"},
		"another variable":          {"ZONE: a", "ZONE: b"},
		"another header":            {"'https://a.example/mcp', headers: {X-B: b", "'https://a.example/mcp', headers: {X-B: c"},
		"another header of request": {"headers: {X-B: b, X-A: a}, query", "headers: {X-B: b, X-A: c}, query"},
		"another query":             {"z: '1'", "z: '2'"},
		"a server that is off":      {"    crm: {", "    crm: {enabled: false, "},
		"a request that is off":     {"    look: {", "    look: {enabled: false, "},
	} {
		changed := strings.Replace(file, swap[0], swap[1], 1)
		if changed == file {
			t.Fatalf("%s: nothing changed", name)
		}
		from, to := load(t, changed).Catalog, own.Catalog
		if strings.HasSuffix(name, "that is off") {
			from, to = to, from
		}
		if from.Within(to) {
			t.Errorf("%s is taken from a state file", name)
		}
	}
}

// A held tool's own patterns are not listed, and a warning says so.
func TestHeldCallsAreNotListed(t *testing.T) {
	file := "version: 1\n" +
		"catalog:\n" +
		"  expose: [find]\n" +
		"  servers: {crm: {stdio: {command: prog}, tools: {find: {effect: read}, list: {effect: read, enabled: false}}}}\n" +
		"patterns: {look: {kind: call, tool: find}, off: {kind: call, tool: find, enabled: false}}\n"
	path := binaries(t, "prog")
	loaded, warnings, err := loadText(t, file, path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		got = append(got, w.String())
	}
	want := []string{
		"warning: pg.yaml:3:12: catalog.expose[0]: not listed: find is not accepted yet; run patterngate catalog accept crm/find",
		"warning: pg.yaml:4:57: catalog.servers.crm.tools.find: held: not accepted yet; run patterngate catalog accept crm/find",
		"warning: pg.yaml:5:37: patterns.look.tool: not listed: find is not accepted yet; run patterngate catalog accept crm/find",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("warnings are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	d, err := Declare(loaded, []string{path})
	if err != nil || len(d.Offered()) != 0 {
		t.Errorf("listed are %v, %v; want nothing", d.Offered(), err)
	}
}

// A tool's redact is its own: records hear of it with the tool's name, what is off has none, and what no tool has is refused.
func TestToolsRedact(t *testing.T) {
	tool := func(pointer, more string) string {
		return "version: 1\nredact: [/input/iban]\ncatalog: {http: {pay: {description: Pays., effect: read, redact: ['" + pointer + "']" + more + ", request: {method: GET, url: 'https://a.example'}}}}\n"
	}
	loaded, _, err := loadText(t, tool("/args/card", ""))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(loaded.HiddenValues(), " "); got != "/input/iban pay:/args/card" {
		t.Errorf("hidden is %s", got)
	}
	d, err := Declare(loaded, nil)
	if err != nil || strings.Join(d.redact, " ") != "/input/iban pay:/args/card" {
		t.Errorf("jobs hide %v, %v", d.redact, err)
	}
	if loaded, _, err := loadText(t, tool("/args/card", ", enabled: false")); err != nil || len(loaded.HiddenValues()) != 1 {
		t.Errorf("a tool that is off hides %v: %v", loaded.HiddenValues(), err)
	}
	_, _, err = loadText(t, tool("/input/iban", ""))
	if want := `pg.yaml:3:67: catalog.http.pay.redact[0]: got "/input/iban"; begin with /args or /result; move other pointers to redact at the top`; err == nil || err.Error() != want {
		t.Errorf("a tool's /input: %v, want %s", err, want)
	}
}

// After a reload secrets are read again, whatever shares them.
func TestSecretsAreForgotten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	put := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newSecrets(nil)
	one, two := s.of(tools.SecretRef{File: file}), s.of(tools.SecretRef{File: file})
	for _, text := range []string{"first-secret", "second-secret"} {
		put(text)
		s.forget()
		a, err := one.Text(t.Context())
		b, _ := two.Text(t.Context())
		if a != text || b != text || err != nil {
			t.Errorf("read %q, %q, %v; want %q", a, b, err, text)
		}
	}
	put("third-secret")
	if again, _ := one.Text(t.Context()); again != "second-secret" {
		t.Errorf("read %q though nobody forgot it", again)
	}
}

// What a policy computes from hidden values is hidden too, also through its other vars; a policy that reads none adds nothing.
func TestPolicysVarsAreHidden(t *testing.T) {
	text := func(redact string) string {
		return "version: 1\n" + redact + `
catalog:
  http:
    pay: {description: Pays., effect: write, policy: cards, input: {card: {type: string}, to: {type: string}}, request: {method: POST, url: 'https://a.example'}}
policies:
  cards:
    vars: {ours: args.card.startsWith("41"), far: '!vars.ours', near: args.to == "u42"}
    rules:
    - {id: near, when: vars.near && vars.far, approve: {}}
`
	}
	for redact, want := range map[string]string{
		"redact: [/args/card]": "/args/card /vars/far /vars/ours", "redact: [/args/to]": "/args/to /vars/near", "redact: [/args/other]": "/args/other", "": "",
	} {
		loaded, _, err := loadText(t, text(redact))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(loaded.HiddenValues(), " "); got != want {
			t.Errorf("%s: hidden is %s, want %s", redact, got, want)
		}
	}
}

// A command that a warning advises has the tool as one word: a shell does not run what its name contains.
func TestAdvisedToolIsOneWord(t *testing.T) {
	path := binaries(t, "prog")
	file := "version: 1\ncatalog: {servers: {crm: {stdio: {command: prog}, tools: {'x;id;': {effect: read, as: find}}}}}\n"
	loaded, warnings, err := loadText(t, file, path)
	if err != nil {
		t.Fatal(err)
	}
	const want = "run patterngate catalog accept 'crm/x;id;'"
	if len(warnings) != 1 || !strings.HasSuffix(warnings[0].String(), want) {
		t.Errorf("warnings are %v, want %s", warnings, want)
	}
	d, err := Declare(loaded, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	tool, ok := d.Tools.Tool("find")
	if !ok || tool.Ready == nil || !strings.HasSuffix(tool.Ready().Why, want) {
		t.Errorf("the tool is %+v, want it held: %s", tool, want)
	}
}
