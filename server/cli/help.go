package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"patterngate/server/cli/console"
)

// rootGroup is a part of the root page: a title, and the names of its commands in the order in which they are shown.
type rootGroup struct {
	title    string
	commands []string
}

// rootGroups returns the parts of the root page. Each command that is not hidden is in one of them.
func rootGroups() []rootGroup {
	return []rootGroup{
		{"Start here", []string{"demo", "setup", "init", "doctor"}},
		{"Run", []string{"call", "tools", "runs", "serve"}},
		{"Approve", []string{"approvals", "inbox"}},
		{"Policy", []string{"policy", "catalog", "stop-reasons"}},
		{"Operate", []string{"kill-switch", "reload", "state", "prove"}},
		{"Configure", []string{"validate", "config", "schema", "version"}},
	}
}

// group puts the commands of the root into their groups.
func group(root *cobra.Command) {
	for _, g := range rootGroups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, cmd := range root.Commands() {
			if slices.Contains(g.commands, cmd.Name()) {
				cmd.GroupID = g.title
			}
		}
	}
}

// The texts of the root page. A subcommand's page ends with seeGlobalFlags.
const (
	rootShort = "Check, run and record the tool calls that a model proposes"
	rootLong  = "Patterngate checks every tool call that a model proposes against your policy, and runs it if it passes. " +
		"It asks a person where the policy says so, and records every run."
	rootExample = "  patterngate demo\n" +
		"  patterngate setup claude-code\n" +
		"  patterngate init --import claude-code"
	rootMore       = "patterngate COMMAND --help, patterngate help flags, patterngate completion --help"
	seeGlobalFlags = "Global flags: see \"patterngate help flags\"."

	helpShort = "Show the help page of a command"
	helpLong  = "Shows the help page of a command, like \"patterngate COMMAND --help\"."

	flagsTopic = "flags"
	flagsLong  = "These flags work with every command. They can be before or after the name of the command."
)

// flagsPage returns the page "patterngate help flags". It has the global flags, so that no other page repeats them.
func flagsPage() *cobra.Command {
	return &cobra.Command{Use: flagsTopic, Short: "Explain the flags that work with every command", Long: flagsLong}
}

// The columns of the root page: the group, and the name of the command.
const (
	groupColumn = 12
	nameColumn  = 14
)

// showHelp prints the help page of a command to standard output.
func (a *app) showHelp(cmd *cobra.Command, _ []string) {
	h := helpPage{cmd: cmd, width: console.FoldWidth(console.Readable(a.Width())), heading: func(s string) string { return a.Paint(console.Bold, s) }}
	text := h.command()
	switch {
	case !cmd.HasParent():
		text = h.root()
	case cmd.Name() == flagsTopic:
		text = h.globalFlags()
	}
	_, _ = io.WriteString(cmd.OutOrStdout(), text)
}

// helpPage makes the help page of one command.
type helpPage struct {
	cmd     *cobra.Command
	width   int                 // how many characters a line can have
	heading func(string) string // marks a heading
}

// root returns the page of the program: a row for each command, under the group that it belongs to.
func (h helpPage) root() string {
	var b strings.Builder
	b.WriteString(foldParagraphs(h.cmd.Long, h.width) + "\n\n")
	row := func(group, text string) {
		b.WriteString(h.heading(group) + strings.Repeat(" ", groupColumn-len(group)) + text + "\n")
	}
	indent := strings.Repeat(" ", groupColumn+nameColumn)
	for _, g := range rootGroups() {
		title := g.title
		for _, name := range g.commands {
			short := ""
			if cmd, _, err := h.cmd.Find([]string{name}); err == nil {
				short = cmd.Short
			}
			row(title, fmt.Sprintf("%-*s%s", nameColumn, name, console.Fold(short, h.width-len(indent), indent)))
			title = ""
		}
	}
	b.WriteString("\n")
	title := "Examples"
	for line := range strings.Lines(h.cmd.Example) {
		row(title, strings.TrimSpace(line))
		title = ""
	}
	row("Flags", console.Fold(strings.Join(flagNames(h.cmd.PersistentFlags()), " "), h.width-groupColumn, strings.Repeat(" ", groupColumn)))
	row("More", console.Fold(rootMore, h.width-groupColumn, strings.Repeat(" ", groupColumn)))
	return b.String()
}

