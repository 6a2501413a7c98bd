package toolargs

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/server/cli/console"
)

// testSchema has an argument of every kind, and schemas as other servers write them.
const testSchema = `{"type":"object","properties":{
	"s":{"type":"string"},"i":{"type":"integer"},"n":{"type":"number"},"b":{"type":"boolean"},"o":{"type":"object"},"a":{"type":"array"},
	"maybe":{"type":["string","null"]},"count":{"type":["integer","null"]},"any":{},"yes":true,
	"optional":{"anyOf":[{"type":"integer"},{"type":"null"}]},"color":{"$ref":"#/$defs/Color"},"self":{"$ref":"#/properties/self"},
	"deep":{"allOf":[{"oneOf":[{"$ref":"#/$defs/Color"},{"type":"boolean"}]}]},"loop":{"anyOf":[{"$ref":"#/properties/loop"},{"$ref":"#/properties/loop"}]}
},"$defs":{"Color":{"type":"number","maximum":18446744073709551615}}}`

// typed is the object that words make of the schema, or the fault.
func typed(t *testing.T, stdin, args string, words ...string) string {
	t.Helper()
	in, args := io.Reader(strings.NewReader(stdin)), args
	g, err := Read(t.Context(), in, args, words)
	if err == nil {
		var text json.RawMessage
		if text, err = g.Object(json.RawMessage(testSchema)); err == nil {
			return string(text)
		}
	}
	return "fault: " + err.Error()
}

