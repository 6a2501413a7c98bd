package trial

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patterngate/catalog/upstream"
	"patterngate/patterns/local"
	"patterngate/server/buildinfo"
	"patterngate/server/cli/call"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/cli/inbox"
	"patterngate/server/cli/story"
	"patterngate/server/settings"
	"patterngate/server/settings/machine"
)

// capUSD is what the simulated approver of the demo allows of a larger refund.
const capUSD = 800

// demoConfig is the configuration of the demo's server: the embedded default with offline rules and a simulated approver.
// The environment does not change it.
var demoConfig = fmt.Sprintf(`version: 1
llm: {provider: rules}
patterns:
  supervised_refund: {approver: {kind: simulated, cap_usd: %d}}
`, capUSD)

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
		Use:     "demo",
		Short:   demoShort,
		Long:    demoHelp,
		Example: demoExamples,
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
	cmd.Flags().BoolVar(&live, "live", false, liveFlag)
	inbox.Flag(cmd, a.Inbox)
	return cmd
}

// demo plays the story: all calls in one session, and the kill.
func (a *Commands) demo(ctx context.Context) error {
	console.KeepOnBrokenPipe() // otherwise the directory would remain
	dir, err := os.MkdirTemp("", "patterngate-demo-")
	if err != nil {
		return noDirectory("demo", err)
	}
	defer os.RemoveAll(dir)
	client, err := a.demoServer(ctx, dir)
	if err != nil {
		return console.Fault("demo", err)
	}
	defer client.Close()
	s := a.stage(false)
	if err := s.Play(ctx, client); err != nil {
		return console.Fault("demo", err)
	}
	if err := s.killed(ctx, dir); err != nil {
		return console.Fault("demo", err)
	}
	return s.End()
}

// noDirectory returns the failure of a command that cannot make its temporary directory.
func noDirectory(command string, err error) error {
	return &console.Error{Code: console.ExitFault, What: command, Cause: err, Try: tryTemporary}
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

// stage is the teller of a demo, and what starts its processes.
type stage struct {
	*story.Teller
	trial *Commands
}

func (a *Commands) stage(live bool) *stage {
	t := story.New(a.Console, capUSD)
	t.Program, t.Temporary, t.Live = a.program(), clientfile.Temporary(), live
	return &stage{Teller: t, trial: a}
}

// program returns how a person starts this program: its name if a shell finds it, otherwise the path that they typed.
func (a *Commands) program() string {
	const name = "patterngate"
	typed := os.Args[0]
	switch {
	case clientfile.Temporary():
		return "./" + name // after the build that the demo advises
	case strings.ContainsRune(typed, filepath.Separator) && len(typed) <= maxTyped:
		return console.ShellWord(runtime.GOOS, typed)
	}
	return name
}

// maxTyped is how long a path can be that the demo repeats.
const maxTyped = 20
