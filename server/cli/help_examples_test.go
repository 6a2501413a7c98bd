package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/settings"
)

// exitWaiting is the exit code of a call whose run runs or waits.
const exitWaiting = 7

// exampleWorld is what must exist before an example of a help page runs. Its zero value is an empty home with the files of
// exampleHome. The steps run in the order of the fields.
type exampleWorld struct {
	prepare func(t *testing.T, home string) (said string) // what a shell cannot prepare
	before  string                                        // commands of a shell
	put     map[string]string                             // placeholder of the example: pattern of its value in what was printed before
	as      map[string]string                             // text of the example: what stands for it here
	keys    []keystroke                                   // the example runs at a terminal, where a person presses these
}

// keystroke is what a person presses as soon as the terminal shows a text.
type keystroke struct{ shown, press string }

// A refund that waits for a person, and its run.
const (
	askForRefund = `patterngate call supervised_refund goal='Refund 1200 USD to user 42 for the annual plan' --quiet || test $? = 7`
	endedRun     = `patterngate call route_ticket ticket='refund for user_id=42' --quiet`
)

var (
	aRun      = `\brun_[0-9a-f]{16}\b`
	aRequest  = `ap_[0-9a-f]{16}`
	aDigest   = `sha256:[0-9a-f]{64}`
	theRun    = map[string]string{"run_5d0c9a1e77b2f340": aRun, "5d0c": aRun}
	ofARun    = exampleWorld{before: endedRun, put: theRun}
	ofAPerson = exampleWorld{before: askForRefund, put: map[string]string{"ap_03f2": aRequest, "sha256:...": aDigest}}
	ofADoubt  = exampleWorld{prepare: refundInDoubt, put: map[string]string{"71aa": aRun}}
	ownPolicy = exampleWorld{before: `mkdir -p .config/patterngate && cp refunds.yaml .config/patterngate/config.yaml`}
	// The configuration of examples/orders, over a real MCP server.
	ownServer   = exampleWorld{before: haveOrders}
	accepted    = exampleWorld{before: haveOrders + acceptAll}
	recorded    = exampleWorld{before: haveOrders + acceptAll + readAnOrder, put: theRun}
	accepting   = exampleWorld{before: haveOrders, keys: []keystroke{{"? [y/N] ", "y\r"}}}
	ofCursor    = exampleWorld{before: `mkdir -p .cursor && cp client.json .cursor/mcp.json`}
	ofDesktop   = exampleWorld{before: `for dir in .config/Claude 'Library/Application Support/Claude'; do mkdir -p "$dir" && cp client.json "$dir/claude_desktop_config.json"; done`}
	freePort    = map[string]string{":8765": ":0"}
	interrupted = []keystroke{{"http://127.0.0.1:", "\x03"}}
	stopped     = []keystroke{{"tools=", "\x03"}}
)

// Commands before examples, each on a line of its own.
const (
	haveOrders  = "mkdir -p .config/patterngate/orders && cp orders.yaml .config/patterngate/config.yaml\n"
	acceptAll   = "patterngate catalog accept --yes || exit\n"
	readAnOrder = `patterngate call refund_order goal='Look at it' order_id=A-1001 --quiet \
		actions:='[{"kind":"tool","name":"read_order","args":{"path":"A-1001.json"}},{"kind":"final","answer":"It is there."}]'` + "\n"
)

