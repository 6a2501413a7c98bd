package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"patterngate/catalog/upstream"
	"patterngate/gateway"
	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
	"patterngate/server/cli/toolargs"
	"patterngate/server/settings"
	"patterngate/server/settings/machine"
)

// openTimeout and callTimeout limit a call. To wait less, end the command, which cancels the call.
const (
	openTimeout = time.Minute // until the server's tools are known
	callTimeout = time.Hour   // the longest time-out that a configuration can set
)

// toolCall is one invocation of call.
//
//	words, --args, files ──▶ given ──typed by the tool's schema──▶ one JSON object ──tools/call──▶ result ──▶ text, exit code
type toolCall struct {
	*Commands
	name    string        // of the tool
	args    string        // --args
	url     string        // of another server
	command string        // that starts another server
	wait    time.Duration // how long to follow the run; 0: not at all
	quiet   bool
	dry     bool          // only judge the call, see dry.go
	errs    *lockedWriter // standard error, also for the server's log and progress

	followed string // the run that is being followed; "": none yet
}

const callHelp = "Calls one tool and prints its result. Without --url or --command, a server in this process answers, " +
	"with the configuration and the state file that \"serve\" would use.\n\n" +
	"An ARGUMENT is one of:\n" +
	"  key=value     text, number, true or false, as the schema of the tool wants it\n" +
	"  key=@FILE     the same, read from a file; @- is standard input\n" +
	"  key:=JSON     JSON\n\n" +
	"Exit codes: 0 ok, 2 refused request, 3 blocked or rejected, 7 waiting; all are in docs/call.md."

const callExamples = `  patterngate call route_ticket ticket='I want my money back: refund for user_id=42'
  patterngate call run_task_decomposition goal='April report' plan=@plan.json finalize=false
  patterngate call supervised_refund --args @refund.json --dry-run
  echo '{"ticket":"refund for user_id=42"}' | patterngate call route_ticket --args -
  patterngate call route_ticket ticket=@ticket.txt --url https://gate.example.com/mcp
  patterngate call echo message=hello --command 'npx -y @modelcontextprotocol/server-everything'`

// Commands is the command that calls a tool.
type Commands struct {
	*console.Console
	Config  *string                              // value of --config
	State   *string                              // value of --state
	Open    func(logs io.Writer) (Server, error) // opens Patterngate's own server in this process
	Offered func() ([]upstream.Tool, error)      // returns the tools of that server, which it does not open
}

// Command returns the command "call".
func (a *Commands) Command() *cobra.Command {
	c := &toolCall{Commands: a}
	cmd := &cobra.Command{
		Use:     "call TOOL [ARGUMENT]...",
		Short:   "Call one tool and print its result",
		Long:    callHelp,
		Example: callExamples,
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) == 0 {
				return console.Usage("call", errors.New("name the tool"), "patterngate tools")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := c.checkWait(cmd.Flags().Changed("wait")); err != nil {
				return err
			}
			switch named := cmd.Flags().Changed("url"); {
			case named && cmd.Flags().Changed("command"):
				return console.Usage("call", errors.New("--url and --command name two servers"), "only one of them")
			case !named && c.command == "":
				c.url = machine.Lookup(a.Environ, settings.UrlVariable)
			}
			return c.run(cmd.Context(), words[0], words[1:])
		},
		ValidArgsFunction: c.complete,
	}
	flags := cmd.Flags()
	flags.StringVar(&c.args, "args", "", "a JSON object of arguments: `JSON`, @FILE, or - for standard input")
	flags.StringVar(&c.url, "url", "", "call the server at this `URL` (default: PATTERNGATE_URL)")
	flags.StringVar(&c.command, "command", "", "call the server that this command `LINE` starts")
	flags.DurationVar(&c.wait, "wait", 0, "follow the run for this `TIME`, such as 90s or 10m")
	flags.BoolVar(&c.dry, "dry-run", false, "only judge the calls; exit code 3 if one would be blocked or wait")
	flags.BoolVar(&c.quiet, "quiet", false, "print no progress")
	return cmd
}

// Tool calls a tool of Patterngate's own server with arguments as --args takes them, and words key=value. It prints the result.
func (a *Commands) Tool(ctx context.Context, name, args string, words []string) error {
	c := &toolCall{Commands: a, args: args}
	return c.run(ctx, name, words)
}

// run makes the call and prints the result.
func (c *toolCall) run(ctx context.Context, name string, words []string) error {
	console.KeepOnBrokenPipe() // the call goes on if the reader of the output ends
	stop := context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) })
	defer stop() // a second interrupt ends the command at once
	c.errs = &lockedWriter{to: c.Err}
	defer c.errs.end()

	c.name = name
	read, err := toolargs.Read(ctx, c.In, c.args, words)
	if err != nil {
		return err
	}
	if !c.quiet { // only now: a person may have typed the arguments
		c.errs.line = c.Spin(calling(name))
		defer c.errs.line.Stop()
	}
	to, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer to.close()
	tool, err := to.tool(ctx, name)
	if err != nil {
		return err
	}
	arguments, err := read.Object(tool.Input)
	if err == nil && c.dry {
		arguments, err = dryRunOf(tool, arguments)
	}
	if err != nil {
		return console.Usage("call "+tool.Name, err, "patterngate tools "+tool.Name)
	}
	c.noteMisspelt(read.Unknown(tool.Input))
	return c.make(ctx, to, tool, arguments)
}

// noteMisspelt names the arguments that a person meant. The result names those that are nearer.
func (c *toolCall) noteMisspelt(unknown, known []string) {
	for _, name := range unknown {
		if near := gateway.NearTyped(name, known); near != "" && gateway.Near(name, known) == "" {
			c.note(misspelt(console.Typed(name), near))
		}
	}
}

