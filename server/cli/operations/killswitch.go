package operations

import (
	"errors"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/cli/signing"
	"patterngate/server/cli/statefile"
)

// Commands has what the commands need that operators use on running servers. All fields are needed.
type Commands struct {
	*invocation.StateFile
	*signing.Signer
}

// KillSwitch returns the command "kill-switch".
func (a *Commands) KillSwitch() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kill-switch",
		Short: "Stop calls at once: all calls, one tool or one pattern",
		Long: "While a kill switch is on, runs stop before their next call with the stop reason kill_switch. A new run is " +
			"recorded and stops before its first call. The switch holds for every process with this state file, also after a restart. A call that was already sent " +
			"cannot be recalled.\n\n" +
			"If an approver key is enrolled, only its signature turns a switch off. The commands work with a faulty " +
			"configuration too. If the path of the state file cannot be read from it, give --state.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.turn(true), a.turn(false), a.status())
	return cmd
}

func (a *Commands) turn(on bool) *cobra.Command {
	var tool, pattern, reason, key string
	word := map[bool]string{true: "on", false: "off"}[on]
	cmd := &cobra.Command{
		Use:   word,
		Short: map[bool]string{true: "Stop all calls, or the calls of one tool or pattern", false: "Turn a kill switch off"}[on],
		Long: map[bool]string{
			true: "Stops runs before their next call. Without --tool and --pattern it stops all runs. " +
				"The switch stays on until you turn it off. A switch that is already on gets the new reason.",
			false: "Turns off the switch with the same --tool or --pattern. Without both, it turns off the switch for all calls. Other switches stay on.\n\n" +
				"Exit code 3: there is no such switch, or an approver key is enrolled and did not sign.",
		}[on],
		Example: map[bool]string{
			true:  "  patterngate kill-switch on --reason 'refunds are paid twice'\n  patterngate kill-switch on --tool refund_charge\n  patterngate kill-switch on --pattern supervised_refund",
			false: "  patterngate kill-switch off\n  patterngate kill-switch off --tool refund_charge",
		}[on],
		Args: func(_ *cobra.Command, words []string) error { return wordless(word, words) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			what := "kill-switch " + word
			if tool != "" && pattern != "" {
				return console.Usage(what, errors.New("--tool and --pattern together"), oneScope)
			}
			if err := console.ReasonFlag("--reason", reason); err != nil {
				return err
			}
			s := patterns.Switch{Tool: tool, Pattern: pattern, Reason: reason, At: console.Now()}
			c, err := a.switchConfig(what)
			if err != nil {
				return err
			}
			if flag := aliased(c, tool, a.Environ); on && flag != "" { // the switch would stop nothing, but would look as if it did
				return console.Usage(what, errors.New(onlyAlias(console.Quoted(tool))), flag)
			}
			return a.WithState(what, c, func(runs statefile.Runs) error {
				var act gateway.SignedAct
				if !on {
					var err error
					signed := signing.Request{What: what, Does: allowAgain(switched(s)), Key: key}
					if act, err = a.Act(cmd.Context(), runs, gateway.ActSwitchOff, s.Subject(), signed); err != nil {
						return err
					}
				}
				by := statefile.ByUser(reason)
				s.By, s.Channel = by.By, by.Channel
				if err := runs.KillSwitch(on, s, act); errors.Is(err, patterns.ErrNoSwitch) {
					return console.Refused(what, switchNotOn+nearSwitch(runs, s), "patterngate kill-switch status")
				} else if err != nil {
					return statefile.Refused(what, err, "patterngate kill-switch status")
				}
				if on {
					a.noteUnknown(c, s)
				}
				done := ""
				if !on {
					done = switched(s)
				}
				if err := a.printSwitches(runs, done); err != nil || !on {
					return err
				}
				a.StateFile.Next(console.AfterSwitchOn(flag(" --tool ", tool) + flag(" --pattern ", pattern))...)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&tool, "tool", "", "only calls of this `TOOL`")
	cmd.Flags().StringVar(&pattern, "pattern", "", "only runs of this `PATTERN`")
	if on {
		cmd.Flags().StringVar(&reason, "reason", "", "`TEXT` for people: why")
	} else {
		signing.KeyFlag(cmd, &key)
	}
	return cmd
}

// wordless refuses a word without a flag, which most likely names a tool.
func wordless(word string, words []string) error {
	if len(words) == 0 {
		return nil
	}
	name := words[0]
	if len(name) > console.MaxName {
		name = "NAME"
	}
	return console.Usage("kill-switch "+word, errors.New(needsFlag(console.Quoted(words[0]))), switchTool(word, flag(" --tool ", name)))
}

// flag returns a flag with its value for a command line, or "" for no value.
func flag(name, value string) string {
	if value == "" {
		return ""
	}
	return name + console.ShellWord(runtime.GOOS, value)
}

func (a *Commands) status() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show what is stopped",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			const what = "kill-switch status"
			c, err := a.switchConfig(what)
			if err != nil {
				return err
			}
			return a.WithState(what, c, func(runs statefile.Runs) error { return a.printSwitches(runs, "") })
		},
	}
}

