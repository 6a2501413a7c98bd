package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"patterngate/catalog/upstream"
	"patterngate/patterns/local"
	"patterngate/server/buildinfo"
	"patterngate/server/cli/call"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/cli/inbox"
	"patterngate/server/settings"
	"patterngate/server/settings/machine"
)

// demoConfig is the configuration of the demo's server: the embedded default with offline rules and a simulated approver
// with a limit of 800 USD. The environment does not change it.
const demoConfig = `version: 1
llm: {provider: rules}
patterns:
  supervised_refund: {approver: {kind: simulated, cap_usd: 800}}
`

// demoTimeout is the time limit of the whole demo.
const demoTimeout = 2 * time.Minute

// Commands are the commands that show Patterngate at work and check its promises: demo, prove, and the processes that they start.
type Commands struct {
	*console.Console
	Inbox *string // value of --inbox
	// Open opens Patterngate's own server in this process. hook is called at every boundary of the journal.
	Open func(logs io.Writer, hook func(point string)) (call.Server, *local.Engine, error)
}

// Demo returns the command "demo".
func (a *Commands) Demo() *cobra.Command {
	live := false
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the four patterns and attack them, a line an act",
		Long: "Starts the real server as a child over stdio, opens an MCP session and runs the four patterns on the demo data,\n" +
			"then attacks them, and kills the server between a payment and its answer. Nothing leaves this machine; no key is\n" +
			"needed.\n\n" +
			"With --live a refund of 1200 USD waits for you on a page in your browser; the server is killed and started again while\n" +
			"it waits; what you approve is paid, once.",
		Example: "  patterngate demo\n  patterngate demo --live",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if live {
				ctx, cancel := context.WithTimeout(cmd.Context(), liveTime)
				defer cancel()
				return a.live(ctx)
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), demoTimeout)
			defer cancel()
			return a.demo(ctx)
		},
	}
	cmd.Flags().BoolVar(&live, "live", false, "you decide about a refund, on the page, while the server is killed")
	inbox.Flag(cmd, a.Inbox)
	return cmd
}

// demo runs all acts in one session and prints the result of each.
func (a *Commands) demo(ctx context.Context) error {
	console.KeepOnBrokenPipe() // otherwise the directory would remain
	dir, err := os.MkdirTemp("", "patterngate-demo-")
	if err != nil {
		return &console.Error{Code: console.ExitFault, What: "demo", Cause: err, Try: "set TMPDIR to a directory that you may write to"}
	}
	defer os.RemoveAll(dir)
	client, err := a.demoServer(ctx, dir)
	if err != nil {
		return console.Fault("demo", err)
	}
	defer client.Close()
	s := &stage{trial: a, client: client, began: time.Now()}
	for _, act := range demoActs() {
		if err := s.play(ctx, act); err != nil {
			return console.Fault("demo", err)
		}
	}
	if err := s.killed(ctx, dir); err != nil {
		return console.Fault("demo", err)
	}
	return s.bow()
}

// demoServer starts this program as a server over stdio, with its own environment and state.
func (a *Commands) demoServer(ctx context.Context, dir string) (*upstream.Client, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte(demoConfig), 0o600); err != nil {
		return nil, err
	}
	return upstream.Start(ctx, upstream.Program{
		Command: self, Args: []string{"serve", "--config", config, "--state", settings.MemoryState, "--log-level", "warn"}, Dir: dir, Stderr: a.Err,
		Env: append(systemEnvironment(a.Environ), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir),
	}, demoIdentity())
}

// demoIdentity returns the name and version that the demo's client sends.
func demoIdentity() upstream.Identity {
	return upstream.Identity{Name: "patterngate-demo", Version: buildinfo.Read().Version}
}