// Words are typed by the schema, merged over --args, and go out as they are written.
func TestArguments(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	goal, plan := file("goal.txt", "two\nlines\r\n"), file("plan.json", "[1,\n 2]\n")
	for name, tt := range map[string]struct {
		stdin, args string
		words       []string
		want        string
	}{
		"nothing":              {want: `{}`},
		"texts stay":           {words: []string{"s=42", "unknown=42", "any=42", "yes=true", "maybe=null"}, want: `{"s":"42","unknown":"42","any":"42","yes":"true","maybe":"null"}`},
		"empty text":           {words: []string{"s="}, want: `{"s":""}`},
		"signs in texts":       {words: []string{`s=a=b:=c "q" \ <x>`}, want: `{"s":"a=b:=c \"q\" \\ <x>"}`},
		"keys with colons":     {words: []string{"a:b=1", "c:d:=1"}, want: `{"a:b":"1","c:d":1}`},
		"numbers":              {words: []string{"i=-42", "n=99.50", "count=null"}, want: `{"i":-42,"n":99.50,"count":null}`},
		"numbers as written":   {words: []string{"i=1e20", "n=12345678901234567890123", "color=1e999"}, want: `{"i":1e20,"n":12345678901234567890123,"color":1e999}`},
		"whole number":         {words: []string{"i=1.0"}, want: `{"i":1.0}`},
		"booleans":             {words: []string{"b=false", "deep=true"}, want: `{"b":false,"deep":true}`},
		"containers":           {words: []string{`o={"k":1,"k":2}`, "a= [1]"}, want: `{"o":{"k":1,"k":2},"a":[1]}`},
		"alternatives":         {words: []string{"optional=7", "count=3"}, want: `{"optional":7,"count":3}`},
		"schemas in a loop":    {words: []string{"self=x", "loop=x"}, want: `{"self":"x","loop":"x"}`},
		"JSON, whatever type":  {words: []string{`s:=42`, `i:="x"`, `o:=null`}, want: `{"s":42,"i":"x","o":null}`},
		"a text with @":        {words: []string{`s:="@me"`}, want: `{"s":"@me"}`},
		"file":                 {words: []string{"s=@" + goal, "a=@" + plan}, want: `{"s":"two\nlines","a":[1,` + "\n" + ` 2]}`},
		"standard input":       {stdin: "from stdin\n", words: []string{"s=@-"}, want: `{"s":"from stdin"}`},
		"--args":               {args: `{"x": 1, "s":"a"}`, want: `{"x":1,"s":"a"}`},
		"--args, as written":   {args: `{"s":"a","s":"b","n":1e999,"u":"\ud800"}`, want: `{"s":"a","s":"b","n":1e999,"u":"\ud800"}`},
		"--args first":         {args: `{"s":"a","x":[1,{"s":2}],"s":"b"}`, words: []string{"s=c", "i=1"}, want: `{"x":[1,{"s":2}],"s":"c","i":1}`},
		"--args, escaped name": {args: `{"\u0073":"a"}`, words: []string{"s=c"}, want: `{"s":"c"}`},
		"--args of a file":     {args: "@" + file("args.json", `{"s":1}`), want: `{"s":1}`},
		"--args of stdin":      {stdin: ` {"s": 1}` + "\n", args: "-", words: []string{"i=1"}, want: `{"s":1,"i":1}`},

		"no equals sign":     {words: []string{"goal"}, want: "fault: call: got goal; write key=value, key:=JSON or key=@file"},
		"no key":             {words: []string{"=x"}, want: "fault: call: got =x, which has no key; write key=value, key:=JSON or key=@file"},
		"no key, JSON":       {words: []string{":=1"}, want: `fault: call: got ":=1", which has no key; write key=value, key:=JSON or key=@file`},
		"given twice":        {words: []string{"s=1", "s:=2"}, want: "fault: call: s: given twice"},
		"no JSON":            {words: []string{"s:=hello"}, want: `fault: call: s: hello is not JSON: invalid character 'h' looking for beginning of value (byte 1); a text is s=TEXT or s:='"TEXT"', a file s=@FILE`},
		"all faults at once": {words: []string{"x", "s:="}, want: "fault: call: got x; write key=value, key:=JSON or key=@file\n" + `s: "" is not JSON: unexpected end of JSON input (byte 0); a text is s=TEXT or s:='"TEXT"', a file s=@FILE`},
		"not UTF-8":          {words: []string{"s=\xff"}, want: "fault: call: s: not UTF-8"},
		"stdin twice":        {stdin: "{}", args: "-", words: []string{"s=@-"}, want: "fault: call: s: standard input can be read once"},
		"no such file":       {words: []string{"s=@" + filepath.Join(dir, "none")}, want: "fault: call: s: open " + filepath.Join(dir, "none") + ": no such file or directory"},
		"a directory":        {words: []string{"s=@" + dir}, want: "fault: call: s: read " + dir + ": is a directory"},
		"no file":            {words: []string{"s=@"}, want: "fault: call: s: @ names no file; write s=@file, or s=@- for standard input"},
		"too long a file":    {words: []string{"s=@" + file("long", strings.Repeat("x", maxInput+1))}, want: "fault: call: s: " + filepath.Join(dir, "long") + " holds more than 1048576 bytes"},
		"too long a stdin":   {stdin: strings.Repeat("x", maxInput+1), args: "-", want: "fault: --args: standard input holds more than 1048576 bytes"},
		"bytes in a file":    {words: []string{"s=@" + file("bytes", "\xff")}, want: `fault: s: got ` + "\ufffd" + `; it is not UTF-8; want a text`},
		"--args, no object":  {args: `[1]`, want: "fault: --args: got [1]; want one JSON object"},
		"--args, no JSON":    {args: `{"s":'x'}`, want: "fault: --args: not JSON: invalid character '\\'' looking for beginning of value (byte 6)"},
		"--args, two":        {args: `{} {}`, want: "fault: --args: not JSON: invalid character '{' after top-level value (byte 4)"},
		"--args, empty file": {args: "@" + file("empty", ""), want: "fault: --args: not JSON: unexpected end of JSON input (byte 0)"},

		"a word for a number":   {words: []string{"i=many"}, want: "fault: i: got many; want a whole number such as 42"},
		"a fraction":            {words: []string{"i=1.5"}, want: "fault: i: got 1.5; want a whole number such as 42"},
		"a number of Go":        {words: []string{"i=0x10", "n=.5", "count=1_000"}, want: "fault: i: got 0x10; want a whole number such as 42\nn: got .5; want a number such as 42 or 99.5\ncount: got 1_000; want a whole number such as 42, or null"},
		"no number":             {words: []string{"n=NaN"}, want: "fault: n: got NaN; want a number such as 42 or 99.5"},
		"a word for a boolean":  {words: []string{"b=yes"}, want: "fault: b: got yes; want true or false"},
		"a list for an object":  {words: []string{"o=[]"}, want: `fault: o: got []; want a JSON object such as {"key": "value"}`},
		"an object cut off":     {words: []string{`o={"k":`}, want: `fault: o: got "{\"k\":"; it is not JSON: unexpected end of JSON input (byte 5); want a JSON object such as {"key": "value"}`},
		"nothing for a boolean": {words: []string{"b="}, want: `fault: b: got ""; want true or false`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := typed(t, tt.stdin, tt.args, tt.words...); got != tt.want {
				t.Errorf("%q with --args %q is\n%s\nwant\n%s", tt.words, tt.args, got, tt.want)
			}
		})
	}
}

