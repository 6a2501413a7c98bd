package yamldoc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// written is a node as JSON, members in their order, with ! for what could not be read.
func written(n *Node) string {
	var parts []string
	switch n.Kind {
	case Null:
		return "null"
	case Bool:
		return strconv.FormatBool(n.Flag)
	case Number:
		return NumberText(n.Number)
	case Text:
		return strconv.Quote(n.Text)
	case List:
		for _, item := range n.Items {
			parts = append(parts, written(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case Mapping:
		for _, m := range n.Members {
			parts = append(parts, strconv.Quote(m.Key)+":"+written(m.Value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "!"
}

func TestRead(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"numbers":                   {"[0, -0, 1, -1, 1.0, 1.5, 1e3, 1E+3, 1e-05, 12e03, 0.10, 9007199254740991, -9007199254740991, 1e22]", "[0,0,1,-1,1,1.5,1000,1000,0.00001,12000,0.1,9007199254740991,-9007199254740991,1e+22]"},
		"booleans":                  {"[true, True, TRUE, false, False, FALSE]", "[true,true,true,false,false,false]"},
		"null":                      {"a: null\nb: Null\nc: NULL\nd: ~\ne:\nf: # nothing\n", `{"a":null,"b":null,"c":null,"d":null,"e":null,"f":null}`},
		"words":                     {"[yes, no, on, off, y, n, tRue, nUll, 2026-01-01, 1:30, 0b11, 1.2.3, _1, -a, .a, 1e, e5, 60s, 12-34]", `["yes","no","on","off","y","n","tRue","nUll","2026-01-01","1:30","0b11","1.2.3","_1","-a",".a","1e","e5","60s","12-34"]`},
		"numbers in quotes":         {`["010", '1_000', "true", '~', ""]`, `["010","1_000","true","~",""]`},
		"empty":                     {"", "null"},
		"header and end mark":       {"--- # begin\na: 1\n...\n# end\n", `{"a":1}`},
		"block style":               {"a:\n  b: 1\n  c:\n  - 1\n  -\n  - - x\n    - y\n  - d: 1\n    e: 2\nf: g\n", `{"a":{"b":1,"c":[1,null,["x","y"],{"d":1,"e":2}]},"f":"g"}`},
		"flow style":                {"{a: {b: [1, [2, {c: d}], ], }, 'e': \"f\", \"g\":1}", `{"a":{"b":[1,[2,{"c":"d"}]]},"e":"f","g":1}`},
		"flow style on many lines":  {"a: [\n  b, # c\n  c\n]\nd: {\n  e: 1,\n}\n", `{"a":["b","c"],"d":{"e":1}}`},
		"comments":                  {"# a\na: b#c # d\n# e\nf: 'g # h' #i\n", `{"a":"b#c","f":"g # h"}`},
		"quoted text":               {"a: 'it''s'\nb: \"\\u00e9\\x41\\t\\\"\\\\\\/\\U0001F600\"\nc: \"one\n  two\n\n  three\"\n", `{"a":"it's","b":"éA\t\"\\/😀","c":"one two\nthree"}`},
		"literal text":              {"a: |\n  x\n   y\n\n  z\n\nb: |-\n  x\n\nc: |+\n  x\n\nd: 1\n", `{"a":"x\n y\n\nz\n","b":"x","c":"x\n\n","d":1}`},
		"folded text":               {"a: >\n  x\n  y\n\n  z\nb: >-\n  x\n  y", `{"a":"x y\nz\n","b":"x y"}`},
		"plain text on lines":       {"a: x\n  y\n  z\nb: 1\n", `{"a":"x y z","b":1}`},
		"colons and marks in words": {"a: http://h:80/p?q#r\nb: {u: http://h:80/, v: x-y}\nc: a,b [c] {d}\n", `{"a":"http://h:80/p?q#r","b":{"u":"http://h:80/","v":"x-y"},"c":"a,b [c] {d}"}`},
		"CR LF":                     {"a: 1\r\n# c\r\nb: |\r\n  x\r\n  y\r\nc: 'd\r\n  e'\r\n", `{"a":1,"b":"x\ny\n","c":"d e"}`},
		"alias":                     {"a: &x {k: [1, &y 2]}\nb: *x\nc: [*y, *x]\n", `{"a":{"k":[1,2]},"b":{"k":[1,2]},"c":[2,{"k":[1,2]}]}`},
		"alias as a key":            {"a: &x b\n*x : 1\n", `{"a":"b","b":1}`},
		"anchor given again":        {"a: &x 1\nb: *x\nc: &x 2\nd: *x\n", `{"a":1,"b":1,"c":2,"d":2}`},
		"anchor within itself":      {"a: &x [&x 1, *x]\nb: *x\n", `{"a":[1,1],"b":1}`},
		"merge":                     {"a: &a {k: 1, l: 2}\nb: {<<: *a, l: 3, m: 4}\nc:\n  l: 5\n  <<: *a\n", `{"a":{"k":1,"l":2},"b":{"l":3,"m":4,"k":1},"c":{"l":5,"k":1}}`},
		"merge of a list":           {"a: &a {k: 1}\nb: &b {k: 2, l: 2}\nc: {<<: [*a, *b, {m: 3}]}\n", `{"a":{"k":1},"b":{"k":2,"l":2},"c":{"k":1,"l":2,"m":3}}`},
		"merge of a merge":          {"a: &a {k: 1}\nb: &b {<<: *a, l: 2}\nc: {<<: *b}\n", `{"a":{"k":1},"b":{"l":2,"k":1},"c":{"l":2,"k":1}}`},
		"<< in quotes":              {`{"a": {"k": 1}, '<<': {"l": 1}}`, `{"a":{"k":1},"<<":{"l":1}}`},
		"<< in JSON":                {`{"<<": {"l": 1}}`, `{"<<":{"l":1}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			faults := &Faults{}
			got := written(Read("pg.yaml", []byte(tt.text), faults))
			if err := faults.Err(); err != nil {
				t.Fatalf("Read(%q): %v", tt.text, err)
			}
			if got != tt.want {
				t.Errorf("Read(%q)\n got %s\nwant %s", tt.text, got, tt.want)
			}
		})
	}
}

// Columns count characters; blank lines, comments, tabs and CR LF before a value do not move it.
func TestReadPlaces(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"characters":        {"é: {ü: 'ö', x: 1}\n", "1:1 1:4 1:5 1:8 1:13 1:16"},
		"block":             {"# c\r\n\r\na:\r\n  - b\r\n\r\n  # é\r\n  - c: \"d\"\r\n", "3:1 4:3 4:5 7:5 7:5 7:8"},
		"tabs":              {"a:\t1\nb: [\t1,\t'x']\n", "1:1 1:4 2:1 2:4 2:6 2:9"},
		"JSON":              {"{\n\t\"é\": 1,\t\"b\":\t[2]}", "2:2 2:7 2:10 2:15 2:16"},
		"after block text":  {"a: |\n  x\n\n  y\nb: >-\n  z\nc: 1\n", "1:1 1:4 5:1 5:4 7:1 7:4"},
		"alias and merge":   {"a: &x {k: 1}\nb: *x\nc:\n  <<: *x\n", "1:1 1:7 1:8 1:11 2:1 1:7 1:8 1:11 3:1 4:3 1:8 1:11"},
		"quotes over lines": {"a: \"x\n  y\"\nb: 'z'\n", "1:1 1:4 3:1 3:4"},
		"nothing":           {"a:\nb: ~\nc:\n  -\n", "1:1 1:1 2:1 2:4 3:1 4:3 4:3"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			faults := &Faults{}
			var got []string
			eachPlace(Read("pg.yaml", []byte(tt.text), faults), func(at Place) { got = append(got, fmt.Sprintf("%d:%d", at.Line, at.Column)) })
			if err := faults.Err(); err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(got[1:], " "); text != tt.want {
				t.Errorf("places in %q\n got %s\nwant %s", tt.text, text, tt.want)
			}
		})
	}
}

// eachPlace visits keys and values, a mapping's key before its value.
func eachPlace(n *Node, visit func(Place)) {
	visit(n.At)
	for _, item := range n.Items {
		eachPlace(item, visit)
	}
	for _, m := range n.Members {
		visit(m.At)
		eachPlace(m.Value, visit)
	}
}

// The bounds hold exactly, however a file reaches them, and what is beyond is refused quickly.
func TestReadBounds(t *testing.T) {
	t.Parallel()
	list := func(n int) string { return "[" + strings.Repeat("1,", n-1) + "1]" }
	const (
		tooDeep  = "lists and mappings nested deeper than 64"
		tooMany  = "more than 200,000 values and keys (each alias counts in full)"
		tooLarge = "larger than 4 MiB"
	)
	bomb := "a: &a " + list(1000) + "\nb: &b [" + strings.Repeat("*a,", 150) + "]\nc: [*b, *b]\n"
	tests := map[string]struct{ text, want string }{
		"64 deep":                 {strings.Repeat("[", 64) + strings.Repeat("]", 64), ""},
		"64 deep in YAML":         {strings.Repeat("- ", 63) + "[a, ]", ""},
		"65 deep":                 {strings.Repeat("[", 65) + strings.Repeat("]", 65), tooDeep},
		"65 deep in YAML":         {strings.Repeat("- ", 64) + "[a, ]", tooDeep},
		"65 deep by an alias":     {"a: &a " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\nb: [[[[*a]]]]\n", tooDeep},
		"64 deep by an alias":     {"a: &a " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\nb: [[[*a]]]\n", ""},
		"a million brackets":      {strings.Repeat("[", 1<<20), tooDeep},
		"a million entries":       {strings.Repeat("- ", 1<<20), tooDeep},
		"200,000 values":          {list(199_999), ""},
		"200,001 values":          {list(200_000), tooMany},
		"200,001 values in YAML":  {strings.Repeat("- 1\n", 200_000), tooMany},
		"aliases of aliases":      {bomb, tooMany},
		"merges":                  {"a: &a {" + manyKeys(2000) + "}\nb:\n" + strings.Repeat("- {<<: *a}\n", 100), tooMany},
		"4 MiB":                   {"#" + strings.Repeat("x", MaxBytes-2) + "\n", ""},
		"more than 4 MiB":         {"#" + strings.Repeat("x", MaxBytes-1) + "\n", tooLarge},
		"many keys":               {strings.ReplaceAll(manyKeys(10_000), ", ", "\n"), ""},
		"more keys":               {strings.ReplaceAll(manyKeys(10_001), ", ", "\n"), "more than 10,000 keys in one mapping"},
		"anchors in a row":        {strings.Repeat("&a ", 1000) + "1", "several anchors in a row"},
		"commas":                  {"[" + strings.Repeat(",", 1<<20) + "]", "nothing before a comma"},
		"empty lines":             {"a: |\n" + strings.Repeat("\n", 1<<20), "more than 100 empty lines in a row"},
		"signs of a merge":        {strings.Repeat("<", 1<<20), `more than 100 "<" in a row`},
		"byte order mark":         {"\ufeffversion: 1\n", "begins with a byte order mark"},
		"Latin-1":                 {"a: \"\xe9\"\n", "not UTF-8"},
		"replacement characters":  {"a: \"\ufffd\"\n", ""},
		"replacement in JSON":     {"{\"a\": \"\ufffd\\ufffd\"}", ""},
		"half a pair":             {`{"a": "\ufffd\ud800"}`, "half of a surrogate pair"},
		"NUL":                     {"a: \x00\n", "the control character U+0000"},
		"a hole in the structure": {"\"", "not valid YAML: could not find end character of double-quoted text"},
	}
	if os.Getenv("CI") == "" { // a second of work; only CI tests that the most values are accepted
		delete(tests, "200,001 values in YAML")
		delete(tests, "200,000 values")
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			faults := &Faults{}
			Read("pg.yaml", []byte(tt.text), faults)
			got := ""
			if len(faults.Found) > 0 {
				got = faults.Found[0].Reason
			}
			if got != tt.want {
				t.Errorf("Read(%.40q...) says %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

// manyKeys is n members of a mapping.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1, ", i)
	}
	return b.String()
}

// The numbers that are refused show how to write what they mean.
func TestPlainSpelling(t *testing.T) {
	tests := map[string]string{
		"010": "10", "0": "0", "00": "0", "-01": "-1", "+0": "0", "+010.50": "10.50", "1_000": "1000", "1__0": "10", "0x10": "16",
		"0X10": "a number", "0o17": "15", "-0x1F": "-31", ".5": "0.5", "-.5": "-0.5", "+.5e-3": "0.5e-3", "1.": "1", "1.e5": "1e5", "01e2": "1e2",
		".inf": "a number", "-.INF": "a number", ".NaN": "a number", "1e999": "a number below 1.8e308", "-1e999": "a number below 1.8e308",
		"9007199254740992": "a whole number up to 9007199254740991", "-9007199254740992": "a whole number up to 9007199254740991",
		"0xFFFFFFFFFFFFFFFF": "a whole number up to 9007199254740991", "99999999999999999999": "a whole number up to 9007199254740991",
	}
	for text, want := range tests {
		if got := plainSpelling(text); got != want {
			t.Errorf("plainSpelling(%q) = %q, want %q", text, got, want)
		}
		refused := resolvePlain(text).Kind == Unreadable
		if sound := text == "0" || text == "0X10"; refused == sound {
			t.Errorf("resolvePlain(%q) refuses: %t, want %t", text, refused, !sound)
		}
	}
}