// make makes the call, follows its run if requested, and prints the result.
func (c *toolCall) make(ctx context.Context, to *callee, tool upstream.Tool, arguments json.RawMessage) error {
	until := time.Now().Add(c.wait)
	result, err := c.call(ctx, to, tool.Name, c.patience(tool, arguments, c.wait))
	if err == nil {
		result, err = c.follow(ctx, to, result, until)
	}
	return c.conclude(ctx, to, result, err)
}

// call makes one call.
func (c *toolCall) call(ctx context.Context, to *callee, tool string, arguments json.RawMessage) (upstream.Result, error) {
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return to.client.CallRaw(limited, tool, arguments, c.progress())
}

// conclude prints a result and returns the outcome of the command. With an error, the result is the server's last one for a
// call that was given up, if there is one.
func (c *toolCall) conclude(ctx context.Context, to *callee, result upstream.Result, failed error) error {
	if failed != nil && result.Raw == nil {
		return c.failed(ctx, failed)
	}
	c.errs.line.Stop()
	e, ours := readEnvelope(result.Structured)
	if failed != nil && ctx.Err() != nil && ours && e.Status == "running" {
		return c.interrupted(ctx, to, result, e)
	}
	code, written := c.print(c.name, result)
	if left := to.leftBehind(e); ours && left != "" && written == nil {
		c.note(left)
	}
	if ours && e.Joined && written == nil && to.earlier != nil && to.earlier(e.RunID) {
		c.note(joinedEarlier(e.RunID, e.exit() == exitWaiting))
	}
	if ours && e.Demo && e.NoResult && written == nil && to.sample != nil {
		if sample := to.sample(c.name); sample != "" {
			c.note(demoDataOnly(sample))
		}
	}
	if ours && written == nil && to.cause != nil && (e.NoResult || e.Status == "stopped") {
		c.why(to.cause(e.RunID))
	}
	switch {
	case failed != nil:
		return c.failed(ctx, failed)
	case written != nil:
		return written
	case code != console.ExitDone:
		return console.ExitCode(code)
	}
	return nil
}

// interrupted says what happens to a run that was not cancelled with the command. A run whose server was in this process does not go on
// by itself: for people the commands for it take the place of the result, which only says that the run goes on.
func (c *toolCall) interrupted(ctx context.Context, to *callee, result upstream.Result, e envelope) error {
	if !to.here || c.JSON || c.quiet {
		if _, err := c.print(c.name, result); err != nil {
			return err
		}
	}
	c.errs.line.Stop()
	switch {
	case !to.here:
		c.note(notCancelled(e.RunID))
	case to.kept:
		c.note(goesOnLater(e.RunID))
	default:
		c.note(interruptedInMemory)
	}
	return ctx.Err()
}

// leftBehind returns what happens to an unfinished run when its server in this process ends. It returns "" if there is
// nothing to say.
func (s *callee) leftBehind(e envelope) string {
	switch {
	case !s.here || e.exit() != exitWaiting:
		return ""
	case !s.kept:
		return notKept
	case e.Status == "running":
		return isRecorded(waitTool, e.RunID)
	}
	return ""
}

// failed returns the error of a call without a result, or without a valid one.
func (c *toolCall) failed(ctx context.Context, err error) error {
	what := "call " + c.name
	switch refused, _ := errors.AsType[*upstream.RPCError](err); {
	case ctx.Err() != nil && c.followed != "":
		c.note(notCancelled(c.followed))
		return ctx.Err()
	case ctx.Err() != nil:
		c.note(toldToCancel)
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return console.Fault(what, errors.New(noAnswerWithin(callTimeout)))
	case errors.Is(err, upstream.ErrTooLarge):
		return console.Usage(what, err, "send shorter arguments")
	case refused != nil && refused.InvalidParams():
		return console.Usage(what, err, "")
	}
	return console.Fault(what, err)
}

// note prints a line for a person on standard error, unless --quiet is set.
func (c *toolCall) note(text string) {
	if !c.quiet {
		_, _ = fmt.Fprintln(c.errs, printable.Text("call: "+text))
	}
}

// maxCause is the maximum length of a cause in bytes.
const maxCause = 500

// why prints why a call failed on standard error, unless it is unknown. It is part of the outcome, not progress: --quiet does not hide it.
func (c *toolCall) why(cause string) {
	if cause != "" {
		_, _ = fmt.Fprintln(c.errs, printable.Text(becauseOf(console.Cut(cause, maxCause))))
	}
}

// maxProgressLine is the maximum length of a line of progress in bytes.
const maxProgressLine = 200

// progress returns the function that shows a call's progress, or nil with --quiet. At a terminal it is one line that
// changes; elsewhere each step is a line. A line that says the same as the line before it is left out.
func (c *toolCall) progress() func(string) {
	if c.quiet {
		return nil
	}
	if c.errs.line != nil {
		return c.errs.line.Say
	}
	color, before := c.ColoredAt(c.Err), ""
	return func(line string) {
		if line == before {
			return
		}
		before = line
		_, _ = fmt.Fprintln(c.errs, console.Paint(color, console.Dim, printable.Text(console.Cut(line, maxProgressLine))))
	}
}

// lockedWriter is standard error for several writers. After end it drops what they write.
type lockedWriter struct {
	mu   sync.Mutex
	to   io.Writer
	line *console.Spinner // removed while something else is written; nil: none
	over bool
}

// Write implements [io.Writer].
func (w *lockedWriter) Write(text []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return len(text), nil
	}
	w.line.Pause(func() { n, err = w.to.Write(text) })
	return n, err
}

func (w *lockedWriter) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}