// exampleWorlds are the examples that need more than an empty home and the files of exampleFiles.
var exampleWorlds = map[string]exampleWorld{
	"patterngate approvals list":                                                                      ofAPerson,
	"patterngate approvals list --rule big_refund":                                                    ofAPerson,
	"patterngate approvals list --all --json":                                                         ofAPerson,
	"patterngate runs list --status waiting":                                                          ofAPerson,
	"patterngate runs list --since 7d --stop-reason in_doubt":                                         ofARun,
	"patterngate runs prune --older-than 90d --dry-run":                                               ofARun,
	"patterngate runs stats --by model --since 30d":                                                   ofARun,
	"patterngate runs stats --by day --json":                                                          ofARun,
	"patterngate approvals approve ap_03f2 --digest sha256:...":                                       ofAPerson,
	"patterngate approvals reject ap_03f2 --comment 'ask the customer first'":                         ofAPerson,
	"patterngate runs export 5d0c -o run.jsonl && patterngate runs verify run.jsonl":                  ofARun,
	"patterngate runs verify 5d0c":                                                                    ofARun,
	"patterngate approvals show ap_03f2":                                                              ofAPerson,
	"patterngate runs show 5d0c":                                                                      ofARun,
	"patterngate runs show 5d0c --receipt":                                                            ofARun,
	"patterngate runs show 5d0c --step 1":                                                             ofARun,
	"patterngate runs trace 5d0c":                                                                     ofARun,
	"patterngate runs trace 5d0c --json":                                                              ofARun,
	"patterngate runs head 5d0c":                                                                      ofARun,
	"patterngate runs resume":                                                                         ofARun,
	"patterngate runs resume 5d0c":                                                                    ofARun,
	"patterngate runs verify --all":                                                                   ofARun,
	"patterngate runs cancel 5d0c --reason 'started twice'":                                           {before: askForRefund, put: theRun},
	"patterngate state backup copy.db":                                                                ofARun,
	"patterngate kill-switch off":                                                                     {before: "patterngate kill-switch on"},
	"patterngate kill-switch off --tool refund_charge":                                                {before: "patterngate kill-switch on --tool refund_charge"},
	"patterngate policy test refunds --junit policy.xml":                                              ownPolicy,
	"patterngate policy diff old.policy.yaml new.policy.yaml --policy refunds":                        ownPolicy,
	"patterngate policy diff pg.yaml new.yaml":                                                        {},
	"patterngate catalog accept":                                                                      accepting,
	"patterngate catalog accept orders/read_text_file":                                                accepting,
	`patterngate catalog test read_order path=A-1001.json`:                                            accepted,
	`patterngate catalog test read_order --args '{"path":"A-1001.json"}'`:                             accepted,
	"patterngate policy explain --tool refund_charge --args @call.json":                               ownServer,
	"patterngate policy explain --tool refund_charge --args @call.json --effects @before.json":        ownServer,
	"patterngate policy coverage refunds --ignore unread --json":                                      recorded,
	"patterngate policy coverage refunds --ignore refund_charge.reason":                               recorded,
	"patterngate policy record 5d0c":                                                                  recorded,
	"patterngate policy record run_5d0c9a1e77b2f340 --policy refunds --print":                         recorded,
	"patterngate policy backtest new.yaml --since 30d":                                                {before: recorded.before + "cp -r .config/patterngate/. . && mv config.yaml new.yaml"},
	"patterngate policy backtest refunds.policy.yaml --policy refunds --json":                         {before: recorded.before + "cp orders.policy.yaml refunds.policy.yaml"},
	`patterngate runs settle 71aa issue_refund#1 --happened --result '{"refund_id":"rf_1"}'`:          ofADoubt,
	"patterngate runs settle 71aa issue_refund#1 --did-not-happen --comment 'no entry in the ledger'": ofADoubt,
	"patterngate runs verify run.jsonl --head 12:0f3a...": {
		before: endedRun + ` && run=$(patterngate runs list --json | grep -o 'run_[0-9a-f]\{16\}' | head -n 1) && patterngate runs export $run -o run.jsonl && patterngate runs head $run | sed 's/.* \([0-9]*\) sha256:/\1:/'`,
		put:    map[string]string{"12:0f3a...": `[0-9]+:[0-9a-f]{64}`},
	},
	"patterngate init --import claude-desktop":                                                  ofDesktop,
	"patterngate init --import .mcp.json -o team.yaml --read files/read_text_file --no-replace": {before: "cp client.json .mcp.json"},
	"patterngate init --import cursor --allow crm/add_note --replace":                           ofCursor,
	"patterngate init --import claude-code":                                                     {before: "cp client.json .claude.json"},
	"patterngate init --import cursor --undo":                                                   {before: ofCursor.before + " && patterngate init --import cursor --allow crm/add_note --replace"},
	"patterngate setup claude-desktop --write":                                                  ofDesktop,
	"patterngate setup claude-desktop --undo":                                                   {before: ofDesktop.before + " && patterngate setup claude-desktop --write"},
	"patterngate doctor claude-desktop --verbose":                                               {before: "patterngate setup claude-desktop --write"},
	"patterngate approvals approve ap_03f2 --edit amount_usd=800 --comment 'as the contract says'": {
		before: askForRefund, put: map[string]string{"ap_03f2": aRequest}, keys: []keystroke{{"Approve it? [y/N] ", "y\r"}},
	},
	"patterngate inbox --print":                                 {as: map[string]string{"--print": "--print --inbox 127.0.0.1:0"}, before: askForRefund, keys: interrupted},
	"patterngate serve --http 127.0.0.1:8765":                   {as: freePort, keys: stopped},
	"patterngate serve --http 0.0.0.0:8765 --token-file tokens": {before: `echo "ci: $(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')" > tokens && chmod 600 tokens`, as: freePort, keys: stopped},
}