// Of a schema that is none, and of none, every argument is a text.
func TestArgumentsWithoutSchema(t *testing.T) {
	for _, schema := range []string{"", "7", "null", "[]", "{}", `{"properties":[]}`, `{"$ref":"#"}`, `{"$ref":"#/nowhere"}`, `{"$ref":"http://x/y"}`} {
		g := given{keys: []Key{{Name: "i", Text: "42"}}}
		if text, err := g.Object(json.RawMessage(schema)); err != nil || string(text) != `{"i":"42"}` {
			t.Errorf("by the schema %q i=42 is %s, %v; want a text", schema, text, err)
		}
	}
}

// An interrupt ends the wait for standard input.
func TestArgumentsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer never.Close()
	defer w.Close()
	in, args := io.Reader(never), "-"
	if _, err := Read(ctx, in, args, nil); err != context.Canceled {
		t.Errorf("given = %v, want %v", err, context.Canceled)
	}
}

// What is accepted is the JSON that was meant: texts as they were typed, JSON as it was written, --args beside it.
func FuzzCallArguments(f *testing.F) {
	f.Add("s=hello", "i=42", `{"x":1,"s":2}`)
	f.Add(`o={"a":[1]}`, "a:b:=1e20", `{"a":1,"a":2}`)
	f.Add("=x", ":=", "")
	f.Add("s=@-", "b=true", "-")
	f.Add("n=1e999", `s:="\ud800"`, "{\"\xff\":1}")
	f.Fuzz(func(t *testing.T, first, second, args string) {
		if strings.Contains(first+second, "=@") || strings.HasPrefix(args, "@") {
			return // no file is to be read
		}
		in, args := io.Reader(strings.NewReader(args)), args
		g, err := Read(t.Context(), in, args, []string{first, second})
		if err != nil {
			return
		}
		text, err := g.Object(json.RawMessage(testSchema))
		if err != nil {
			return
		}
		sent, err := Members(text)
		if err != nil || len(sent) != len(Without(Without(g.base, g.keys[0].Name), g.keys[1].Name))+2 {
			t.Fatalf("%q, %q over %q is %s: %v", first, second, args, text, err)
		}
		for i, k := range g.keys {
			m := sent[len(sent)-len(g.keys)+i]
			var got any
			if !m.named(k.Name) || json.Unmarshal(m.Value, &got) != nil && !bytes.ContainsAny(m.Value, "eE0123456789") {
				t.Errorf("%q is sent as %s: %s", k.Name, m.Name, m.Value)
			}
			if s, isText := got.(string); isText && !k.JSON && s != k.Text {
				t.Errorf("%s=%q is sent as %s", k.Name, k.Text, m.Value)
			}
			if k.JSON && !bytes.Equal(m.Value, bytes.TrimSpace([]byte(k.Text))) {
				t.Errorf("%s:=%s is sent as %s", k.Name, k.Text, m.Value)
			}
		}
	})
}

// What words are written for a shell, they are when they are split.
func FuzzSplitWords(f *testing.F) {
	f.Add("npx -y 'a b' \"c\\\"d\" e\\ f", "it's")
	f.Add("a'b'\"c\"", "")
	f.Add("x $HOME", "~")
	f.Fuzz(func(t *testing.T, line, word string) {
		words, err := console.SplitWords(line, false)
		if err != nil || strings.Contains(word, "\x00") {
			return
		}
		words = append(words, word)
		var quoted []string
		for _, w := range words {
			quoted = append(quoted, console.ShellWord("linux", w))
		}
		again, err := console.SplitWords(strings.Join(quoted, " "), false)
		if err != nil || strings.Join(again, "\x00") != strings.Join(words, "\x00") || len(again) != len(words) {
			t.Errorf("%q is written %q and read %q, %v", words, quoted, again, err)
		}
	})
}

