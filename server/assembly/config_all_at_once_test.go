package assembly

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"patterngate/catalog/pins"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// Faults that show when tools are made of a file are told with those of its keys: all at once, by place.
func TestAllFaultsAtOnce(t *testing.T) {
	const head = "version: 1\nllm: {modle: x}\ncatalog:\n  http:\n"
	request := "request: {method: POST, url: 'https://a.example'}"
	text := head +
		"    find: {description: F., effect: read, request: {method: GET, url: 'https://a.example/{id}'}, input: {id: {type: string}}, output: {status: string(response.body.status)}}\n" +
		"    a: {description: d, effect: write, " + request + ", phrase: 'x {idd}', input: {order_id: {typ: string}}}\n" +
		"    b: {description: d, effect: write, " + request + ", phrase: 'x {order_idd}', once: args.idd, input: {order_id: {type: string, pattern: x}}}\n" +
		"    c: {description: d, effect: write, " + request + ", phrase: 'x {note}', input: {note: {type: string}}}\n" +
		"    d: {description: d, effect: write, " + request + ", phrase: 'x {note', reconcile: {tool: find, args: {id: effect.key + nope}, happened: resultz == 1}}\n"
	lines := strings.Split(text, "\n")
	at := func(line int, part string) string {
		i := strings.Index(lines[line-1], part)
		if i < 0 {
			t.Fatalf("%q is not in line %d", part, line)
		}
		return "pg.yaml:" + yamldoc.NumberText(float64(line)) + ":" + yamldoc.NumberText(float64(i+1)) + ": "
	}
	want := []string{
		at(2, "modle") + "llm.modle: unknown key; did you mean model?",
		at(6, "typ: string") + "catalog.http.a.input.order_id.typ: unknown key; did you mean type?",
		at(7, "'x {order_idd") + "catalog.http.b.phrase: b has no argument order_idd; did you mean order_id?",
		at(7, "idd, input") + "catalog.http.b.once: b has no argument idd (order_id)",
		at(8, "'x {note}'") + "catalog.http.c.phrase: {note} is free text; write only arguments that are numbers, booleans or enums or have a pattern",
		at(9, "'x {note'") + "catalog.http.d.phrase: a { that does not begin {argument}; write {argument}",
		at(9, "nope}, happened") + "catalog.http.d.reconcile.args.id: no variable nope (effect)",
		at(9, "resultz == 1") + "catalog.http.d.reconcile.happened: no variable resultz (effect, result); did you mean result?",
	}
	_, _, err := loadText(t, text)
	if err == nil {
		t.Fatal("it loaded")
	}
	if got := err.Error(); got != strings.Join(want, "\n") {
		t.Errorf("faults:\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// What is wrong with fix and bound shows against the lock: an unknown argument at its name, else the value.
func TestFixAndBoundAgainstTheLock(t *testing.T) {
	dir := t.TempDir()
	lock := &pins.Lock{}
	if err := lock.Accept("fs", pins.Definition{Name: "read_text_file", Input: []byte(`{"type":"object","properties":{"path":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},` +
		`"where":{"type":"object","properties":{"zone":{"type":"string"},"floor":{"type":"integer"}},"required":["zone"],"additionalProperties":false}},"required":["path"]}`)}, pins.Acceptance{At: time.Unix(0, 0), By: "local:1", Assurance: "user"}); err != nil {
		t.Fatal(err)
	}
	text, err := lock.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "patterngate.lock"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ members, at, want string }{
		"unknown in bound": {"bound: {pth: {type: string}}", "pth", "bound.pth: read_text_file has no argument pth; did you mean path?"},
		"nothing near":     {"bound: {zone: {type: string}}", "zone", "bound.zone: read_text_file has no argument zone (path, tags, where)"},
		"another type":     {"bound: {path: {type: integer}}", "integer", "bound.path.type: another type than the tool's; write string"},
		"within a number":  {"bound: {where: {within: /srv}}", "/srv", "bound.where.within: within works for paths only, and this argument has the type object; write a bound without within"},
		"unknown in fix":   {"fix: {pth: a}", "pth", "fix.pth: read_text_file has no argument pth; did you mean path?"},
		"does not fit":     {"fix: {tags: [a, 3]}", "3]", "fix.tags[1]: does not fit the tool's schema; write string"},
		"lacks a member":   {"fix: {where: {floor: 3}}", "{floor", "fix.where.zone: does not fit the tool's schema; write string"},
		"one too many":     {"fix: {where: {zone: a, flor: 3}}", "flor", "fix.where.flor: does not fit the tool's schema; write one of zone, floor"},
		"fits":             {"fix: {path: a, where: {zone: a, floor: 3}}", "", ""},
	} {
		last := "      tools: {read_text_file: {effect: read, " + tt.members + "}}"
		file := filepath.Join(dir, "pg.yaml")
		if err := os.WriteFile(file, []byte("version: 1\ncatalog:\n  servers:\n    fs:\n      stdio: {command: prog}\n"+last+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := Load(settings.Sources{Path: file, Environ: []string{binaries(t, "prog")}}, LoadOptions{})
		want := file + ":6:" + yamldoc.NumberText(float64(strings.Index(last, tt.at)+1)) + ": catalog.servers.fs.tools.read_text_file." + tt.want
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", name, err, want)
		}
	}
}