// exampleCodes are the exit codes of examples that rightly do not end with 0: what they print is what was asked for.
var exampleCodes = map[string]int{
	"patterngate policy coverage": console.ExitFault, // it finds an argument that no rule reads
}

// notRun are the examples that no test can run, with the reason. Another test checks their commands and flags.
var notRun = map[string]string{
	"patterngate call route_ticket ticket=@ticket.txt --url https://gate.example.com/mcp":            "the server is on another machine",
	"patterngate call echo message=hello --command 'npx -y @modelcontextprotocol/server-everything'": "npx loads the server from the network",
	"patterngate runs take-over 5d0c --reason 'the server hangs'":                                    "a server has to hang; TestRunsCommands takes one over",
	"patterngate approvals keys remove key_1f60":                                                     "a person types a passphrase; TestApproverKeys removes one",
	"patterngate inbox":                 "it opens a browser",
	"patterngate demo --live":           "it opens a browser; TestLiveDemo plays the person",
	"patterngate prove --quick":         "TestProve does the same work, and takes most of a minute",
	"patterngate prove --seed 7 --json": "it kills hundreds of processes, for minutes",
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
	walk((&app{Invocation: &invocation.Invocation{}}).root())
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
	few := os.Getenv("CI") == "" // all of them start more than a hundred processes: every third that needs nothing before it
	for i, line := range lines {
		if _, needs := exampleWorlds[line]; notRun[line] != "" || few && (needs || i%3 > 0) {
			continue
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			w := exampleWorlds[line]
			if w.keys != nil && atTerminal == nil {
				t.Skip("this machine's terminals are not known to the tests")
			}
			home, said := exampleHome(t), ""
			if w.prepare != nil {
				said = w.prepare(t, home)
			}
			before, code := inShell(t, home, w.before)
			if said += before; code != 0 {
				t.Fatalf("what comes before ends with %d:\n%s", code, said)
			}
			run := line
			for text, other := range w.as {
				run = strings.ReplaceAll(run, text, other)
			}
			var put []string
			for _, placeholder := range slices.Backward(slices.Sorted(maps.Keys(w.put))) { // the longer of two that begin alike first
				value := regexp.MustCompile(w.put[placeholder]).FindString(said)
				if value == "" {
					t.Fatalf("nothing to put for %s in:\n%s", placeholder, said)
				}
				put = append(put, placeholder, value)
			}
			run = strings.NewReplacer(put...).Replace(run)
			if w.keys != nil {
				said, code = atTerminal(t, shellCommand(t, home, "exec "+run), w.keys) // the shell would die of Ctrl-C
			} else {
				said, code = inShell(t, home, run)
			}
			if code != exampleCodes[line] {
				t.Errorf("%s\nends with %d, want %d:\n%.2000s", run, code, exampleCodes[line], said)
			}
		})
	}
}

