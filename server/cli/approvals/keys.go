package approvals

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/gateway/approver"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/cli/console"
	"patterngate/server/cli/signing"
	"patterngate/server/settings/machine"
)

func (a *Commands) enrollCommand() *cobra.Command {
	name, key := "", ""
	cmd := &cobra.Command{
		Use:   "enroll",
		Short: "Make an approver key, so that only its passphrase can approve",
		Long: "Makes an approver key. The private half goes into a file beside the state file, encrypted with your passphrase. " +
			"The public half goes into the state file.\n\n" +
			"After that, only signed acts count: approvals, runs settle, runs take-over. An enrolled key must sign each " +
			"further key, so you are asked for its passphrase too. Tools that you accepted before need a signature; the " +
			"command names them and offers to sign.\n\n" +
			"You type the passphrase at the terminal. It cannot come from a flag, a variable, a pipe or a file. It has 12 " +
			"characters or more. It cannot be recovered.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			name = cmp.Or(name, a.ownName())
			if err := approver.CheckName(name); err != nil {
				return console.Usage("--name", errors.New(strings.TrimPrefix(err.Error(), "approver: ")), "--name NAME")
			}
			return a.withNewApprovals("approvals enroll", func(d desk) error { return a.enroll(cmd.Context(), d, name, key) })
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "`NAME` of the key's owner (default: your user name on this machine)")
	cmd.Flags().StringVar(&key, "key", "", "`ID` of the key that signs a further key (default: the key whose file is on this machine)")
	return cmd
}

// ownName returns the default name of a key: the user name and the host name.
func (a *Commands) ownName() string {
	who := cmp.Or(machine.Lookup(a.Environ, "USER"), machine.Lookup(a.Environ, "USERNAME"), "approver")
	if u, err := user.Current(); err == nil && u.Username != "" {
		who = u.Username[strings.LastIndexByte(u.Username, '\\')+1:] // without the domain
	}
	if host, err := os.Hostname(); err == nil {
		who += "@" + host
	}
	const most = 64
	return string([]rune(who)[:min(most, len([]rune(who)))])
}

// enroll makes a key and enrols it. If keys count already, one of them must vouch for the new key.
func (a *Commands) enroll(ctx context.Context, d desk, name, voucher string) error {
	const what = "approvals enroll"
	ring, err := d.Keys()
	if err != nil {
		return console.Fault(what, err)
	}
	var by gateway.Signer
	if ring.Counts(console.Now()) || voucher != "" {
		key, err := a.OpenKey(ctx, signing.Request{What: what, Does: "sign a further key, of " + name, Ring: ring, Dir: approver.Dir(d.KeyDir), Key: voucher})
		if err != nil {
			return err
		}
		defer key.Close()
		by = key
	}
	typed, err := a.newPassphrase(ctx, what)
	if err != nil {
		return err
	}
	file, key, err := approver.New(name, typed, console.Now())
	if err != nil {
		return console.Fault(what, err)
	}
	defer key.Close()
	if by == nil { // while no key counts, the new key vouches for itself
		by = key
	}
	return a.enrolled(ctx, d, file, by)
}

// newPassphrase asks for a new passphrase twice and returns it.
func (a *Commands) newPassphrase(ctx context.Context, what string) (string, error) {
	first, err := a.typedNew(ctx, what, "New passphrase, 12 characters or more")
	if err != nil {
		return "", err
	}
	if short := approver.CheckPassphrase(first); short != nil {
		return "", console.Usage(what, errors.New(strings.TrimPrefix(short.Error(), "approver: ")), "a longer one, for example several words")
	}
	second, err := a.typedNew(ctx, what, "The same passphrase again")
	if err == nil && first != second {
		err = console.Usage(what, errors.New("the two passphrases differ; no key was made"), "the same command again")
	}
	return second, err
}

func (a *Commands) typedNew(ctx context.Context, what, prompt string) (string, error) {
	typed, err := a.Passphrase(ctx, "", prompt)
	if errors.Is(err, signing.ErrNoTerminal) {
		err = signing.Request{What: what}.Refused(err.Error(), "patterngate approvals enroll at a terminal")
	}
	return typed, err
}

