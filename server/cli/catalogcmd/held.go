package catalogcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"patterngate/catalog/pins"
	"patterngate/gateway"
	"patterngate/gateway/approver"
	"patterngate/ijson/printable"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
)

// If an approver key is enrolled, Patterngate accepts only acceptances that a key signed. It holds tools that were accepted
// before. Enrolment prints their names, and offers to sign the lock at once:
//
//	enrolled ─▶ lines of the lock that no longer count ─▶ shown whole ─▶ the passphrase ─▶ signed, written
//	                                                             └──── Enter, no terminal ─▶ held, with the command

// HeldLines are the lines of a lock file that do not count because no approver key signed them. [Commands.Held] returns them.
type HeldLines struct {
	commands *Commands
	open     []acceptance
	pin      string // path of the lock file
}

// Held returns the tools of the configuration that are held under the approver keys. It returns none if the configuration or
// the keys cannot be read: other commands print why.
func (a *Commands) Held(keys func() (gateway.Ring, error)) HeldLines {
	none := HeldLines{commands: a}
	loaded, err := a.Load()
	if err != nil {
		return none
	}
	defer loaded.Close()
	ring, err := keys()
	wanted, unnamed := wantedTools(loaded.Catalog, nil)
	if err != nil || unnamed != nil || loaded.Lock() == nil {
		return none
	}
	held := HeldLines{commands: a, pin: loaded.Catalog.Pin}
	counting := assembly.CountingLines(loaded.Lock(), ring, console.Now())
	for _, s := range loaded.Catalog.Servers {
		for _, tool := range wanted[s.Name] {
			def, known := loaded.Lock().Tool(s.Name, tool)
			if _, counts := counting.Tool(s.Name, tool); known && !counts {
				held.open = append(held.open, acceptance{s.Name, def})
			}
		}
	}
	return held
}

// Names returns the held tools, each as server/tool.
func (h HeldLines) Names() []string {
	names := make([]string, len(h.open))
	for i, c := range h.open {
		names[i] = c.name()
	}
	return names
}

// Offer lets the person sign the held lines with the key that they enrolled. It prints everything that they sign, as
// "catalog accept" does.
func (h HeldLines) Offer(ctx context.Context, file approver.File) error {
	const what = "approvals enroll"
	if len(h.open) == 0 || h.commands.JSON {
		return nil
	}
	var shown strings.Builder
	for _, c := range h.open {
		fmt.Fprintf(&shown, "%s %s\n", c.name(), c.declared.Hash())
		for _, change := range pins.Compare(pins.Definition{}, c.declared) {
			if change.Pointer != "/name" {
				shown.WriteString(changeText(change))
			}
		}
	}
	typed, err := h.commands.Passphrase(ctx, shown.String(), typePassphrase(console.Plural(len(h.open), "tool"), file.ID))
	if err != nil || typed == "" {
		return h.commands.Print(acceptLater) // the key is enrolled in any case
	}
	key, err := file.Open(typed)
	switch {
	case errors.Is(err, approver.ErrPassphrase):
		return h.commands.Print(notSigned + acceptLater)
	case err != nil:
		return console.Fault(what, err)
	}
	defer key.Close()
	lock, err := pins.Read(h.pin)
	if err != nil {
		return console.Fault(what, err)
	}
	err = enter(lock, h.open, func(name string, subject map[string]any) gateway.SignedAct {
		return approver.Sign(name, subject, key, console.Now())
	})
	if err == nil {
		err = lock.Write(h.pin)
	}
	if err != nil {
		return console.Fault(what, err)
	}
	return h.commands.Print(signedLock(console.Plural(len(h.open), "tool"), printable.Text(h.pin)))
}
