package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/architecture.svg again")

// A band is a floor in docs/architecture.svg: a package belongs to the band with the longest prefix of its path.
type band struct {
	prefixes string
	title    string
}

// bands are those of the picture, from top to bottom.
var bands = []band{
	{"server/cli", "server/cli: the commands"},
	{"server/assembly server/settings", "server/assembly: a server made of settings"},
	{"server", "server: MCP and web pages"},
	{"patterns", "patterns: runs and their engine"},
	{"gateway", "gateway: decides what may be called"},
	{"catalog", "catalog: the tools"},
	{"ijson", "ijson: JSON and text from outside"},
}

// A box is how docs/architecture.svg draws a package of [floors]. A package without one is drawn by its name alone.
type box struct {
	purpose string // a few words that fit into the box
	// row and column are the place of a package on the main way, in its band, counted from 1. Columns are 1 and 2. 0, 0: it is beside
	// the main way.
	row, column int
	uses        string // those imports that are arrows of the picture: the main way
}

// boxes are the words and the main way of the picture. The main way is what the call of a tool passes, from the command line to JSON.
// A new package needs no line here.
var boxes = map[string]box{
	"server/cli":             {"reads flags, starts and stops a server", 1, 1, "server/assembly"},
	"server/cli/approvals":   {"commands about approvals", 0, 0, ""},
	"server/cli/importer":    {"the command init", 0, 0, ""},
	"server/cli/policycheck": {"the command policy", 0, 0, ""},
	"server/cli/invocation":  {"flags, configuration, state", 0, 0, ""},
	"server/cli/doctor":      {"checks how clients start it", 0, 0, ""},
	"server/cli/catalogcmd":  {"the command catalog", 0, 0, ""},
	"server/cli/operations":  {"kill-switch, reload, state", 0, 0, ""},
	"server/cli/setup":       {"commands about a client", 0, 0, ""},
	"server/cli/clientfile":  {"edits files of MCP clients", 0, 0, ""},
	"server/cli/console":     {"streams, exit codes", 0, 0, ""},
	"server/cli/call":        {"the command call", 0, 0, ""},
	"server/cli/inbox":       {"opens the page of approvals", 0, 0, ""},
	"server/cli/inspect":     {"shows a configuration", 0, 0, ""},
	"server/cli/recordtext":  {"records as text", 0, 0, ""},
	"server/cli/runs":        {"commands about runs", 0, 0, ""},
	"server/cli/signing":     {"signs decisions", 0, 0, ""},
	"server/cli/statefile":   {"opens the state file", 0, 0, ""},
	"server/cli/story":       {"the calls of the demo, told", 0, 0, ""},
	"server/cli/trial":       {"commands demo and prove", 0, 0, ""},
	"server/cli/toolargs":    {"arguments at a shell", 0, 0, ""},

	"server/assembly":         {"makes a running server of a configuration", 1, 1, "server/settings server patterns/local"},
	"server/settings":         {"a whole file: found, read, checked, shown", 1, 2, ""},
	"server/settings/rules":   {"the section policies", 0, 0, ""},
	"server/settings/tools":   {"the section catalog", 0, 0, ""},
	"server/settings/grammar": {"keys of the file as values", 0, 0, ""},
	"server/settings/machine": {"variables, files, programs", 0, 0, ""},
	"server/settings/yamldoc": {"YAML, with places", 0, 0, ""},

	"server":              {"carries a call to the engine and back", 1, 1, "server/transport server/arguments server/outcome patterns"},
	"server/transport":    {"messages over stdio and HTTP", 1, 2, ""},
	"server/arguments":    {"what a call asks for, and every problem", 2, 1, ""},
	"server/outcome":      {"what a result says, what to do next", 2, 2, "server/envelope"},
	"server/envelope":     {"the shape of a result, cut to its size", 3, 2, ""},
	"server/progress":     {"lines while a run goes on", 0, 0, ""},
	"server/status":       {"tools about existing runs", 0, 0, ""},
	"server/sentence":     {"words of results", 0, 0, ""},
	"server/describe":     {"lists the tools", 0, 0, ""},
	"server/web":          {"inbox and run pages", 0, 0, ""},
	"server/web/geometry": {"places in drawings", 0, 0, ""},
	"server/web/facts":    {"facts beside the buttons", 0, 0, ""},
	"server/web/wording":  {"values as words of a page", 0, 0, ""},
	"server/web/webtest":  {"a browser for tests", 0, 0, ""},
	"server/notify":       {"wakes a person", 0, 0, ""},
	"server/buildinfo":    {"which version this is", 0, 0, ""},

	"patterns":                     {"types of runs, effects, engine, approvals", 1, 2, ""},
	"patterns/local":               {"the engine: begins and continues runs", 1, 1, "patterns patterns/execution patterns/store/sqlite"},
	"patterns/execution":           {"one execution: runs the code, records all", 2, 1, "patterns/kinds"},
	"patterns/planclaims":          {"which run holds a plan", 0, 0, ""},
	"patterns/store":               {"what an engine needs of a store", 3, 2, ""},
	"patterns/store/sqlite":        {"the state file", 2, 2, "patterns/store"},
	"patterns/store/memory":        {"runs in memory", 0, 0, ""},
	"patterns/store/processtest":   {"processes for tests", 0, 0, ""},
	"patterns/store/storetest":     {"tests for every store", 0, 0, ""},
	"patterns/decisions":           {"decisions and their keys", 0, 0, ""},
	"patterns/redaction":           {"hides values in records", 0, 0, ""},
	"patterns/windows":             {"earlier runs, for policies", 0, 0, ""},
	"patterns/journal":             {"what a record holds", 0, 0, ""},
	"patterns/kinds":               {"the patterns themselves", 3, 1, "patterns/step"},
	"patterns/step":                {"one step: ask, check, call, retry", 4, 1, "gateway"},
	"patterns/planexecute":         {"plans that are stored", 0, 0, ""},
	"patterns/reference":           {"the built-in patterns", 0, 0, ""},
	"patterns/record":              {"timeline and receipt", 0, 0, ""},
	"patterns/llm/openai":          {"a model behind an API", 0, 0, ""},
	"patterns/llm/prompts":         {"questions to a model", 0, 0, ""},
	"patterns/llm/offline":         {"rules instead of a model", 0, 0, ""},
	"patterns/llm/offline/english": {"reads English goals", 0, 0, ""},
	"patterns/llm/llmtest":         {"a model server for tests", 0, 0, ""},

	"gateway":                {"checks a call, makes its permit", 1, 1, "catalog"},
	"gateway/policy":         {"the rules of a configuration", 1, 2, "gateway"},
	"gateway/policy/expr":    {"CEL expressions", 0, 0, ""},
	"gateway/policy/refunds": {"the policy of the demo", 0, 0, ""},
	"gateway/document":       {"reads proposals strictly", 0, 0, ""},
	"gateway/planning":       {"checks plans of subtasks", 0, 0, ""},
	"gateway/stopreason":     {"every reason for an end", 0, 0, ""},
	"gateway/approver":       {"keys of approvers", 0, 0, ""},

	"catalog":             {"tools, schemas, effects", 1, 1, "ijson"},
	"catalog/upstream":    {"tools of other MCP servers", 1, 2, "catalog"},
	"catalog/httptool":    {"tools that are requests", 0, 0, ""},
	"catalog/pins":        {"the lock file", 0, 0, ""},
	"catalog/resilience":  {"circuit breakers, limits", 0, 0, ""},
	"catalog/demo":        {"tools of the demo", 0, 0, ""},
	"catalog/demo/ledger": {"counts the demo's effects", 0, 0, ""},

	"ijson":           {"strict reading, stable text, hashes", 1, 1, ""},
	"ijson/printable": {"text for terminals and logs", 0, 0, ""},
}

