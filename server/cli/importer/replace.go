package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"patterngate/server/assembly"

	"patterngate/ijson/printable"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// writeImported writes the configuration, the lock and the secrets.
func (a *Commands) writeImported(from ClientFile, file *initFile, servers []Server) (initReport, error) {
	lock, err := newLock(file.path)
	if err != nil {
		return initReport{}, err
	}
	if err := file.write(importedText(from.title(), lock.pin(), servers)); err != nil {
		return initReport{}, console.Fault("init", err)
	}
	kept, err := acceptImported(lock, servers)
	if err != nil {
		return initReport{}, console.Fault("init: the lock", errors.Join(err, file.takeBack()))
	}
	report := initReport{File: file.path, usual: a.isUsual(file.path), Secrets: file.order, Servers: initRows(servers), Client: from.File.Path, title: from.Client.Title}
	_, report.hidden = inForce(servers)
	if kept {
		report.Lock = lock.path
	}
	report.Next = append(report.Next, a.initCommandLine("validate", file.path))
	for _, s := range servers {
		if s.failed() {
			report.Next = append(report.Next, a.initCommandLine(listsLater(s.Name), file.path)+"   # "+onceFixed(console.OtherName(s.Name)))
		}
	}
	_, _, err = assembly.Load(settings.Sources{Path: file.path, Environ: a.Environ}, assembly.LoadOptions{})
	if faults, ok := errors.AsType[*yamldoc.Error](err); ok {
		report.faulty = true
		for _, f := range faults.Faults {
			report.Warnings = append(report.Warnings, f.String())
		}
	} else if err != nil {
		return report, console.Fault("init", err)
	}
	return report, nil
}

// initReplace offers to replace the servers in the client's file with Patterngate, and does so after a yes.
func (a *Commands) initReplace(ctx context.Context, f initFlags, keys initQuestions, from ClientFile, servers []Server, report *initReport) error {
	if f.noReplace {
		return nil
	}
	if report.faulty { // the client's server would not start
		report.Warnings = append(report.Warnings, faultsKeep(from.File.Path))
		return nil
	}
	var gone []string
	for _, s := range servers {
		if s.problem == "" && s.out == "" {
			gone = append(gone, s.From.Name)
		}
	}
	if len(gone) == 0 {
		report.Warnings = append(report.Warnings, noneStarted(from.File.Path))
		return nil
	}
	c, err := a.planImport(from, gone, report)
	if err != nil {
		return err
	}
	if f.replace || a.asks(f) {
		a.showDiff(report.Diff)
	}
	if yes, err := a.wantsReplace(ctx, f, keys, from); err != nil || !yes {
		report.Next = append(report.Next, a.initCommandLine("init --import "+console.ShellWord(runtime.GOOS, f.from)+" --replace", report.File)+"   # "+replacesThem(from.title()))
		return err
	}
	if report.enabled() { // else a warning says so about all of them
		for _, s := range servers {
			if slices.Contains(gone, s.From.Name) && len(s.tools) > 0 && !s.confirmed() {
				report.Warnings = append(report.Warnings, noneCallable(s.Name, len(s.tools)))
			}
		}
	}
	return a.replaceFile(from, c, report)
}

// showDiff prints a change of the client's file.
func (a *Commands) showDiff(diff string) {
	if a.JSON {
		return
	}
	for line := range strings.Lines(diff) {
		_, _ = io.WriteString(a.Err, a.PaintDiff(line))
	}
}

// replaceFile changes the client's file and makes a backup.
func (a *Commands) replaceFile(from ClientFile, c clientfile.Change, report *initReport) error {
	if from.File.ReadOnly() {
		return a.Fault(from.File.Refused("read-only", writableOrKeep))
	}
	c, err := c.Apply(from.File, time.Now())
	if err != nil {
		return err
	}
	report.Replaced, report.Backup = true, c.Backup
	report.Next = append(report.Next, "patterngate init --import "+cmp.Or(from.Client.Name, console.ShellWord(runtime.GOOS, from.File.Path))+" --undo   # "+restoresFile)
	return nil
}

// asks reports whether init asks before it replaces the servers.
func (a *Commands) asks(f initFlags) bool { return !f.yes && !a.JSON && a.AtTerminal() }

// wantsReplace asks whether to replace the servers. It does not ask if a flag decides or if there is no terminal.
func (a *Commands) wantsReplace(ctx context.Context, f initFlags, keys initQuestions, from ClientFile) (bool, error) {
	if f.replace {
		return true, nil
	}
	if !a.asks(f) {
		return false, nil
	}
	fmt.Fprintf(a.Err, "\n%s\n", console.OtherText(removesServers(from.File.Path), 400))
	word, err := keys.answer(ctx, "Replace them?", "no", "yes", "no")
	return word == "yes", err
}

// entryName is the name of the entry that init adds to a client's file.
const entryName = "patterngate"

// planImport returns the change of the client's file that replaces the servers with Patterngate.
func (a *Commands) planImport(from ClientFile, gone []string, report *initReport) (clientfile.Change, error) {
	command, err := clientfile.ProgramPath(a.Environ)
	if err != nil {
		return clientfile.Change{}, err
	}
	e := clientfile.Entry{Name: entryName, Command: command, Args: []string{"serve", "--config", report.File}}
	c, err := planReplace(from.Client.Format, from.File, gone, e)
	if err != nil {
		return clientfile.Change{}, a.Fault(err)
	}
	report.Diff = safeDiff(from.File.Path, gone, e)
	return c, nil
}

// safeDiff returns the change by entry and not by line, since removed lines can contain secrets.
func safeDiff(path string, gone []string, e clientfile.Entry) string {
	return removedDiff(path, gone) + fmt.Sprintf("+%s: %s\n", e.Name, printable.Text(clientfile.CommandLine("linux", e)))
}

// removedDiff returns the part of the change that removes servers.
func removedDiff(path string, gone []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", printable.Text(path), printable.Text(path))
	for _, name := range gone {
		fmt.Fprintf(&b, "-%s: …\n", console.OtherName(name))
	}
	return b.String()
}

// planReplace returns the change of the file: without these servers and with the entry. It refuses a change of anything
// else, whatever the format does.
func planReplace(f clientfile.Format, file clientfile.File, gone []string, e clientfile.Entry) (clientfile.Change, error) {
	after := file.Text
	var err error
	for _, name := range gone {
		if after, err = f.Remove(after, name); err != nil {
			return clientfile.Change{}, file.Faulty(err)
		}
	}
	if after, err = f.Merge(after, e); err != nil {
		return clientfile.Change{}, file.Faulty(err)
	}
	entry, found := clientfile.EntryOf(f, after, e.Name)
	if !found || !e.Starts(entry) || !onlyReplaced(f, file.Text, after, gone, e.Name) {
		return clientfile.Change{}, file.Faulty(clientfile.ErrUnsafe)
	}
	return clientfile.Change{Result: clientfile.Updated, After: after}, nil
}

// onlyReplaced reports whether the second text lacks the servers and has the same content otherwise, except for the entry.
func onlyReplaced(f clientfile.Format, before, after []byte, gone []string, name string) bool {
	was, wasRest, err := f.Decode(before)
	is, isRest, otherErr := f.Decode(after)
	if err != nil || otherErr != nil || !reflect.DeepEqual(wasRest, isRest) {
		return false
	}
	for _, g := range gone {
		if _, there := is[g]; there && g != name {
			return false
		}
		delete(was, g)
	}
	delete(was, name)
	delete(is, name)
	return len(was)+len(is) == 0 || reflect.DeepEqual(was, is)
}