// systemEnvironment returns the variables without which programs do not start on some systems.
func systemEnvironment(environ []string) []string {
	var env []string
	for _, name := range []string{"SystemRoot", "TMPDIR", "TEMP", "TMP"} {
		if v := machine.Lookup(environ, name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// stage runs acts and keeps their results.
type stage struct {
	trial  *Commands
	client *upstream.Client
	began  time.Time
	played []playedAct
	act    int   // number of the last act that was announced
	lost   error // the error of writing standard output
}

// playedAct is one act as --json shows it.
type playedAct struct {
	Act        int     `json:"act"`
	Title      string  `json:"title"`
	Tool       string  `json:"tool"`
	StopReason string  `json:"stop_reason"`
	Decided    string  `json:"decided"`
	Done       string  `json:"done"`
	Seconds    float64 `json:"seconds"`
	AsExpected bool    `json:"as_expected"`
}

// play makes the act's call and prints its line.
func (s *stage) play(ctx context.Context, act demoAct) error {
	s.announce(act.number, act.headline)
	start := time.Now()
	reply, err := s.client.Call(ctx, act.tool, act.arguments, s.progress)
	if err != nil {
		return err
	}
	took := time.Since(start)
	result := readDemoResult(reply.Structured)
	p := playedAct{
		Act: act.number, Title: act.title, Tool: act.tool, StopReason: result.StopReason, Decided: act.decided(result),
		Done: result.done(), Seconds: float64(took.Milliseconds()) / 1000, AsExpected: act.expects(result),
	}
	s.played = append(s.played, p)
	s.line(p)
	return nil
}

// announce prints an act's headline before its first call.
func (s *stage) announce(number int, headline string) {
	if number != s.act {
		s.act = number
		s.say(s.trial.Err, "\n%s\n", s.trial.Paint(console.Bold, fmt.Sprintf("Act %d: %s", number, headline)))
	}
}

// progress prints one line of a run's progress.
func (s *stage) progress(line string) { s.say(s.trial.Err, "  %s\n", s.trial.Paint(console.Dim, line)) }

// line prints the decision, what was done, the stop reason and the time.
func (s *stage) line(p playedAct) {
	if s.trial.JSON {
		return
	}
	mark := s.trial.Paint(console.Green, "ok")
	if !p.AsExpected {
		mark = s.trial.Paint(console.Red, "NOT AS EXPECTED")
	}
	s.say(s.trial.Out, "%s %d %s: %s; %s; %s; %.2f s\n", mark, p.Act, p.Title, p.Decided, p.Done, p.StopReason, p.Seconds)
}

// bow ends the demo: it prints the JSON document, or what to try next.
func (s *stage) bow() error {
	good := 0
	for _, p := range s.played {
		if p.AsExpected {
			good++
		}
	}
	took := time.Since(s.began).Seconds()
	if s.trial.JSON {
		document := map[string]any{"acts": s.played, "as_expected": good, "seconds": float64(int(took*1000)) / 1000}
		if err := json.NewEncoder(s.trial.Out).Encode(document); err != nil {
			return console.Fault("demo", err)
		}
	} else {
		s.say(s.trial.Out, "\n%d of %d as they should be, in %.1f s. No network, no key.\n", good, len(s.played), took)
		s.say(s.trial.Out, "%s%s\n", tryNext, s.trial.giveToClient())
	}
	if s.lost != nil {
		return console.Fault("demo", s.lost)
	}
	if good < len(s.played) {
		return console.Fault("demo", fmt.Errorf("%d of %d calls did not end as they should", len(s.played)-good, len(s.played)))
	}
	return nil
}

const tryNext = `Try next:
  patterngate tools                        what a client sees
  patterngate stop-reasons --pattern supervised_refund
  patterngate config show                  what is in force
`

// giveToClient returns the text with the entry for a client's file. "go run" deletes the program when it ends, so there is
// no entry for such a program.
func (a *Commands) giveToClient() string {
	program, err := clientfile.ProgramPath(a.Environ)
	if err != nil {
		return "Give it to your client: first build a program that lasts, `go build -o patterngate .`, then run `./patterngate setup CLIENT`."
	}
	path, err := json.Marshal(program)
	if err != nil {
		return "Give it to your client: patterngate setup CLIENT"
	}
	return fmt.Sprintf(`Give it to your client: {"mcpServers": {"patterngate": {"command": %s, "args": ["serve"]}}}`, path)
}

// say prints to one of the streams. It keeps only errors of standard output, since the demo's results must arrive.
func (s *stage) say(to io.Writer, format string, args ...any) {
	if s.trial.JSON && to == s.trial.Err {
		return
	}
	if _, err := fmt.Fprintf(to, format, args...); err != nil && to == s.trial.Out && s.lost == nil {
		s.lost = err
	}
}
