package cli

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

// inboxOf returns the approval page of a server's state file. It returns nil if the page is off or the state is only in
// memory.
func inboxOf(engine *local.Engine, c settings.Config, command string, log *slog.Logger) *inbox {
	if c.State == settings.MemoryState || c.Inbox == settings.InboxOff || c.Inbox == "" {
		return nil
	}
	return newInbox(inboxConfig{
		address: c.Inbox, approvals: engine.Approvals(), changed: engine.Operator().Changed, log: log,
		door: inboxDoor(engine, command, approver.Dir(filepath.Dir(c.State)), log), look: inboxLook, next: inboxNext,
	})
}

// inboxDoor returns a function that makes the page of an engine's state at an address. command is the command for a
// sign-in. keys is the directory with the approver keys.
func inboxDoor(engine *local.Engine, command string, keys approver.Dir, log *slog.Logger) func(address string) *web.Door {
	return func(address string) *web.Door {
		pages := web.New(web.Config{
			Approvals: engine.Approvals(), Owner: engine.Operator(), Version: buildinfo.Read().Version, By: statefile.ByUser("").By, People: systemPeople, Alive: engine.Operator().Alive,
			Open: opener(keys), KeyFiles: keyFiles(keys), Log: log,
			Decided: func(asked patterns.Asked) { server.LogDecided(context.Background(), log, asked) },
		})
		return web.NewDoor(web.DoorConfig{
			Pages: pages, SignIns: engine.Approvals(), Address: address, Version: buildinfo.Read().Version, Command: command, Log: log,
		})
	}
}

// opener returns a function that opens a key file of a directory with its passphrase, for one signature.
func opener(keys approver.Dir) func(keyID, passphrase string) (gateway.Signer, func(), error) {
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

// inboxLine returns the command that signs a person in to the page of this configuration.
func (a *invocation) inboxLine(c settings.Config) string {
	words := []string{"patterngate"}
	for _, f := range []struct{ flag, path, usual string }{{"--config", a.config, ""}, {"--state", c.State, a.plainState(c)}} {
		if path, err := filepath.Abs(f.path); err == nil && f.path != "" && path != f.usual {
			words = append(words, f.flag, console.ShellWord(runtime.GOOS, path))
		}
	}
	words = append(words, "inbox")
	if c.Inbox != inboxUsual {
		words = append(words, "--inbox", c.Inbox)
	}
	return strings.Join(words, " ")
}

// plainState returns the state file of a command with the same --config, in a terminal without this process's variables.
func (a *invocation) plainState(c settings.Config) string {
	if a.config == "" && machine.Lookup(a.Environ, settings.PathVariable) != "" {
		return ""
	}
	return c.UsualState(a.Environ)
}
