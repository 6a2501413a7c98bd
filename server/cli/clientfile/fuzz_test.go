package clientfile

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Whatever a client's JSON file holds, it is refused with a place in it, or the entry goes in and nothing else changes.
func FuzzSetupJSON(f *testing.F) {
	seedSetup(f, ".json")
	for _, text := range []string{
		"", " \n", "\xef\xbb\xbf{}", "// c", "{}//", "{\"servers\":{}/**/,}", "{\"servers\":{\"a\":1,/*c*/}}", "{\r\n\t\"servers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}",
		`{"servers":{"pg":{"url":""}}}`, `{"servers":{"pg":null,}}`, "{\"servers\":{//\n}}", "{\"servers\":{\"pg\":{\"command\":1//\n}}}", `{"servers":{"a":1 /*c*/ , "pg": 2 /*d*/ , }}`,
		"{\"servers\":{\"pg\":1, // c\n \"b\":2}}", "{\"servers\":{\n\"a\":1,\n// above\n\"pg\":{}\n}}", "{\"servers\":{\"a\":1,\n\"pg\":{},}\n}", "{\"a\":1,\"servers\":{\"a\":1//c\n}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { fuzzSetup(t, JSONServers{Member: "servers", Typed: true}, text) })
}

// The same for Codex's TOML.
func FuzzSetupTOML(f *testing.F) {
	seedSetup(f, ".toml")
	for _, text := range []string{
		"", "\n", "\xef\xbb\xbfa=1", "a = 1", "a = 1\r\n", "[mcp_servers]", "[mcp_servers]\npg = {}", "mcp_servers.pg.command = 'x'", "[mcp_servers.pg]\ncommand=1",
		"[[mcp_servers]]", "mcp_servers.pg = 1", "[mcp_servers.pg.env]\na=1\n\n[b]", "[mcp_servers.pg]\n\n[b]\n[mcp_servers.pg.c]\n", "[\"mcp_servers\" . 'pg']\nurl='x'\n\n\n[b]",
		"[mcp_servers.pg] # c", "[mcp_servers.pg]\nx={a=1}\ncommand='a'",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { fuzzSetup(t, TOMLServers{}, text) })
}

// seedSetup adds the samples of clients as they are before and after.
func seedSetup(f *testing.F, _ string) {
	paths, err := filepath.Glob("testdata/setup/*.txtar")
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(string(bytes.ReplaceAll(file.Data, []byte("patterngate"), []byte("pg"))))
		}
	}
}

func fuzzSetup(t *testing.T, f Format, text string) {
	e := Entry{Name: "pg", Command: "/p \"g\"", Args: []string{"serve", "--config", `C:\x`}}
	before := []byte(text)
	after, err := f.Merge(before, e)
	if string(before) != text {
		t.Fatal("merge changes its argument")
	}
	if err != nil {
		inSetupText(t, err, before)
		return
	}
	checkMerge(t, f, before, after, e)
	_, had := EntryOf(f, before, e.Name)
	without, err := f.Remove(after, e.Name)
	if err != nil {
		if had { // written in a way that setup updates but does not take apart
			return
		}
		t.Fatalf("remove(%q): %v", after, err)
	}
	if _, found := EntryOf(f, without, e.Name); found || !onlyEntryDiffers(f, after, without, e.Name) {
		t.Errorf("remove(%q) = %q", after, without)
	}
	if servers, _, _ := f.Decode(before); !had && len(servers) > 0 && string(without) != text {
		t.Errorf("remove does not undo merge:\n%q\n%q", text, without)
	}
}

// inSetupText holds a fault to a place in the text.
func inSetupText(t *testing.T, err error, text []byte) {
	t.Helper()
	if fault, ok := err.(*textFault); !ok || fault.offset < 0 || fault.offset > len(text) || fault.reason == "" || fault.want == "" {
		t.Errorf("%q is refused by %#v, want a place in it", text, err)
	}
}
