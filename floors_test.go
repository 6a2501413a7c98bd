package main

import (
	"encoding/json"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// floor is one package: what it may import of ours and of others, and why. The standard library is open to all
// but for what [TestPatternCodeIsDeterministic] forbids.
type floor struct {
	kind    string // "part" or "door"; "" of a floor itself
	own     string // packages of this module, by path; "" is none
	outside string // modules
	why     string
}

// floors is the architecture (docs/architecture.md shows it): server over patterns over gateway over catalog over
// ijson. A subpackage is a part of its parent or a door to it. A part is used by its parent or by the packages beside it, and
// imports none of its parents. A door imports its parent, which never imports it. A new package or arrow is a line here, with
// its reason.
var floors = map[string]floor{
	"": {"", "server/cli", "", "one call into the commands"},

	"ijson":           {"", "", "github.com/go-json-experiment/json", "floor 0: JSON from outside; the strict tokenizer is not ours to write"},
	"ijson/printable": {"door", "ijson", "", "text from outside made fit for a terminal, a log or the shell that a command is copied to; the server and all commands print by it"},

	"catalog":             {"", "ijson", "github.com/invopop/jsonschema github.com/santhosh-tekuri/jsonschema/v6 golang.org/x/text github.com/go-json-experiment/json", "floor 1: what may be called; the one home of schemas, worded in English, their members in the order of their text"},
	"catalog/demo":        {"door", "catalog ijson", "", "the reference patterns' tools and data"},
	"catalog/demo/ledger": {"door", "catalog/demo ijson", "", "a process outside in which the demo's effects happen and are counted"},
	"catalog/pins":        {"part", "ijson ijson/printable", "github.com/go-json-experiment/json", "what people accepted of other servers' tools: the lock file; faults told by their place in its text; the name of a tool as a word of an advised command"},
	"catalog/upstream":    {"door", "catalog ijson", "github.com/mark3labs/mcp-go", "other MCP servers: the only MCP client"},
	"catalog/httptool":    {"door", "catalog ijson", "", "tools that are HTTP requests: what they send, whom they may dial, what a lost reply means"},
	"catalog/resilience":  {"door", "catalog", "github.com/failsafe-go/failsafe-go", "when a server is left alone, how often and how many at once it is called: the one home of circuit breakers"},

	"gateway":                {"", "gateway/document catalog ijson", "", "floor 2: the policy boundary judges values and knows no model, clock or network"},
	"gateway/document":       {"part", "catalog ijson", "", "reads an untrusted document strictly and lists every problem; the gateway and those who judge other arguments use it"},
	"gateway/planning":       {"door", "gateway gateway/document catalog ijson", "", "judges a plan of subtasks, orders it, and shows it whole to the person who approves it"},
	"gateway/stopreason":     {"door", "gateway", "", "the closed list of reasons why a run ends, with exit codes and advice"},
	"gateway/approver":       {"door", "gateway ijson", "golang.org/x/crypto", "the private half of an approver's key, sealed in a file; the one home of cryptography that the standard library does not have"},
	"gateway/policy":         {"door", "gateway gateway/policy/expr catalog ijson", "cel.dev/cel-go", "rules and aggregates of a configuration; CEL because rules read values that are made when they are read, and look into their expressions"},
	"gateway/policy/expr":    {"part", "catalog ijson", "cel.dev/cel-go", "typed CEL expressions, their bounds, and what is wrong with them in words; the home of CEL, used by policy and, for faults, by server/cli"},
	"gateway/policy/refunds": {"door", "gateway/policy gateway catalog catalog/demo", "", "the policy of the demo's refund tools, compiled for them: what the configuration embeds, and tests and benchmarks judge by"},

	"patterns":                     {"", "gateway gateway/document gateway/planning catalog ijson", "", "floor 3: pattern code and its ports"},
	"patterns/step":                {"door", "catalog gateway gateway/document ijson patterns", "", "one judged step of a run: ask, admit, call, find out what happened, ask a person; kinds and planexecute are made of it"},
	"patterns/kinds":               {"door", "catalog gateway gateway/document ijson patterns patterns/planexecute patterns/step", "", "the patterns themselves; an engine runs them by their kind"},
	"patterns/planexecute":         {"door", "catalog gateway gateway/document gateway/planning ijson patterns patterns/step", "", "the pattern that makes, executes and changes a stored plan"},
	"patterns/journal":             {"door", "gateway ijson patterns", "", "what a record holds: events, their bodies, their stored form; the engine writes and reads it"},
	"patterns/store":               {"door", "gateway patterns patterns/journal", "", "the port between the engine and the place where runs are kept: changes as values, and no SQL"},
	"patterns/store/processtest":   {"part", "", "", "a test's own program as another process that is killed, like net/http/httptest"},
	"patterns/store/sqlite":        {"door", "gateway patterns patterns/journal patterns/store", "modernc.org/sqlite golang.org/x/sys", "a state file shared by processes of one machine; the one home of the SQL driver and of file locks"},
	"patterns/store/memory":        {"door", "gateway ijson patterns patterns/journal patterns/store", "", "a store in this process, of runs that end with it"},
	"patterns/store/storetest":     {"door", "patterns patterns/journal patterns/store", "", "one suite of tests that every store passes"},
	"patterns/redaction":           {"door", "ijson patterns patterns/journal patterns/store", "", "keeps values out of the records of runs, and puts them back for a replay; it knows no engine"},
	"patterns/decisions":           {"door", "catalog gateway gateway/document ijson patterns patterns/journal patterns/redaction patterns/store", "", "what people do about the questions that runs put to them, and the keys they sign with"},
	"patterns/windows":             {"door", "catalog gateway ijson patterns patterns/journal patterns/redaction patterns/store", "", "what earlier runs did, as policies see it in windows of time"},
	"patterns/planclaims":          {"door", "ijson patterns patterns/journal patterns/store", "", "decides which run holds a stored plan; execution and the engine use it"},
	"patterns/execution":           {"door", "catalog gateway gateway/planning ijson patterns patterns/decisions patterns/journal patterns/kinds patterns/planclaims patterns/redaction patterns/store patterns/windows", "", "one execution of a run: replays its record, performs what is new, and ends at rest; it knows the engine by an interface"},
	"patterns/local":               {"door", "catalog gateway gateway/stopreason ijson patterns patterns/decisions patterns/execution patterns/journal patterns/kinds patterns/planclaims patterns/redaction patterns/store patterns/store/memory patterns/store/sqlite", "", "the engine in this process: it begins, continues and shows runs, over a store or in memory"},
	"patterns/reference":           {"door", "gateway patterns", "", "what the built-in patterns declare, in the form in which a file declares its own; the configuration makes their specs of it"},
	"patterns/record":              {"door", "patterns gateway gateway/planning gateway/stopreason catalog ijson", "", "what a record tells people, as values: timeline and receipt; calls as policies saw them"},
	"patterns/record/recordtest":   {"door", "gateway ijson patterns", "", "records of runs for tests, like net/http/httptest; the commands and their texts are tested with them"},
	"patterns/llm/openai":          {"door", "patterns patterns/llm/prompts gateway/planning catalog ijson", "github.com/openai/openai-go/v3 github.com/go-json-experiment/json", "a language model behind an OpenAI-compatible server"},
	"patterns/llm/prompts":         {"door", "patterns gateway catalog ijson", "", "what a language model is asked with; the openai package and the configuration use it"},
	"patterns/llm/offline":         {"door", "patterns patterns/llm/offline/english gateway gateway/planning catalog ijson", "", "rules that answer without a model"},
	"patterns/llm/offline/english": {"part", "ijson", "", "reads a goal's English and knows no tool"},
	"patterns/llm/llmtest":         {"part", "", "", "a model server for tests, like net/http/httptest"},

	"server":                  {"", "server/arguments server/describe server/envelope server/outcome server/sentence server/transport patterns gateway gateway/stopreason catalog ijson gateway/document ijson/printable patterns/kinds patterns/planexecute server/progress server/status", "github.com/mark3labs/mcp-go github.com/lmittmann/tint", "floor 4: the MCP surface sees ports, never an engine"},
	"server/web":              {"part", "server/transport patterns patterns/record gateway gateway/stopreason catalog ijson gateway/document gateway/planning server/web/facts server/web/geometry server/web/wording", "", "pages for browsers: inbox and run viewer, over ports"},
	"server/web/facts":        {"part", "patterns/record ijson server/web/wording", "", "what a person needs beside a call to decide about it; the pages show it"},
	"server/web/geometry":     {"part", "patterns/record", "", "where the nodes of a drawn plan and the bars of a timeline are; the pages draw them"},
	"server/web/wording":      {"part", "patterns patterns/record gateway/planning gateway/stopreason ijson", "", "recorded values and text from outside as the words of a page; the pages show them"},
	"server/settings":         {"door", "catalog catalog/demo gateway gateway/policy ijson patterns patterns/llm/openai patterns/llm/prompts server server/settings/grammar server/settings/machine server/settings/rules server/settings/tools server/settings/yamldoc server/transport patterns/redaction", "", "a whole configuration: found, read, checked across keys, shown. It has the demo's tools and policy by name, since they are its defaults; prompts and openai for what keys may say; local for what redaction hides"},
	"server/settings/grammar": {"part", "server/settings/yamldoc catalog ijson ijson/printable", "", "the keys of a configuration file as values, and it knows no section. Of catalog it has the nearest name"},
	"server/settings/machine": {"part", "server/settings/yamldoc", "", "what the program asks of its machine: variables, the user's directories, programs, who may read or write a file"},
	"server/settings/rules":   {"part", "gateway gateway/policy gateway/policy/refunds ijson server/settings/grammar server/settings/machine server/settings/yamldoc", "", "the policies section of a configuration file, as values with places"},
	"server/settings/tools":   {"part", "catalog catalog/httptool gateway ijson server/settings/grammar server/settings/machine server/settings/yamldoc", "", "the catalog section of a configuration file: servers, HTTP tools, where secrets are; httptool judges the addresses that the file names"},
	"server/settings/yamldoc": {"part", "catalog ijson ijson/printable", "github.com/goccy/go-yaml", "YAML and JSON documents from outside, each value with its place, and faults that name it; the one home of the YAML parser. Of catalog it has the nearest name"},
	"server/assembly":         {"door", "catalog catalog/demo catalog/demo/ledger catalog/httptool catalog/pins catalog/resilience catalog/upstream gateway gateway/policy gateway/policy/expr gateway/policy/refunds ijson patterns patterns/llm/offline patterns/llm/openai patterns/llm/prompts patterns/local patterns/reference server server/buildinfo server/notify server/settings server/settings/grammar server/settings/machine server/settings/rules server/settings/tools server/settings/yamldoc", "", "a running server made of settings: it knows every part that a configuration can name, and no command"},
	"server/cli":              {"door", "catalog/demo catalog/pins gateway gateway/approver ijson ijson/printable patterns patterns/local server server/assembly server/buildinfo server/cli/approvals server/cli/call server/cli/catalogcmd server/cli/console server/cli/doctor server/cli/importer server/cli/inbox server/cli/inspect server/cli/invocation server/cli/operations server/cli/policycheck server/cli/runs server/cli/setup server/cli/signing server/cli/statefile server/cli/trial server/settings server/settings/machine server/settings/tools server/settings/yamldoc server/transport", "github.com/spf13/cobra github.com/spf13/pflag", "the commands: the only package that reads the environment, flags and signals"},
	"server/cli/clientfile":   {"part", "catalog ijson ijson/printable server/cli/console server/settings/yamldoc server/settings/machine", "github.com/pelletier/go-toml/v2", "reads and edits the files of MCP clients; TOML is Codex's; setup, init and doctor use it"},
	"server/cli/console":      {"part", "ijson ijson/printable server/settings/machine", "github.com/spf13/cobra golang.org/x/term", "what commands need to talk to a person at a terminal: failures, exit codes, text cut to a width, the standard streams"},
	"server/cli/approvals":    {"door", "catalog gateway gateway/approver gateway/document gateway/planning gateway/stopreason ijson ijson/printable patterns patterns/local patterns/record server server/cli/console server/cli/recordtext server/cli/signing server/cli/statefile server/cli/toolargs server/settings/machine", "github.com/spf13/cobra", "the commands about calls that wait for a person, and about approvers' keys; of the server it has the log line of a decision"},
	"server/cli/call":         {"part", "catalog/upstream gateway gateway/stopreason ijson ijson/printable server/buildinfo server/cli/console server/cli/toolargs server/settings server/settings/machine", "github.com/spf13/cobra", "the command that calls a tool and prints its result; the commands catalog test and prove call tools through it"},
	"server/cli/story":        {"part", "catalog/demo catalog/upstream ijson ijson/printable server/cli/console", "", "the calls of the demo and what their results say, as a story for a person; trial starts the processes"},
	"server/cli/trial":        {"part", "catalog/demo catalog/demo/ledger catalog/upstream gateway ijson ijson/printable patterns patterns/local server/buildinfo server/cli/call server/cli/clientfile server/cli/console server/cli/inbox server/cli/story server/settings server/settings/machine", "github.com/spf13/cobra", "the commands that show Patterngate at work and check its promises, with the ledger that they start"},
	"server/cli/inbox":        {"door", "gateway gateway/approver ijson patterns patterns/local server server/buildinfo server/cli/console server/cli/statefile server/settings server/settings/machine server/transport server/web", "github.com/spf13/cobra", "starts the page of approvals and runs, and opens it in a browser; of the server it has the log line of a decision"},
	"server/cli/inspect":      {"door", "catalog/upstream gateway gateway/stopreason server server/assembly server/cli/console server/cli/invocation server/settings server/settings/yamldoc", "github.com/spf13/cobra", "the commands that show and check a configuration without starting anything; of the server they have the reasons why runs end"},
	"server/cli/recordtext":   {"part", "gateway ijson patterns patterns/record server/cli/console", "", "a run's record as text at a terminal; the commands about runs and approvals use it"},
	"server/cli/runs":         {"part", "gateway ijson ijson/printable patterns patterns/local patterns/record server/assembly server/cli/console server/cli/recordtext server/cli/signing server/cli/statefile", "github.com/spf13/cobra", "the commands about recorded runs"},
	"server/cli/catalogcmd":   {"part", "catalog catalog/pins catalog/upstream gateway gateway/approver ijson ijson/printable server/assembly server/cli/console server/cli/invocation server/cli/signing server/cli/statefile server/settings server/settings/grammar server/settings/tools server/settings/yamldoc", "github.com/spf13/cobra", "the commands that list the tools behind the gate, try one, and accept what servers declare"},
	"server/cli/operations":   {"part", "catalog gateway ijson/printable patterns patterns/local server/assembly server/cli/console server/cli/invocation server/cli/signing server/cli/statefile", "github.com/spf13/cobra", "the commands with which an operator acts on running servers: kill-switch, reload, state"},
	"server/cli/doctor":       {"part", "catalog/pins catalog/upstream ijson ijson/printable patterns server/assembly server/buildinfo server/cli/clientfile server/cli/console server/cli/importer server/cli/invocation server/cli/statefile server/settings server/settings/machine server/settings/tools server/settings/yamldoc", "github.com/spf13/cobra", "the command that starts this program as clients do and says what does not work; serve logs the ways around the gate that it finds"},
	"server/cli/importer":     {"part", "catalog catalog/httptool catalog/pins catalog/upstream gateway ijson ijson/printable server/assembly server/buildinfo server/cli/clientfile server/cli/console server/cli/statefile server/settings server/settings/grammar server/settings/machine server/settings/tools server/settings/yamldoc", "github.com/spf13/cobra", "the command that writes a first configuration and takes over the servers of a client; doctor reads client files with it"},
	"server/cli/policycheck":  {"part", "catalog gateway gateway/policy ijson patterns patterns/record server/assembly server/cli/clientfile server/cli/console server/cli/runs server/cli/statefile server/cli/toolargs server/settings server/settings/grammar server/settings/rules server/settings/tools server/settings/yamldoc", "github.com/spf13/cobra", "the commands that test and explain policies, and show what a change of one does"},
	"server/cli/invocation":   {"door", "catalog/upstream gateway ijson/printable patterns patterns/local server server/assembly server/cli/console server/cli/statefile server/settings server/settings/machine server/settings/yamldoc", "github.com/lmittmann/tint", "what every command needs of one call of the program: flags, configuration, state file; of the server it has the patterns that it would offer"},
	"server/cli/setup":        {"part", "ijson/printable server/cli/clientfile server/cli/console server/settings server/settings/machine", "github.com/spf13/cobra", "the command that makes a client start Patterngate"},
	"server/cli/signing":      {"part", "gateway gateway/approver ijson/printable patterns server/cli/console", "github.com/spf13/cobra golang.org/x/term", "the person at the terminal signs with an approver key; the commands that decide or change something use it"},
	"server/cli/statefile":    {"part", "gateway patterns patterns/local server/cli/console server/cli/signing", "", "what commands see of a state file, opened for one command at a time"},
	"server/cli/toolargs":     {"part", "ijson server/cli/console", "", "arguments of a tool call, typed at a shell; call, approvals and policy use it"},

	"server/arguments":   {"part", "patterns gateway gateway/document gateway/planning catalog ijson", "", "what a call asks for: rows of arguments, published schemas, every problem with its fix; the server and its parts use it"},
	"server/describe":    {"part", "server/arguments server/envelope server/sentence catalog gateway gateway/document ijson ijson/printable patterns server/outcome server/transport", "github.com/mark3labs/mcp-go", "the tool and the resource that list what may be called; it knows the server by an interface"},
	"server/envelope":    {"part", "server/arguments server/sentence gateway gateway/document gateway/planning ijson ijson/printable patterns patterns/reference", "", "the one shape of results, cut to size, in both channels; the server and its parts use it; reference for the report in results that were kept"},
	"server/outcome":     {"part", "server/arguments server/envelope server/sentence catalog gateway gateway/document gateway/stopreason ijson ijson/printable patterns", "", "from a run to its result: what was done, why it stopped, what to do next"},
	"server/progress":    {"part", "server/envelope server/outcome server/sentence ijson/printable patterns", "github.com/mark3labs/mcp-go", "the lines of a run that its caller sees while it waits"},
	"server/sentence":    {"part", "ijson ijson/printable", "", "counts, names and texts from outside in the sentences of results; the server and its parts use it"},
	"server/status":      {"part", "server/arguments server/envelope server/outcome server/progress server/sentence server/transport catalog gateway gateway/document ijson ijson/printable patterns", "github.com/mark3labs/mcp-go", "the tools about runs and plans that exist already; they know the server by an interface"},
	"server/transport":   {"part", "ijson ijson/printable", "github.com/mark3labs/mcp-go", "MCP messages in and out over stdio and HTTP; the server, its web page and the commands use it, and it knows the server by an interface"},
	"server/notify":      {"part", "patterns ijson ijson/printable", "", "what wakes a person: the desktop's programs, or one of the owner's"},
	"server/buildinfo":   {"part", "", "", "which Patterngate this is; the server, the MCP clients and the commands name themselves with it"},
	"server/web/webtest": {"part", "", "", "a real browser for tests, like net/http/httptest"},
}

// listed is what "go list -json" tells of a package.
type listed struct {
	ImportPath string
	Imports    []string
	Module     *struct{ Path string }
}

func TestFloors(t *testing.T) {
	const module = "patterngate"
	packages := list(t, "./...")
	seen := map[string]bool{}
	for _, p := range packages {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if exempt(name) {
			continue
		}
		seen[name] = true
		may, ok := floors[name]
		if !ok {
			t.Errorf("package %q has no floor; add a line that says why it is there", name)
			continue
		}
		if fault := may.faultOfKind(name, p.Imports); fault != "" {
			t.Errorf("%q %s", name, fault)
		}
		for _, path := range p.Imports {
			if !allowed(may, module, path) {
				t.Errorf("%q imports %s; its floor (%s) does not allow that", name, path, may.why)
			}
		}
	}
	for name, f := range floors {
		if !seen[name] {
			t.Errorf("floor %q has no package", name)
		}
		if f.why == "" {
			t.Errorf("floor %q has no reason", name)
		}
	}
}

// faultOfKind says what is wrong with the kind of a package that imports these: a part imports none of its parents, and a door imports
// one that does not import it.
func (f floor) faultOfKind(name string, imports []string) string {
	var parents, imported []string
	for above := path.Dir(name); above != "."; above = path.Dir(above) {
		if _, ok := floors[above]; !ok {
			continue
		}
		parents = append(parents, above)
		if slices.Contains(imports, "patterngate/"+above) {
			imported = append(imported, above)
		}
	}
	switch {
	case len(parents) == 0 && f.kind != "":
		return "is no " + f.kind + ": it has no parent"
	case len(parents) > 0 && f.kind != "part" && f.kind != "door":
		return "is neither a part nor a door; say which"
	case f.kind == "part" && len(imported) > 0:
		return "is a part and imports its parent " + imported[0]
	case f.kind == "door" && len(imported) == 0:
		return "is a door and imports no parent: it is a part"
	case f.kind == "door":
		for _, above := range imported {
			if slices.Contains(strings.Fields(floors[above].own), name) {
				return "is a door of " + above + ", which may not import it"
			}
		}
	}
	return ""
}

// exempt are benchmarks and examples: they may look at everything, nothing may look at them.
func exempt(name string) bool {
	return name == "bench" || name == "examples" || strings.HasPrefix(name, "bench/") || strings.HasPrefix(name, "examples/")
}

func allowed(may floor, module, path string) bool {
	if own, ok := strings.CutPrefix(path, module+"/"); ok {
		return slices.Contains(strings.Fields(may.own), own)
	}
	first, _, _ := strings.Cut(path, "/")
	if !strings.Contains(first, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(strings.Fields(may.outside), func(m string) bool {
		return path == m || strings.HasPrefix(path, m+"/")
	})
}

func list(t *testing.T, pattern string) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Module", pattern).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func TestKinds(t *testing.T) {
	for name, tt := range map[string]struct {
		floor   floor
		pkg     string
		imports []string
		want    string
	}{
		"a floor":                    {floor{}, "gateway", []string{"patterngate/catalog"}, ""},
		"a part":                     {floor{kind: "part"}, "gateway/document", []string{"patterngate/catalog"}, ""},
		"a door":                     {floor{kind: "door"}, "gateway/stopreason", []string{"patterngate/gateway"}, ""},
		"neither":                    {floor{}, "gateway/document", nil, "is neither a part nor a door; say which"},
		"a floor that is called one": {floor{kind: "door"}, "gateway", nil, "is no door: it has no parent"},
		"a part of its parent":       {floor{kind: "part"}, "gateway/stopreason", []string{"patterngate/gateway"}, "is a part and imports its parent gateway"},
		"a door to nothing":          {floor{kind: "door"}, "gateway/document", nil, "is a door and imports no parent: it is a part"},
		"a door that its parent uses": {
			floor{kind: "door"}, "gateway/document", []string{"patterngate/gateway"}, "is a door of gateway, which may not import it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.floor.faultOfKind(tt.pkg, tt.imports); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