// Every example names a command and flags that exist. What surrounds the command in a shell is not read.
func TestHelpExamplesNameCommands(t *testing.T) {
	for _, line := range exampleLines() {
		if _, after, is := strings.Cut(line, "patterngate "); is {
			command, _, _ := strings.Cut(after, " --command ") // the arguments of another program follow
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
	orders, err := os.ReadFile(filepath.Join("..", "..", "examples", "orders", "patterngate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	self := installedSetup(t)
	server := filepath.Join(home, "bin", "mcp-server-filesystem")
	client, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{
		"files": map[string]any{"command": server, "args": []string{"/srv"}}, "crm": map[string]any{"command": server, "args": []string{"crm"}},
	}}, "", "  ")
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
		"orders.yaml":         withTests(string(orders)),
		"orders.policy.yaml":  examplePolicy(string(orders)),
		"call.json":           `{"order_id": "A-1001", "amount_cents": 12000, "reason": "broken glass"}`,
		"before.json":         `[{"tool": "read_order", "args": {"path": "A-1001.json"}}]`,
		"client.json":         string(client),
		"tools.json": `[
			{"name": "list_directory", "description": "Lists a directory.", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}},
			{"name": "read_text_file", "description": "Reads a file.", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}},
			{"name": "add_note", "description": "Adds a note.", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]`,
		"bin/mcp-server-filesystem": fmt.Sprintf("#!/bin/sh\n%s='%s' %s='%s' exec '%s'\n", sceneTools, filepath.Join(home, "tools.json"), sceneCalls, filepath.Join(home, "calls"), self),
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
	if err := os.Symlink(self, filepath.Join(home, "bin", "patterngate")); err != nil {
		t.Fatal(err)
	}
	return home
}

// withTests adds tests to the policy of a configuration, so that each rule decides in one.
func withTests(config string) string {
	const head = "    tests: "
	before, after, _ := strings.Cut(config, head)
	rest, list, _ := strings.Cut(after, "\n")
	return before + head + rest + `
    - {name: reads, input: {order_id: A-1001}, call: {tool: read_order, args: {path: A-1001.json}}, want: approve}
    - {name: ends, input: {order_id: A-1001}, call: {tool: final, args: {answer: Done.}}, want: approve}
` + list
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

// atTerminal runs a command at a terminal, where a person presses these keys. Nil: the tests have no terminals here.
var atTerminal func(t *testing.T, cmd *exec.Cmd, keys []keystroke) (said string, code int)

// inShell runs a command line as a person would type it, with nothing on standard input.
func inShell(t *testing.T, home, line string) (said string, code int) {
	t.Helper()
	cmd := shellCommand(t, home, line)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// shellCommand is a command line of a shell in a home.
func shellCommand(t *testing.T, home, line string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "TMPDIR=" + home, "PATH=" + filepath.Join(home, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"), "PAY_TOKEN=s3cr3t"}
	return cmd
}

// refundInDoubt makes a run that waits for a person to say what became of its refund: the program was killed while it paid.
func refundInDoubt(t *testing.T, home string) (said string) {
	t.Helper()
	outside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	paying := make(chan struct{}, 1)
	go func() {
		for {
			conn, err := outside.Accept()
			if err != nil {
				return
			}
			if asked, _ := bufio.NewReader(conn).ReadString('\n'); strings.Contains(asked, `"tool":"issue_refund"`) {
				paying <- struct{}{}
				defer conn.Close() // nobody gets an answer before
				continue
			}
			_, _ = conn.Write([]byte("{}\n")) // who asked sees what is missing
			_ = conn.Close()
		}
	}()
	call := "exec env " + settings.LedgerVariable + "=" + outside.Addr().String() + `/books?plain patterngate call supervised_refund goal='Refund user 42' --quiet \
		actions:='[{"kind":"tool","name":"get_refund_context","args":{"user_id":42}},{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":20,"reason":"broke"}}]'`
	first := shellCommand(t, home, call)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = first.Wait() // killed
	}()
	select {
	case <-paying:
	case <-ended:
		t.Fatal("the refund ends before it is paid")
	}
	_ = first.Process.Kill() // it is gone, or the next call says what is wrong
	<-ended
	said, code := inShell(t, home, call)
	if code != exitWaiting || !strings.Contains(said, "WAITING settlement") {
		t.Fatalf("the refund ends with %d, want a wait for its settlement:\n%s", code, said)
	}
	return said
}