// enrolled writes the key file and then enrols the public key. In this order, no enrolled key lacks its file.
func (a *Commands) enrolled(ctx context.Context, d desk, file approver.File, by gateway.Signer) error {
	const what = "approvals enroll"
	dir := approver.Dir(d.KeyDir)
	public, err := approver.Enrolment(file, by, console.Now())
	if err != nil {
		return console.Fault(what, err)
	}
	if err := dir.Write(file); err != nil {
		return console.Fault(what, err)
	}
	if err := d.Enroll(public); errors.Is(err, patterns.ErrJournal) {
		return console.Fault(what, fmt.Errorf("%w. Its file stays: %s. To see whether the key is enrolled, run patterngate approvals keys", err, dir.Path(file.ID)))
	} else if err != nil {
		return errors.Join(signing.Refusal(what, err), dir.Remove(file.ID))
	}
	var held HeldAcceptances
	var names []string
	if a.Held != nil {
		held = a.Held(d.Keys)
		names = held.Names()
	}
	if a.JSON {
		row := keyRowOf(public, dir)
		row.Held = names
		return a.PrintJSON(row)
	}
	err = a.Print(fmt.Sprintf("enrolled approver key %s (%s)\nfile %s\n", file.ID, console.Clip(file.Name, console.MaxName), dir.Path(file.ID)) +
		"From now on, approvals, runs settle and runs take-over need a signature from an enrolled key.\n" +
		"The passphrase cannot be recovered. If it or the file is lost, another enrolled key must remove this one (patterngate\n" +
		"approvals keys remove " + file.ID + "). Without another key, nothing can be approved in this state file any more.\n" + heldWords(names))
	if err != nil {
		return err
	}
	if held == nil {
		return nil
	}
	return held.Offer(ctx, file)
}

// heldWords names the tools that Patterngate holds because a key is enrolled. It returns "" if there are none.
func heldWords(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "These tools were accepted without a signature, so Patterngate holds them from now on: " + printable.Text(strings.Join(names, ", ")) + "\n"
}

// HeldAcceptances lists the tools that Patterngate holds after the enrolment of an approver key. Their acceptance has
// no signature.
type HeldAcceptances interface {
	Names() []string
	// Offer lets the person sign the acceptances with the key in that file, or leave the tools held.
	Offer(ctx context.Context, file approver.File) error
}

// keyRow is a key as --json shows it.
type keyRow struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Public    string `json:"public"`
	Enrolled  string `json:"enrolled_at"`
	Removed   string `json:"removed_at,omitempty"`
	SignedBy  string `json:"signed_by"`
	Signature string `json:"signature"`
	File      string `json:"file,omitempty"` // the key file, if it is on this machine

	Held []string `json:"held_tools,omitempty"` // only for a new key: tools whose acceptance has no signature
}

func keyRowOf(k gateway.PublicKey, dir approver.Dir) keyRow {
	row := keyRow{
		ID: k.ID, Name: k.Name, Public: base64.StdEncoding.EncodeToString(k.Public), Enrolled: console.ClockText(k.Enrolled), SignedBy: k.Vouched.Key,
		Signature: k.Vouched.Signature,
	}
	if !k.Removed.IsZero() {
		row.Removed = console.ClockText(k.Removed)
	}
	if _, err := dir.Read(k.ID); err == nil {
		row.File = dir.Path(k.ID)
	}
	return row
}

func (a *Commands) keysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "List the approver keys",
		Long: "Lists the public approver keys of the state file, removed ones too, and says whether the private half is on " +
			"this machine.\n\n" +
			"Compare the ids with your own list. A key that is not on your list may belong to an attacker.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.withApprovals("approvals keys", func(d desk) error { return a.listKeys(d) })
		},
	}
	cmd.AddCommand(a.removeKeyCommand())
	return cmd
}

func (a *Commands) listKeys(d desk) error {
	ring, err := d.Keys()
	if err != nil {
		return console.Fault("approvals keys", err)
	}
	rows := []keyRow{}
	for _, k := range ring.Keys() {
		rows = append(rows, keyRowOf(k, approver.Dir(d.KeyDir)))
	}
	signed := ring.Counts(console.Now())
	if a.JSON {
		return a.PrintJSON(struct {
			Keys   []keyRow `json:"keys"`
			Signed bool     `json:"signature_needed"`
		}{rows, signed})
	}
	return a.Print(keysTable(rows, signed))
}

// keysTable returns the keys as a table.
func keysTable(rows []keyRow, signed bool) string {
	var b strings.Builder
	for i, k := range rows {
		if i == 0 {
			fmt.Fprintf(&b, "%-16s  %-20s  %-20s  %-16s  %-9s  %s\n", "KEY", "ENROLLED", "REMOVED", "SIGNED BY", "FILE HERE", "NAME")
		}
		here := map[bool]string{true: "yes", false: "no"}[k.File != ""]
		fmt.Fprintf(&b, "%-16s  %-20s  %-20s  %-16s  %-9s  %s\n", k.ID, k.Enrolled, cmp.Or(k.Removed, "-"), console.Clip(k.SignedBy, 16), here, console.Clip(k.Name, 64))
	}
	switch {
	case signed && len(rows) == 0:
		b.WriteString("The state file has keys without a valid signature: no unsigned decision counts.\n")
	case signed:
		b.WriteString("Only decisions that an enrolled key signed count here.\n")
	default:
		b.WriteString("No approver key is enrolled: decisions have the assurance user. To make a key, run patterngate approvals enroll.\n")
	}
	return b.String()
}

