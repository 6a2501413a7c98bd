package cli

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// exampleWorld is what has to be there before an example of a help page is run: commands of a shell, and what placeholders of
// the example stand for.
type exampleWorld struct {
	before string
	put    map[string]string // placeholder: pattern of its value in what the commands before printed
}

// A refund that waits for a person, and its run.
const (
	askForRefund = `patterngate call supervised_refund goal='Refund 1200 USD to user 42 for the annual plan' --quiet || test $? = 7`
	endedRun     = `patterngate call route_ticket ticket='refund for user_id=42' --quiet`
)

var (
	aRun      = `run_[0-9a-f]{16}`
	aRequest  = `ap_[0-9a-f]{16}`
	aDigest   = `sha256:[0-9a-f]{64}`
	ofARun    = exampleWorld{endedRun, map[string]string{"run_5d0c9a1e77b2f340": aRun, "5d0c": aRun}}
	ofAPerson = exampleWorld{askForRefund, map[string]string{"ap_03f2": aRequest, "sha256:...": aDigest}}
	ownPolicy = exampleWorld{before: `mkdir -p .config/patterngate && cp refunds.yaml .config/patterngate/config.yaml`}
)

// exampleWorlds are the examples that need more than an empty home and the files of exampleFiles.
var exampleWorlds = map[string]exampleWorld{
	"patterngate approvals list":                                                     ofAPerson,
	"patterngate approvals list --rule big_refund":                                   ofAPerson,
	"patterngate approvals list --all --json":                                        ofAPerson,
	"patterngate runs list --status waiting":                                         ofAPerson,
	"patterngate runs list --since 7d --stop-reason in_doubt":                        ofARun,
	"patterngate runs prune --older-than 90d --dry-run":                              ofARun,
	"patterngate runs stats --by model --since 30d":                                  ofARun,
	"patterngate runs stats --by day --json":                                         ofARun,
	"patterngate approvals approve ap_03f2 --digest sha256:...":                      ofAPerson,
	"patterngate approvals reject ap_03f2 --comment 'ask the customer first'":        ofAPerson,
	"patterngate runs export 5d0c -o run.jsonl && patterngate runs verify run.jsonl": ofARun,
	"patterngate runs verify 5d0c":                                                   ofARun,
	"patterngate kill-switch off":                                                    {before: "patterngate kill-switch on"},
	"patterngate kill-switch off --tool refund_charge":                               {before: "patterngate kill-switch on --tool refund_charge"},
	"patterngate policy test refunds --junit policy.xml":                             ownPolicy,
	"patterngate policy diff old.policy.yaml new.policy.yaml --policy refunds":       ownPolicy,
	"patterngate policy diff pg.yaml new.yaml":                                       {},
}

// exampleCodes are the exit codes of examples that rightly do not end with 0: what they print is what was asked for.
var exampleCodes = map[string]int{
	// The run waits for the next action of its caller.
	`patterngate call supervised_refund --args @refund.json actions:='[{"name":"get_refund_context","args":{"user_id":42}}]'`: 7,
	"patterngate policy coverage": exitFault, // it finds an argument that no rule reads
}

// notRun are the examples that no test can run offline, with the reason.
var notRun = map[string]string{
	"patterngate call route_ticket ticket=@ticket.txt --url https://gate.example.com/mcp":            "the server is on another machine",
	"patterngate call echo message=hello --command 'npx -y @modelcontextprotocol/server-everything'": "npx loads the server from the network",
	"patterngate approvals approve ap_03f2 --edit amount_usd=800 --comment 'as the contract says'":   "a person reads the call at a terminal first",
	"patterngate inbox":                                         "it opens a browser",
	"patterngate inbox --print":                                 "the link is printed at a terminal only",
	"patterngate demo --live":                                   "it opens a browser and waits for a person",
	"patterngate serve --http 127.0.0.1:8765":                   "it takes a fixed port and ends when it is interrupted",
	"patterngate serve --http 0.0.0.0:8765 --token-file tokens": "it takes a fixed port and ends when it is interrupted",
	"patterngate prove --quick":                                 "TestProve does the same work, and takes most of a minute",
	"patterngate prove --seed 7 --json":                         "it kills hundreds of processes, for minutes",
}