// A command line is split as a shell does it; what a shell would act upon is refused.
func TestSplitWords(t *testing.T) {
	for name, tt := range map[string]struct {
		line    string
		windows bool
		want    string // the words, each in brackets; or part of the fault
	}{
		"words":             {"npx  -y\tserver ", false, "[npx][-y][server]"},
		"none":              {" \t", false, ""},
		"single quotes":     {`run 'a  "b" $c \' x`, false, `[run][a  "b" $c \][x]`},
		"double quotes":     {`run "a 'b' \"c\" \\ \n" x`, false, `[run][a 'b' "c" \ \n][x]`},
		"quotes in a word":  {`a'b c'"d e"f`, false, "[ab cd ef]"},
		"empty words":       {`run '' ""`, false, "[run][][]"},
		"backslash":         {`a\ b \| \'`, false, "[a b][|][']"},
		"assignment":        {"env A=1 x", false, "[env][A=1][x]"},
		"tilde inside":      {"a~b", false, "[a~b]"},
		"windows paths":     {`C:\bin\x.exe "C:\Program Files\y" a\ b`, true, `[C:\bin\x.exe][C:\Program Files\y][a\][b]`},
		"open single quote": {"run 'a", false, "' is not closed"},
		"open double quote": {`run "a\"`, false, `" is not closed`},
		"backslash at end":  {`run \`, false, "ends the line"},
		"pipe":              {"a | b", false, "no shell reads this line"},
		"redirection":       {"a > b", false, "no shell reads this line"},
		"two commands":      {"a; b", false, "no shell reads this line"},
		"variable":          {"a $HOME", false, "no shell reads this line"},
		"variable, quoted":  {`a "$HOME"`, false, "no shell reads this line"},
		"hidden variable":   {`a "\$HOME"`, false, "[a][$HOME]"},
		"home":              {"~/bin/x", false, "whole path"},
		"NUL":               {"a\x00", false, "NUL"},
		"NUL in quotes":     {"a '\x00'", false, "NUL"},
	} {
		t.Run(name, func(t *testing.T) {
			words, err := console.SplitWords(tt.line, tt.windows)
			got := ""
			for _, w := range words {
				got += "[" + w + "]"
			}
			if err != nil {
				got = err.Error()
			}
			if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
				t.Errorf("splitWords(%q) = %s, want %s", tt.line, got, tt.want)
			}
		})
	}
}

// A plan may be a checklist where plans have ids; elsewhere it is an object.
func TestChecklistArguments(t *testing.T) {
	tests := map[string]struct{ schema, word, want string }{
		"a checklist":             {`{"properties":{"plan":{"type":"object"},"plan_id":{"type":"string"}}}`, "plan=- [ ] Write it", `{"plan":"- [ ] Write it"}`},
		"a checklist of a round":  {`{"properties":{"plan":{"type":"object"},"parent_plan_id":{"type":"string"}}}`, "plan=1. [x] Write it", `{"plan":"1. [x] Write it"}`},
		"a plan":                  {`{"properties":{"plan":{"type":"object"},"plan_id":{"type":"string"}}}`, `plan={"kind":"plan"}`, `{"plan":{"kind":"plan"}}`},
		"a checklist for no plan": {`{"properties":{"plan":{"type":"object"}}}`, "plan=- [ ] Write it", `fault: plan: got "- [ ] Write it"; want a JSON object such as {"key": "value"}`},
	}
	for name, tt := range tests {
		in, args := io.Reader(strings.NewReader("")), ""
		g, err := Read(t.Context(), in, args, []string{tt.word})
		if err != nil {
			t.Fatal(err)
		}
		got, err := g.Object(json.RawMessage(tt.schema))
		if err != nil {
			got = json.RawMessage("fault: " + err.Error())
		}
		if string(got) != tt.want {
			t.Errorf("%s: %s gives %s, want %s", name, tt.word, got, tt.want)
		}
	}
}
