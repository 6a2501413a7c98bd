package inbox

import (
	"context"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"

	"patterngate/gateway"
	"patterngate/gateway/approver"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server"
	"patterngate/server/buildinfo"
	"patterngate/server/cli/console"
	"patterngate/server/cli/statefile"
	"patterngate/server/settings"
	"patterngate/server/settings/machine"
	"patterngate/server/web"
)

// Options says what a page shows, and how people sign in to it.
type Options struct {
	Engine *local.Engine          // over the state file
	Keys   approver.Dir           // directory with the approver keys
	SignIn string                 // command line that signs a person in
	People func(id string) string // returns the name under which texts show the id of a person
	Log    *slog.Logger
}

// Start starts the approval page of a state file at an address. It returns nil if the page is off.
func Start(address string, o Options) *Page {
	if address == settings.InboxOff || address == "" {
		return nil
	}
	return newPage(pageConfig{
		address: address, approvals: o.Engine.Approvals(), changed: o.Engine.Operator().Changed, log: o.Log,
		door: o.door, look: usualLook, next: usualNext,
	})
}

// door returns the page at an address.
func (o Options) door(address string) *web.Door {
	pages := web.New(web.Config{
		Approvals: o.Engine.Approvals(), Owner: o.Engine.Operator(), Version: buildinfo.Read().Version, By: statefile.ByUser("").By, People: o.People, Alive: o.Engine.Operator().Alive,
		Simulated: func(of patterns.Hashes) func(string) bool { return simulated(o.Engine.Settings(), of) },
		Loaded:    func() string { return o.Engine.Settings().Config },
		Open:      keyOpener(o.Keys), KeyFiles: keyFiles(o.Keys), Log: o.Log,
		Decided: func(asked patterns.Asked) { server.LogDecided(context.Background(), o.Log, asked) },
	})
	return web.NewDoor(web.DoorConfig{
		Pages: pages, SignIns: o.Engine.Approvals(), Address: address, Version: buildinfo.Read().Version, Command: o.SignIn, Log: o.Log,
	})
}

// simulated returns a function that reports whether a tool of a run is simulated. It returns nil if the run has another configuration
// or catalog than s: a tool with the same name can be a real one there. The catalog's hash alone does not say whether a tool is simulated.
func simulated(s local.Settings, of patterns.Hashes) func(tool string) bool {
	if s.Catalog == nil || of.Config == "" || of.Config != s.Config || of.Catalog != s.Catalog.Hash() {
		return nil
	}
	return func(name string) bool {
		tool, ok := s.Catalog.Tool(name)
		return ok && tool.Simulated
	}
}

// keyOpener returns a function that opens a key file of a directory with its passphrase, for one signature.
func keyOpener(keys approver.Dir) func(keyID, passphrase string) (gateway.Signer, func(), error) {
	return func(keyID, passphrase string) (gateway.Signer, func(), error) {
		file, err := keys.Read(keyID)
		if err != nil {
			return nil, nil, err
		}
		key, err := file.Open(passphrase)
		if err != nil {
			return nil, nil, err
		}
		return key, key.Close, nil
	}
}

// keyFiles returns a function that returns the ids of the readable key files of a directory.
func keyFiles(keys approver.Dir) func() []string {
	return func() []string {
		list, _ := keys.List() // unreadable keys are left out
		ids := make([]string, 0, len(list))
		for _, row := range list {
			if row.Err == nil {
				ids = append(ids, row.File.ID)
			}
		}
		return ids
	}
}

// Line returns the command line that signs a person in to the page of a configuration. config is the value of --config.
func Line(config string, c settings.Config, environ []string) string {
	words := []string{"patterngate"}
	for _, f := range []struct{ flag, path, usual string }{{"--config", config, ""}, {"--state", c.State, plainState(config, c, environ)}} {
		if path, err := filepath.Abs(f.path); err == nil && f.path != "" && path != f.usual {
			words = append(words, f.flag, console.ShellWord(runtime.GOOS, path))
		}
	}
	words = append(words, "inbox")
	if c.Inbox != Usual {
		words = append(words, "--inbox", c.Inbox)
	}
	return strings.Join(words, " ")
}

// plainState returns the state file of a command with the same --config, in a terminal without this process's variables.
func plainState(config string, c settings.Config, environ []string) string {
	if config == "" && machine.Lookup(environ, settings.PathVariable) != "" {
		return ""
	}
	return c.UsualState(environ)
}
