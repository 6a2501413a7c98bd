package importer

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"patterngate/server/assembly"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/settings/tools"
)

// initReplaceOnly takes the servers that an existing configuration has out of the client's file. It starts no server and does not
// change the configuration. An entry that starts Patterngate stays as it is; without one it is added.
func (a *Commands) initReplaceOnly(f initFlags, from ClientFile, path string) error {
	loaded, _, err := assembly.Load(settings.Sources{Path: path, Environ: a.Environ}, assembly.LoadOptions{})
	if err != nil {
		return a.ConfigFault(err)
	}
	self, _ := os.Executable() // without it only the name identifies the entry
	found, err := from.servers(self)
	if err != nil {
		return a.Fault(err)
	}
	report := initReport{File: path, Client: from.File.Path, title: from.Client.Title, kept: true}
	var gone, off []string
	for _, s := range found {
		same := func(ours tools.Server) bool { return SameServer(s, ours) }
		if slices.ContainsFunc(loaded.Catalog.Servers, func(ours tools.Server) bool { return ours.Enabled && same(ours) }) {
			gone = append(gone, s.Name)
		} else if !s.Off {
			at := slices.IndexFunc(loaded.Catalog.Servers, same)
			if at >= 0 {
				off = append(off, loaded.Catalog.Servers[at].Name)
			}
			report.Warnings = append(report.Warnings, stillDirect(s.Name, path, at >= 0))
		}
	}
	if len(gone) == 0 && len(off) > 0 {
		return console.Usage("init --import --replace", errors.New(noneInBoth(from.File.Path, path, off)),
			a.initCommandLine(listsLater(off[0]), path)+"   # "+onceFixed(console.OtherName(off[0])))
	}
	if len(gone) == 0 {
		return console.Usage("init --import --replace", errors.New(noneInBoth(from.File.Path, path, nil)),
			"patterngate init --import "+console.ShellWord(runtime.GOOS, f.from)+" -o ANOTHER.yaml   # "+copyEntries)
	}
	c, err := a.planGone(from, gone, self, &report)
	if err != nil {
		return err
	}
	a.showDiff(report.Diff)
	if err := a.replaceFile(from, c, &report); err != nil {
		return err
	}
	return a.tellInit(report)
}

// planGone returns the change of the client's file without these servers. It adds Patterngate unless an entry starts it.
func (a *Commands) planGone(from ClientFile, gone []string, self string, report *initReport) (clientfile.Change, error) {
	entries, _, err := from.Client.Format.Decode(from.File.Text)
	if err != nil {
		return clientfile.Change{}, a.Fault(from.File.Faulty(err))
	}
	starts := false
	for _, entry := range entries {
		starts = starts || StartsPatterngate(entry, self)
	}
	if !starts {
		return a.planImport(from, gone, report)
	}
	c, err := planGoneOnly(from.Client.Format, from.File, gone)
	if err != nil {
		return clientfile.Change{}, a.Fault(err)
	}
	report.Diff = removedDiff(from.File.Path, gone)
	return c, nil
}

// planGoneOnly returns the change of the file without these servers. Everything else stays.
func planGoneOnly(f clientfile.Format, file clientfile.File, gone []string) (clientfile.Change, error) {
	after := file.Text
	var err error
	for _, name := range gone {
		if after, err = f.Remove(after, name); err != nil {
			return clientfile.Change{}, file.Faulty(err)
		}
	}
	if !onlyReplaced(f, file.Text, after, gone, "") {
		return clientfile.Change{}, file.Faulty(clientfile.ErrUnsafe)
	}
	return clientfile.Change{Result: clientfile.Updated, After: after}, nil
}

// SameServer reports whether a client's server is one of the catalog: by its command, its URL, or its name.
func SameServer(s ClientServer, ours tools.Server) bool {
	named := []Server{{From: s}}
	NameServers(named)
	if s.Name == ours.Name || named[0].Name == ours.Name {
		return true
	}
	if ours.HTTP != nil {
		address, _ := PlainURL(s.URL)
		return s.URL != "" && address == ours.HTTP.URL
	}
	if ours.Stdio == nil || s.Command == "" || len(s.Args) != len(ours.Stdio.Args) {
		return false
	}
	if s.Command != ours.Stdio.Command && s.Command != ours.Stdio.Path && filepath.Base(s.Command) != filepath.Base(ours.Stdio.Command) {
		return false
	}
	for i, v := range ours.Stdio.Args {
		if !v.Secret.Set() && v.Text != s.Args[i] { // secrets are not compared
			return false
		}
	}
	return true
}
