package assembly

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// What clients would drop is refused, by who validates with its place, by who serves before anything is served.
func TestOversizedPatterns(t *testing.T) {
	inputs := func(n int, words string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("f%d: {type: string, optional: true%s}", i, words))
		}
		return "input: {" + strings.Join(list, ", ") + "}"
	}
	answer := "answer: {text: {type: string, description: " + strings.Repeat("d", 3900) + "}}"
	tests := map[string]struct{ pattern, want string }{
		"as many as clients take": {"a: " + ofKind("supervisor", inputs(6, "")), ""},
		"one more": {"a: " + ofKind("supervisor", inputs(7, "")),
			"{f0 | patterns.a.input: the input schema of a has 15 properties, and clients take at most 14; remove some of input"},
		"long words":    {"a: " + ofKind("supervisor", inputs(5, ", description: "+strings.Repeat("d", 400))), "{f0 | patterns.a.input: the input schema of a has N bytes, and clients take at most 3072; shorten descriptions in input, or name fewer tools"},
		"a long answer": {"a: " + ofKind("supervisor", answer), "{kind | patterns.a: the output schema of a has N bytes, and clients take at most 4096; shorten answer"},
		"of four tools": {"a: " + ofKind("planning", inputs(7, "")),
			"{f0 | patterns.a.input: the input schema of a_decompose has 17 properties, and clients take at most 14; remove some of input\n" +
				"{f0 | patterns.a.input: the input schema of a_execute has 20 properties, and clients take at most 14; remove some of input"},
		"a switched off one": {"a: " + ofKind("supervisor", "enabled: false, "+inputs(14, "")), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := ownFile(tt.pattern)
			loaded, _, err := Load(settings.Sources{Path: writeConfig(t, file)}, LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := loaded.Server(nil, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			found := loaded.Oversized(s)
			got := ""
			if len(found) > 0 {
				got = bytesOf.ReplaceAllString(placedWords(t, file, &yamldoc.Error{Faults: found}), "has N bytes")
			}
			if got != tt.want {
				t.Errorf("validate finds\n%s\nwant\n%s", got, tt.want)
			}
			d, err := Declare(loaded, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := loaded.bearableBefore(d); (err != nil) != (tt.want != "") {
				t.Errorf("serving it: %v", err)
			} else if err != nil && !placedOwn.MatchString(err.Error()) {
				t.Errorf("serving it: %v, want the line of the pattern", err)
			}
		})
	}
}

var placedOwn = regexp.MustCompile(`^line [0-9]+: patterns[.]`)

var bytesOf = regexp.MustCompile(`has [0-9]+ bytes`)

// The names that no input may have are all arguments that a kind takes.
func TestOwnArguments(t *testing.T) {
	for _, kind := range settings.OwnKinds {
		if kind == string(gateway.Call) {
			continue
		}
		loaded := loadOwn(t, "a: "+ofKind(kind, "goal_argument: wish"))
		s, err := loaded.Server(nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		p, _ := loaded.Pattern("a")
		for _, tool := range s.Tools() {
			var schema struct{ Properties map[string]any }
			if !slices.Contains(p.ToolNames(), tool.Name) || strings.HasSuffix(tool.Name, "_status") {
				continue
			}
			if err := json.Unmarshal(tool.RawInputSchema, &schema); err != nil {
				t.Fatal(err)
			}
			for name := range schema.Properties {
				if name != "wish" && !slices.Contains(ownArguments(p.Kind), name) {
					t.Errorf("%s takes %s, and an input may have this name", tool.Name, name)
				}
			}
			if _, goal := schema.Properties["wish"]; !goal && len(schema.Properties) > 0 && !strings.HasSuffix(tool.Name, "_execute") && !strings.HasSuffix(tool.Name, "_replan") {
				t.Errorf("%s does not take the goal as wish: %s", tool.Name, tool.RawInputSchema)
			}
		}
	}
}

// Hints name relative paths that lead to files beside the configuration, unless the program starts where they are too. They name
// variables that are not set, servers without tools, and writes for which no key settles an unknown outcome. They are no
// warnings.
func TestHints(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"orders", "data", "data/in"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"days.json", "data/inner.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const beginning = "version: 1\ncatalog:\n  servers:\n    shop:\n      stdio: {command: prog, "
	const read, at = "}\n      tools: {look: {effect: read}}\n", "hint: pg.yaml:5:"
	tests := map[string]struct {
		more string // behind the beginning
		want []string
	}{
		"paths": {"args: [days.json, --root=./data, gone.json, -v, /etc/hosts, 'https://a.example/x']" + read,
			[]string{at + `37: catalog.servers.shop.stdio.args[0]: "days.json", "./data" are relative paths, and a client starts Patterngate in another directory; write DIR/days.json, DIR/data`}},
		"a word could be a subcommand":          {"args: [orders, days.json]" + read, []string{at + `45: catalog.servers.shop.stdio.args[1]: "days.json" is a relative path, and a client starts Patterngate in another directory; write DIR/days.json`}},
		"the last word, where there is no path": {"args: [orders, orders]" + read, []string{at + `45: catalog.servers.shop.stdio.args[1]: "orders" is a relative path, and a client starts Patterngate in another directory; write DIR/orders`}},
		"a subcommand beside a path":            {"args: [orders, " + filepath.Join(dir, "orders") + "]" + read, nil},
		"a directory of its own":                {"dir: data, args: [orders, inner.json, ./in]" + read, nil},
		"not in its directory":                  {"dir: data, args: [days.json]" + read, []string{at + `48: catalog.servers.shop.stdio.args[0]: "days.json" is a relative path, and the program starts in DIR/data; write DIR/days.json`}},
		"a variable that is not set":            {"env: [PATH, REGION]" + read, []string{at + `35: catalog.servers.shop.stdio.env: REGION is not set here, so the server does not get it; set what it needs where Patterngate starts, for example in the client's file`}},
		"variables in a mapping":                {"env: {PATH: true, A: true, B: true, C: text}" + read, []string{at + `35: catalog.servers.shop.stdio.env: A, B are not set here, so the server does not get them; set what it needs where Patterngate starts, for example in the client's file`}},
		"no tools":                              {"}\n      tools: {}\n", []string{"hint: pg.yaml:4:5: catalog.servers.shop: the file names no tool of it, so nothing can call it; run patterngate catalog accept shop to see what it offers"}},
		"disabled":                              {"env: [REGION], args: [days.json]}\n      enabled: false\n", nil},
		"writes": {"}\n      tools: {a: {effect: write}, b: {effect: write, idempotent: true}, c: {effect: write, once: args.id}, d: {effect: write}, e: {effect: read}}\n",
			[]string{"hint: pg.yaml:6:18: catalog.servers.shop.tools.a: after a crash during a write, the outcome is unknown and a person must settle it: a, d; add idempotent, once or reconcile"}},
	}
	for name, tt := range tests {
		path := filepath.Join(dir, "pg.yaml")
		if err := os.WriteFile(path, []byte(beginning+tt.more), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, warnings, err := Load(settings.Sources{Path: path, Environ: []string{binaries(t, "prog")}}, LoadOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, h := range loaded.Hints() {
			got = append(got, strings.NewReplacer(path, "pg.yaml", dir, "DIR").Replace(h.String()))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: hints\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
		if slices.ContainsFunc(warnings, func(w yamldoc.Fault) bool { return w.Severity != yamldoc.SeverityWarning }) {
			t.Errorf("%s: warnings %v", name, warnings)
		}
	}
}