// command returns the page of a subcommand: purpose, usage, subcommands, examples, its own flags.
func (h helpPage) command() string {
	long := h.cmd.Long
	if long == "" {
		long = h.cmd.Short + "."
	}
	parts := []string{foldParagraphs(long, h.width) + "\n"}
	part := func(title, text string) {
		if text != "" {
			parts = append(parts, h.heading(title+":")+"\n"+strings.TrimSuffix(text, "\n")+"\n")
		}
	}
	usage := "  " + h.cmd.CommandPath() + " COMMAND"
	if !h.cmd.HasAvailableSubCommands() {
		usage = "  " + h.cmd.UseLine()
	}
	part("Usage", usage)
	part("Commands", subcommands(h.cmd, h.width))
	part("Examples", h.cmd.Example)
	part("Flags", ownFlags(h.cmd.LocalFlags()).FlagUsagesWrapped(h.width))
	return strings.Join(append(parts, seeGlobalFlags+"\n"), "\n")
}

// globalFlags returns the page about the flags of every command.
func (h helpPage) globalFlags() string {
	return foldParagraphs(h.cmd.Long, h.width) + "\n\n" + h.heading("Global flags:") + "\n" + ownFlags(h.cmd.Root().PersistentFlags()).FlagUsagesWrapped(h.width)
}

// subcommands returns a row for each subcommand.
func subcommands(cmd *cobra.Command, width int) string {
	var b strings.Builder
	column := 0
	shown := slices.DeleteFunc(slices.Clone(cmd.Commands()), func(sub *cobra.Command) bool { return !sub.IsAvailableCommand() })
	for _, sub := range shown {
		column = max(column, len("  ")+len(sub.Name())+len("  "))
	}
	for _, sub := range shown {
		fmt.Fprintf(&b, "%-*s%s\n", column, "  "+sub.Name(), console.Fold(sub.Short, width-column, strings.Repeat(" ", column)))
	}
	return b.String()
}

// ownFlags returns the flags without --help, which every command has.
func ownFlags(all *pflag.FlagSet) *pflag.FlagSet {
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			shown.AddFlag(f)
		}
	})
	return shown
}

// flagNames returns the flags with the names of their values: "--state FILE".
func flagNames(flags *pflag.FlagSet) []string {
	var names []string
	ownFlags(flags).VisitAll(func(f *pflag.Flag) {
		value, _ := pflag.UnquoteUsage(f)
		names = append(names, strings.TrimSpace("--"+f.Name+" "+value))
	})
	return names
}

// foldParagraphs folds each paragraph of a text, and each item of a list, which begins with "- ". Lines that begin with a
// blank stay as they are: tables and commands. In an item they continue it.
func foldParagraphs(text string, width int) string {
	var lines []string
	var paragraph []string
	item := func() bool { return len(paragraph) > 0 && strings.HasPrefix(paragraph[0], listItem) }
	end := func() {
		indent := ""
		if item() {
			indent = strings.Repeat(" ", len(listItem))
		}
		if len(paragraph) > 0 {
			lines = append(lines, console.Fold(strings.Join(paragraph, " "), width-len(indent), indent))
			paragraph = nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, listItem):
			end()
		case item() && strings.HasPrefix(line, " "):
			line = strings.TrimSpace(line)
		}
		if line == "" || strings.HasPrefix(line, " ") {
			end()
			lines = append(lines, line)
			continue
		}
		paragraph = append(paragraph, line)
	}
	end()
	return strings.Join(lines, "\n")
}

// listItem is how an item of a list begins.
const listItem = "- "

// completionLong is the page of a command that prints the completion script of a shell.
func completionLong(once, always string) string {
	return "Prints the completion script for your shell.\n\n" +
		"In the current session:\n  " + once + "\n\n" +
		"In every new session:\n  " + always
}

// completionPage returns the text of one of cobra's own completion commands; "" is the one above them.
func completionPage(shell string) string {
	switch shell {
	case "bash":
		return completionLong("source <(patterngate completion bash)", "patterngate completion bash > /etc/bash_completion.d/patterngate") +
			"\n\nThe script needs the package bash-completion. On macOS write it to $(brew --prefix)/etc/bash_completion.d/patterngate."
	case "zsh":
		return completionLong("source <(patterngate completion zsh)", `patterngate completion zsh > "${fpath[1]}/_patterngate"`) +
			"\n\nIf completion is not enabled yet, first run: echo \"autoload -U compinit; compinit\" >> ~/.zshrc"
	case "fish":
		return completionLong("patterngate completion fish | source", "patterngate completion fish > ~/.config/fish/completions/patterngate.fish")
	case "powershell":
		return completionLong("patterngate completion powershell | Out-String | Invoke-Expression", "add that line to your PowerShell profile")
	}
	return "Prints a completion script: the shell then completes commands, flags, tools and ids when you press Tab."
}