// switched returns what a switch stops.
func switched(s patterns.Switch) string {
	switch {
	case s.Tool != "":
		return "tool " + console.Quoted(s.Tool)
	case s.Pattern != "":
		return "pattern " + console.Quoted(s.Pattern)
	}
	return "everything"
}

// switchRow is a switch as --json shows it.
type switchRow struct {
	Tool    string `json:"tool,omitempty"`
	Pattern string `json:"pattern,omitempty"`
	Reason  string `json:"reason,omitempty"`
	By      string `json:"by"`
	Channel string `json:"channel"`
	At      string `json:"at"`
}

// nearSwitch names the switch that was meant, if one that is on has nearly this name. It begins with a separator.
func nearSwitch(runs statefile.Runs, s patterns.Switch) string {
	list, err := runs.KillSwitches()
	if err != nil { // the refusal stands without it
		return ""
	}
	var tools, names []string
	for _, on := range list {
		if on.Tool != "" {
			tools = append(tools, on.Tool)
		}
		if on.Pattern != "" {
			names = append(names, on.Pattern)
		}
	}
	if s.Tool == "" {
		return meantSwitch("--pattern ", gateway.NearTyped(s.Pattern, names))
	}
	return meantSwitch("--tool ", gateway.NearTyped(s.Tool, tools))
}

// printSwitches prints the switches that are on. off is what the command allowed again; "": nothing.
func (a *Commands) printSwitches(runs statefile.Runs, off string) error {
	list, err := runs.KillSwitches()
	if err != nil {
		return console.Fault("kill-switch status", err)
	}
	rows := make([]switchRow, len(list))
	var b strings.Builder
	if off != "" && len(list) > 0 {
		b.WriteString(othersStayOn(off, len(list)))
	}
	for i, s := range list {
		rows[i] = switchRow{s.Tool, s.Pattern, s.Reason, s.By, s.Channel, s.At.UTC().Format(time.RFC3339)}
		b.WriteString(switchOn(switched(s), rows[i].At, printable.Text(a.Named(s.By))))
		if s.Reason != "" {
			b.WriteString(": " + printable.Text(s.Reason))
		}
		b.WriteByte('\n')
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	if len(list) == 0 {
		b.WriteString(callsAllowed)
	}
	return a.Print(b.String())
}

// switchConfig returns the configuration for commands that change or show kill switches. A configuration with faults does
// not stop them, see [invocation.Invocation.StateConfig].
func (a *Commands) switchConfig(what string) (assembly.Loaded, error) {
	c, err := a.StateConfig(what, switchesWithoutConfig)
	if err == nil {
		a.NoteOther()
	}
	return c, err
}