func (a *Commands) removeKeyCommand() *cobra.Command {
	by := ""
	cmd := &cobra.Command{
		Use:   "remove ID",
		Short: "Remove an approver key",
		Long: "Removes an approver key. What the key signs from now on does not count. What it signed before stays valid.\n\n" +
			"An enrolled key must sign the removal. It can be the removed key itself. After the last key is removed, " +
			"unsigned decisions count again, until a new key is enrolled.",
		Example:           "  patterngate approvals keys remove key_1f60",
		Args:              console.One("approvals keys remove", "key", "patterngate approvals keys"),
		ValidArgsFunction: a.completeKey,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withApprovals("approvals keys remove", func(d desk) error { return a.removeKey(cmd.Context(), d, args[0], by) })
		},
	}
	cmd.Flags().StringVar(&by, "key", "", "`ID` of the approver key that signs (default: the key whose file is on this machine)")
	return cmd
}

// removeKey removes the key whose id begins with the typed text.
func (a *Commands) removeKey(ctx context.Context, d desk, beginning, by string) error {
	const what = "approvals keys remove"
	ring, err := d.Keys()
	if err != nil {
		return console.Fault(what, err)
	}
	k, err := keyOf(what, ring, beginning)
	if err != nil {
		return err
	}
	if !k.Removed.IsZero() {
		return console.Refused(what+" "+k.ID, "it was removed at "+console.ClockText(k.Removed), "patterngate approvals keys")
	}
	signer, err := a.OpenKey(ctx, signing.Request{
		What: what + " " + k.ID, Does: "remove the key " + k.ID + " (" + console.Clip(k.Name, console.MaxName) + ")", Call: lastKey(ring, k), Ring: ring,
		Dir: approver.Dir(d.KeyDir), Key: by,
	})
	if err != nil {
		return err
	}
	defer signer.Close()
	if err := d.RemoveKey(k.ID, approver.Sign(gateway.ActRemove, gateway.RemoveSubject(k.ID), signer, console.Now())); err != nil {
		return signing.Refusal(what+" "+k.ID, err)
	}
	return a.removed(d, k)
}

// lastKey returns a warning if k is the last key that counts, and "" otherwise.
func lastKey(ring gateway.Ring, k gateway.PublicKey) string {
	for _, other := range ring.Keys() {
		if other.ID != k.ID && other.Counts(console.Now()) {
			return ""
		}
	}
	return noKeyLeft
}

const noKeyLeft = `This is the last key. Without a key, unsigned decisions count again, and any program of this system user can make them.
The next key that is enrolled signs itself, as the first one did.
`

// removed prints which key was removed and the consequences.
func (a *Commands) removed(d desk, k gateway.PublicKey) error {
	const what = "approvals keys remove"
	ring, err := d.Keys()
	if err != nil {
		return console.Fault(what, err)
	}
	dir := approver.Dir(d.KeyDir)
	if now, ok := ring.Find(k.ID); ok {
		k = now
	}
	if a.JSON {
		return a.PrintJSON(keyRowOf(k, dir))
	}
	text := "removed approver key " + k.ID + " (" + console.Clip(k.Name, console.MaxName) + "): what it signs from now on does not count\n"
	if _, err := dir.Read(k.ID); err == nil {
		text += "you can delete its file: " + dir.Path(k.ID) + "\n"
	}
	if !ring.Counts(console.Now()) {
		text += noKeyLeft
	}
	return a.Print(text)
}

// keyOf returns the only key whose id begins with the typed text. The text needs at least 4 characters.
func keyOf(what string, ring gateway.Ring, beginning string) (gateway.PublicKey, error) {
	const list = "patterngate approvals keys"
	const least = 4
	var found []gateway.PublicKey
	var ids []string
	for _, k := range ring.Keys() {
		if len(beginning) >= least && strings.HasPrefix(k.ID, beginning) {
			found, ids = append(found, k), append(ids, k.ID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return gateway.PublicKey{}, console.Usage(what, fmt.Errorf("no key %s is enrolled here", console.Quoted(beginning)), list)
	}
	return gateway.PublicKey{}, console.Usage(what, fmt.Errorf("%d keys begin with %s: %s", len(ids), beginning, console.FirstFew(ids)), "more digits")
}

// completeKey offers the keys that are not removed.
func (a *Commands) completeKey(_ *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var offered []cobra.Completion
	if len(words) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_ = a.withApprovals("", func(d desk) error { // the command itself reports errors
		ring, err := d.Keys()
		for _, k := range ring.Keys() {
			if k.Removed.IsZero() && strings.HasPrefix(k.ID, begun) {
				offered = append(offered, cobra.CompletionWithDesc(k.ID, console.Clip(k.Name, console.MaxName)))
			}
		}
		return err
	})
	return offered, cobra.ShellCompDirectiveNoFileComp
}
