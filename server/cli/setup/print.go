package setup

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"patterngate/ijson/printable"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
)

// SetupReport is the output of setup. --json prints it as one document.
type SetupReport struct {
	Client   string   `json:"client"`
	Title    string   `json:"title"`
	Action   string   `json:"action"` // print, write or undo
	DryRun   bool     `json:"dry_run"`
	File     string   `json:"file"`
	Exists   bool     `json:"file_exists"` // before the change
	Format   string   `json:"format"`      // json or toml
	Key      string   `json:"key"`         // of the object that lists the servers
	Name     string   `json:"name"`
	Command  string   `json:"command,omitempty"`
	Args     []string `json:"args,omitempty"`
	Block    string   `json:"block,omitempty"`
	Add      string   `json:"add,omitempty"` // the client's own command that adds the entry
	Checks   []string `json:"checks,omitempty"`
	Sources  []string `json:"sources,omitempty"`
	Result   string   `json:"result,omitempty"`
	Changed  bool     `json:"changed"`
	Backup   string   `json:"backup,omitempty"`
	Diff     string   `json:"diff,omitempty"`
	Warnings []string `json:"warnings,omitempty"`

	direct []string // servers that the client starts without Patterngate
	kept   string   // the configuration that the entry named before, and keeps
	stays  bool     // an undo restored an earlier entry of the same name
}

// warn adds a warning. Setup continues after it.
func (r *SetupReport) warn(text string) { r.Warnings = append(r.Warnings, text) }

// describe sets the fields that do not depend on the file's content.
func (r *SetupReport) describe(client clientfile.Client, host clientfile.Host, e clientfile.Entry) {
	r.Action, r.Command, r.Args = "print", e.Command, e.Args
	r.Block = strings.TrimSuffix(string(client.Format.Fresh(e)), "\n")
	if client.Add != nil {
		r.Add = client.Add(host.Goos, e)
	}
	r.Checks, r.Sources = client.Checks(host.Goos, r.File, e), client.Sources
	r.Exists = host.Exists(r.File)
}

// again returns the command line that repeats this command with another flag.
func (r SetupReport) again(goos string, f setupFlags, flag string) string {
	words := []string{"patterngate"}
	if r.Command != "" {
		words[0] = console.ShellWord(goos, r.Command)
	}
	words = append(words, "setup", r.Client)
	if f.name != "patterngate" {
		words = append(words, "--name", f.name)
	}
	if f.file != "" {
		words = append(words, "--file", console.ShellWord(goos, r.File))
	}
	if n := len(r.Args); n == 3 && flag != "--undo" {
		words = append(words, "--config", console.ShellWord(goos, r.Args[2]))
	}
	return strings.Join(append(words, flag), " ")
}

// takeOver returns the command line that moves the client's other servers behind Patterngate.
func (r SetupReport) takeOver(goos string, f setupFlags) string {
	from := r.Client
	if f.file != "" {
		from = console.ShellWord(goos, r.File)
	}
	command := "patterngate init --import " + from + " --replace"
	if len(r.Args) == 3 {
		command += " -o " + console.ShellWord(goos, r.Args[2])
	}
	return command
}

// printSetup prints the block, its file and the checks.
func (a *Commands) printSetup(f setupFlags, r SetupReport) error {
	if a.JSON {
		return console.WriteJSON(a.Out, r)
	}
	var b strings.Builder
	there := ""
	if !r.Exists {
		there = " " + notYet
	}
	fmt.Fprintf(&b, "%s reads %s%s\n\n", a.Paint(console.Bold, r.Title), printable.Text(r.File), there)
	for line := range strings.SplitSeq(r.Block, "\n") {
		b.WriteString(printable.Text(line) + "\n") // both formats read \uXXXX
	}
	b.WriteByte('\n')
	console.Labelled(&b, "write", r.again(runtime.GOOS, f, "--write"), seeFirst)
	if r.Add != "" && f.file == "" {
		console.Labelled(&b, "or", r.Add)
	}
	console.Labelled(&b, "check", r.Checks...)
	return a.writeSetup(b.String(), r)
}

// tellSetup prints the change, or what a dry run would change.
func (a *Commands) tellSetup(f setupFlags, r SetupReport) error {
	if a.JSON {
		return console.WriteJSON(a.Out, r)
	}
	var b strings.Builder
	for line := range strings.Lines(r.Diff) {
		b.WriteString(a.PaintDiff(line))
	}
	if r.Diff != "" {
		b.WriteByte('\n')
	}
	both := outcomes[r.Result]
	if r.stays {
		both = earlierEntry
	}
	words := both[0]
	if r.DryRun {
		words = both[1]
	}
	fmt.Fprintf(&b, words+"\n", r.Name, printable.Text(r.File))
	if r.kept != "" {
		console.Labelled(&b, "note", keepsConfig(r.kept))
	}
	if r.Backup != "" {
		console.Labelled(&b, "backup", r.Backup)
	}
	if r.Action == "write" && r.Changed {
		console.Labelled(&b, "undo", r.again(runtime.GOOS, f, "--undo"))
	}
	if r.Changed {
		console.Labelled(&b, "then", restart(r.Title))
	}
	if r.Action == "write" && !r.DryRun {
		console.Labelled(&b, "check", r.Checks...)
	}
	if len(r.direct) > 0 {
		console.Labelled(&b, "note", stayDirect(r.direct), r.takeOver(runtime.GOOS, f))
	}
	if err := a.writeSetup(b.String(), r); err != nil {
		return err
	}
	if r.Action == "write" && !r.DryRun {
		a.Next(console.AfterSetup(r.Client, r.Title)...)
	}
	return nil
}

// writeSetup writes the text to standard output and the warnings to standard error.
func (a *Commands) writeSetup(text string, r SetupReport) error {
	for _, w := range r.Warnings {
		fmt.Fprintln(a.Err, "warning: "+printable.Text(w))
	}
	_, err := io.WriteString(a.Out, text)
	return err
}
