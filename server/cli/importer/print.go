package importer

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// initReport is the result of init, one document with --json. It contains no secret.
type initReport struct {
	File     string          `json:"file"`
	Lock     string          `json:"lock,omitempty"`
	Secrets  []string        `json:"secrets,omitempty"` // the files
	Servers  []initServerRow `json:"servers,omitempty"`
	Client   string          `json:"client_file,omitempty"`
	Replaced bool            `json:"replaced"`
	Backup   string          `json:"backup,omitempty"`
	Diff     string          `json:"diff,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
	Next     []string        `json:"next,omitempty"`

	title  string   // of the client
	hidden []string // enabled tools that the client cannot call
	faulty bool     // the file does not load
	kept   bool     // the file was there before
	usual  bool     // commands read the file without a flag
}

// enabled reports whether any tool is enabled.
func (r *initReport) enabled() bool {
	for _, s := range r.Servers {
		for _, t := range s.Tools {
			if t.InForce {
				return true
			}
		}
	}
	return false
}

// initServerRow is one server.
type initServerRow struct {
	Name    string        `json:"name"`
	From    string        `json:"from"` // its name in the client's file
	Started bool          `json:"started"`
	Problem string        `json:"problem,omitempty"`
	Notes   []string      `json:"notes,omitempty"`
	Tools   []initToolRow `json:"tools"`
}

// initToolRow is one tool.
type initToolRow struct {
	Name    string         `json:"name"` // in the catalog
	From    string         `json:"from"` // at its server
	Effect  catalog.Effect `json:"effect"`
	InForce bool           `json:"in_force"`
}

// initRows returns the servers in the form of the report.
func initRows(servers []Server) []initServerRow {
	rows := make([]initServerRow, len(servers))
	for i, s := range servers {
		rows[i] = initServerRow{Name: s.Name, From: s.From.Name, Started: s.problem == "", Problem: s.problem, Notes: s.notes, Tools: []initToolRow{}}
		for _, t := range s.tools {
			rows[i].Tools = append(rows[i].Tools, initToolRow{t.listed(), t.Name, t.effect, t.allow})
		}
	}
	return rows
}

// words returns the result for the server in short.
func (r initServerRow) words() string {
	if r.Problem != "" {
		return notEnabled(r.Problem)
	}
	counts := map[string]int{}
	for _, t := range r.Tools {
		if !t.InForce {
			counts[answerOff]++
		} else {
			counts[string(t.Effect)]++
		}
	}
	words := []string{}
	for _, w := range []string{string(catalog.Read), string(catalog.Write), string(catalog.Destructive), answerOff} {
		if counts[w] > 0 {
			words = append(words, fmt.Sprintf("%d %s", counts[w], w))
		}
	}
	if len(words) == 0 {
		return "no tools"
	}
	return strings.Join(words, ", ")
}

// tellInit prints what was written.
func (a *Commands) tellInit(r initReport) error {
	for _, w := range r.Warnings {
		fmt.Fprintln(a.Err, "warning: "+printable.Text(w))
	}
	if a.JSON {
		return faulty(console.WriteJSON(a.Out, r), r)
	}
	var b strings.Builder
	if r.File != "" && !r.kept {
		console.Labelled(&b, "wrote", append([]string{r.File}, r.written()...)...)
	}
	for _, s := range r.Servers {
		fmt.Fprintf(&b, "  %s: %s\n", a.Paint(console.Bold, console.OtherName(s.Name)), console.OtherText(s.words(), maxStarterWords))
		for _, n := range s.Notes {
			fmt.Fprintf(&b, "    %s\n", console.OtherText(n, maxStarterWords))
		}
	}
	if r.Replaced {
		console.Labelled(&b, "client", startsPatterngate(r.Client))
		console.Labelled(&b, "backup", r.Backup)
	}
	if r.Replaced && r.title != "" {
		console.Labelled(&b, "then", restart(r.title))
	}
	if len(r.hidden) > 0 {
		console.Labelled(&b, "note", notOffered(r.hidden, r.File))
	}
	if r.File != "" && !r.usual && !r.kept {
		console.Labelled(&b, "note", namesFile(r.File))
	}
	console.Labelled(&b, "next", r.Next...)
	return faulty(a.Print(b.String()), r)
}

// faulty returns the error of the command after the report. A file that does not load is a failure.
func faulty(shown error, r initReport) error {
	if shown != nil || !r.faulty {
		return shown
	}
	return console.ExitCode(console.ExitFault)
}

// written returns the files next to the configuration.
func (r initReport) written() []string {
	list := r.Secrets
	if r.Lock != "" {
		list = append([]string{r.Lock}, list...)
	}
	return list
}

// isUsual reports whether commands in this shell read the file without a flag: it lies at the usual place, or a variable
// names it.
func (a *Commands) isUsual(path string) bool {
	read, _, err := settings.Path(settings.Sources{Environ: a.Environ})
	if err != nil {
		return false
	}
	read, errRead := filepath.Abs(read)
	path, errPath := filepath.Abs(path)
	return errRead == nil && errPath == nil && read == path
}

// initCommandLine returns the command line of a command for a configuration, quoted for a shell.
func (a *Commands) initCommandLine(words, path string) string {
	if a.isUsual(path) {
		return "patterngate " + words
	}
	return "patterngate " + words + " --config " + console.ShellWord(runtime.GOOS, path)
}
