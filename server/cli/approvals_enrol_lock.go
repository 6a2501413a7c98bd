package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"patterngate/catalog/pins"
	"patterngate/gateway"
	"patterngate/gateway/approver"
	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
)

// Where a key is enrolled only acceptances that a key signed count, so that the tools which were accepted before are held
// (spec/config.md section 10). Enrolment says so, and offers to sign the lock at once:
//
//	enrolled ─▶ which lines of the lock count no more ─▶ shown whole ─▶ the passphrase ─▶ signed, written
//	                                                              └──── Enter, no terminal ─▶ held, with the command

// lockToSign are the tools of the file whose line in the lock does not count now, and that file. What is wrong with the
// configuration other commands say: the key is enrolled.
func (a *approvalsCommands) lockToSign(d desk) (open []acceptance, pin string) {
	if a.desks != nil {
		return nil, ""
	}
	loaded, err := a.load()
	if err != nil {
		return nil, ""
	}
	defer loaded.pool.close()
	ring, err := d.Keys()
	wanted, none := wantedTools(loaded.Catalog, nil)
	if err != nil || none != nil || loaded.lock == nil {
		return nil, ""
	}
	counting := countingLines(loaded.lock, ring, console.Now())
	for _, s := range loaded.Catalog.Servers {
		for _, tool := range wanted[s.Name] {
			def, known := loaded.lock.Tool(s.Name, tool)
			if _, counts := counting.Tool(s.Name, tool); known && !counts {
				open = append(open, acceptance{s.Name, def})
			}
		}
	}
	return open, loaded.Catalog.Pin
}

func acceptanceNames(open []acceptance) []string {
	names := make([]string, len(open))
	for i, c := range open {
		names[i] = c.name()
	}
	return names
}

// heldWords say which tools are held since a key counts; "" where none are.
func heldWords(open []acceptance) string {
	if len(open) == 0 {
		return ""
	}
	return "These tools were accepted without a signature, so Patterngate holds them from now on: " + printable.Text(strings.Join(acceptanceNames(open), ", ")) + "\n"
}

const acceptLater = "They are held until you run \"patterngate catalog accept\".\n"

// offerLock has the person sign the present lines of the lock with the key that they enrolled. They see the whole of what they
// sign, as "catalog accept" shows it.
func (a *approvalsCommands) offerLock(ctx context.Context, open []acceptance, pin string, file approver.File) error {
	const what = "approvals enroll"
	if len(open) == 0 || a.JSON {
		return nil
	}
	var shown strings.Builder
	for _, c := range open {
		fmt.Fprintf(&shown, "%s %s\n", c.name(), c.declared.Hash())
		for _, change := range pins.Compare(pins.Definition{}, c.declared) {
			if change.Pointer != "/name" {
				shown.WriteString(changeText(change))
			}
		}
	}
	typed, err := a.Passphrase(ctx, shown.String(), fmt.Sprintf(
		"To accept %s as shown, type the passphrase of approver key %s again. Press Enter to leave them held", console.Plural(len(open), "tool"), file.ID))
	if err != nil || typed == "" {
		return a.Print(acceptLater) // the key is enrolled all the same
	}
	key, err := file.Open(typed)
	switch {
	case errors.Is(err, approver.ErrPassphrase):
		return a.Print("The passphrase does not open the key. Nothing was signed. " + acceptLater)
	case err != nil:
		return console.Fault(what, err)
	}
	defer key.Close()
	lock, err := pins.Read(pin)
	if err != nil {
		return console.Fault(what, err)
	}
	err = enter(lock, open, func(name string, subject map[string]any) gateway.SignedAct {
		return approver.Sign(name, subject, key, console.Now())
	})
	if err == nil {
		err = lock.Write(pin)
	}
	if err != nil {
		return console.Fault(what, err)
	}
	return a.Print(fmt.Sprintf("signed the acceptance of %s. Run \"patterngate reload\" so that a running server reads %s\n", console.Plural(len(open), "tool"), printable.Text(pin)))
}