// notPrepared are the examples for which this test has no world yet. They need what only a long set-up makes: a run in doubt, a
// server with imported tools, a policy of one's own tools, a program that is no temporary build. Their flags are checked by the test below. The list may only get
// shorter.
var notPrepared = []string{
	"patterngate catalog accept", "patterngate catalog test", "patterngate init --import", "patterngate policy coverage refunds",
	"patterngate policy explain", "patterngate runs settle", "patterngate runs verify run.jsonl --head", "patterngate policy record", "patterngate policy backtest", "patterngate setup",
	"patterngate doctor claude-desktop", "patterngate validate pg.yaml --strict",
}

func isNotPrepared(line string) bool {
	return slices.ContainsFunc(notPrepared, func(start string) bool { return strings.HasPrefix(line, start) })
}

// exampleLines are the examples of all help pages, without their remarks.
func exampleLines() []string {
	var lines []string
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "   #")
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk((&app{}).root())
	slices.Sort(lines)
	return slices.Compact(lines)
}

// Every example of every help page does what the page promises: it ends with the exit code of success.
func TestHelpExamples(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the examples are written for a shell that Windows has not")
	}
	lines := exampleLines()
	if len(lines) < 60 {
		t.Errorf("the help pages have %d examples, want more: are they still found?", len(lines))
	}
	for _, line := range slices.Concat(slices.Collect(maps.Keys(notRun)), slices.Collect(maps.Keys(exampleWorlds)), slices.Collect(maps.Keys(exampleCodes))) {
		if !slices.Contains(lines, line) {
			t.Errorf("no help page has the example %s", line)
		}
	}
	for _, line := range lines {
		if notRun[line] != "" || isNotPrepared(line) {
			continue
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			w := exampleWorlds[line]
			home := exampleHome(t)
			said, code := inShell(t, home, w.before)
			if code != 0 {
				t.Fatalf("what comes before ends with %d:\n%s", code, said)
			}
			run := line
			for _, placeholder := range slices.Backward(slices.Sorted(maps.Keys(w.put))) { // the longer of two that begin alike first
				value := regexp.MustCompile(w.put[placeholder]).FindString(said)
				if value == "" {
					t.Fatalf("nothing to put for %s in:\n%s", placeholder, said)
				}
				run = strings.ReplaceAll(run, placeholder, value)
			}
			if said, code := inShell(t, home, run); code != exampleCodes[line] {
				t.Errorf("%s\nends with %d, want %d:\n%.2000s", run, code, exampleCodes[line], said)
			}
		})
	}
}

// The examples that are not run name commands and flags that there are.
func TestHelpExamplesThatAreNotRun(t *testing.T) {
	for _, line := range exampleLines() {
		if command, is := strings.CutPrefix(line, "patterngate "); is && (notRun[line] != "" || isNotPrepared(line)) {
			command, _, _ = strings.Cut(command, " --command ") // what follows is another program's
			if fault := faultOfCommand(command); fault != "" {
				t.Errorf("%s: %s", line, fault)
			}
		}
	}
}

// exampleHome is a home with the files that examples name.
func exampleHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	refunds, err := os.ReadFile(filepath.Join("..", "..", "examples", "refunds.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"plan.json": `{"kind": "plan", "steps": [
			{"id": "who", "title": "Manager", "tool": "get_manager_profile", "args": {"manager_id": 42}},
			{"id": "sales", "title": "Sales", "tool": "fetch_sales_data", "args": {"month": "2026-04"}},
			{"id": "kpis", "title": "KPIs", "tool": "calculate_monthly_kpis", "args": {"month": "2026-04"}}]}`,
		"refund.json":         `{"goal": "Refund 1200 USD to user 42 for the annual plan"}`,
		"ticket.txt":          "I want my money back: refund for user_id=42",
		"pg.yaml":             "version: 1\n",
		"new.yaml":            "version: 1\n",
		"refunds.yaml":        string(refunds),
		"refunds.policy.yaml": examplePolicy(string(refunds)),
		"old.policy.yaml":     examplePolicy(string(refunds)),
		"new.policy.yaml":     examplePolicy(string(refunds)),
		"bin/patterngate":     fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asProgram, self),
	}
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// examplePolicy is the policy of a configuration file as a file of its own.
func examplePolicy(config string) string {
	_, policy, _ := strings.Cut(config, "\n  refunds:\n")
	var own strings.Builder
	for line := range strings.Lines(policy) {
		if inner, is := strings.CutPrefix(line, "    "); is {
			own.WriteString(inner)
			continue
		}
		break
	}
	return own.String()
}

// inShell runs a command line as a person would type it, with nothing on standard input.
func inShell(t *testing.T, home, line string) (said string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "TMPDIR=" + home, "PATH=" + filepath.Join(home, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"), "PAY_TOKEN=s3cr3t"}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