// The picture of the architecture is drawn from the lists of packages.
func TestArchitecture(t *testing.T) {
	for name, b := range boxes {
		f, ok := floors[name]
		if !ok {
			t.Errorf("box %q is no package: remove its line, or give it the package's new name", name)
			continue
		}
		if (b.row == 0) != (b.column == 0) || b.column > 2 {
			t.Errorf("box %q is in row %d, column %d; want a row from 1 and column 1 or 2, or 0 for both", name, b.row, b.column)
		}
		if most := map[bool]int{true: 2, false: 1}[b.row > 0]; len(fold(b.purpose, map[int]int{1: besideLetters, 2: mainLetters}[most])) > most {
			t.Errorf("the purpose of box %q does not fit: %q", name, b.purpose)
		}
		for _, used := range strings.Fields(b.uses) {
			if !slices.Contains(strings.Fields(f.own), used) {
				t.Errorf("box %q has an arrow to %q, which it does not import", name, used)
			}
			if boxes[used].row == 0 || b.row == 0 {
				t.Errorf("the arrow from %q to %q: give both a row and a column", name, used)
			}
		}
	}
	const path = "docs/architecture.svg"
	want := drawing(floors, boxes).svg()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s does not show the packages as they are (%v); run go test . -run TestArchitecture -update", path, err)
	}
}

// stop is a package and a name in it, as the list of the way of one call has them.
var stop = regexp.MustCompile("(?m)^[0-9]+\\. \\[[a-z/]+\\]\\(\\.\\./([a-z/]+)/doc\\.go\\): `(?:[A-Za-z]+\\.)?([A-Za-z]+)`\\.")

// The names in docs/architecture.md exist in the packages to which their links lead.
func TestArchitectureNames(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	stops := stop.FindAllStringSubmatch(string(page), -1)
	if len(stops) < 8 {
		t.Fatalf("the page has %d stops with a name, want 8 or more", len(stops))
	}
	for _, s := range stops {
		declared := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |\t)` + s[2] + `\b`)
		files, _ := filepath.Glob(filepath.Join(filepath.FromSlash(s[1]), "*.go"))
		if !slices.ContainsFunc(files, func(path string) bool {
			text, err := os.ReadFile(path)
			return err == nil && declared.Match(text)
		}) {
			t.Errorf("docs/architecture.md names %s of %s, which is not there: give its new name or place", s[2], s[1])
		}
	}
}
