package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"patterngate/gateway"
	"patterngate/gateway/approver"
	"patterngate/patterns"
	"patterngate/server/cli/console"
)

// keyID is the id of an approver key.
var keyID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// signing is who may sign, and for what.
type signing struct {
	what string       // the command
	does string       // what is signed, in words, for the prompt
	call string       // what stands above the prompt: all of what is signed, where it is more than that; "" for nothing
	ring gateway.Ring // the enrolled keys
	dir  approver.Dir // where key files lie
	key  string       // the one that was named; "" for the only one
}

// signs says whether the answer needs a signature: only signed ones count, a key was named, or the question asks for it.
func (c *deciding) signs(ring gateway.Ring, asked patterns.Asked) bool {
	return c.key != "" || ring.Counts(console.Now()) || asked.Least == gateway.SignedAssurance
}

// sign has the person who knows the passphrase sign the answer. The call stands above the prompt: what they see is what
// they sign.
func (c *deciding) sign(ctx context.Context, d desk, ring gateway.Ring, asked patterns.Asked, in *patterns.Decided) error {
	verb := map[gateway.Choice]string{gateway.ChooseApprove: "approve ", gateway.ChooseEdit: "approve, with these changes, ", gateway.ChooseReject: "reject "}[in.Choice]
	key, err := c.app.openKey(ctx, signing{
		what: c.name() + " " + asked.ID, does: verb + asked.ID + ", " + console.Clip(phraseOf(asked), 2*console.MaxName), call: d.context(asked, console.Now(), c.app.Width()) + c.call(asked, in.Args), ring: ring,
		dir: approver.Dir(d.keyDir), key: c.key,
	})
	if err != nil {
		return err
	}
	defer key.Close()
	in.At = console.Now()
	in.Answer, in.Signature = approver.Decide(in.Answer, key)
	return nil
}

// keyHolder is what knows the approver keys of a state file.
type keyHolder interface {
	Keys() (gateway.Ring, error)
	KeyDir() string
}

// act is an act signed by the person at the terminal, where an approver key is enrolled or one was named; else none.
func (a *app) act(ctx context.Context, h keyHolder, name string, subject map[string]any, s signing) (gateway.SignedAct, error) {
	ring, err := h.Keys()
	if err != nil {
		return gateway.SignedAct{}, console.Fault(s.what, err)
	}
	if s.key == "" && !ring.Counts(console.Now()) {
		return gateway.SignedAct{}, nil
	}
	s.ring, s.dir = ring, approver.Dir(h.KeyDir())
	key, err := a.openKey(ctx, s)
	if err != nil {
		return gateway.SignedAct{}, err
	}
	defer key.Close()
	return approver.Sign(name, subject, key, console.Now()), nil
}

// signer signs acts with one key that is opened once, where an approver key is enrolled or one was named; else what it gives is
// unsigned. done lets the key go.
func (a *app) signer(ctx context.Context, h keyHolder, s signing) (sign func(name string, subject map[string]any) gateway.SignedAct, done func(), err error) {
	ring, err := h.Keys()
	if err != nil {
		return nil, nil, console.Fault(s.what, err)
	}
	if s.key == "" && !ring.Counts(console.Now()) {
		return func(string, map[string]any) gateway.SignedAct { return gateway.SignedAct{} }, func() {}, nil
	}
	s.ring, s.dir = ring, approver.Dir(h.KeyDir())
	key, err := a.openKey(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	return func(name string, subject map[string]any) gateway.SignedAct {
		return approver.Sign(name, subject, key, console.Now())
	}, func() { key.Close() }, nil
}

// openKey opens the key that signs by the passphrase that a person types. Nothing was done where it does not.
func (a *app) openKey(ctx context.Context, s signing) (*approver.Key, error) {
	file, err := s.file()
	if err != nil {
		return nil, err
	}
	typed, err := a.passphrase(ctx, s.call, fmt.Sprintf("To %s: passphrase of approver key %s (%s)", s.does, file.ID, console.Clip(file.Name, console.MaxName)))
	if errors.Is(err, errNoTerminal) {
		err = s.refused("it needs the signature of an approver key: "+err.Error(), "the same command at a terminal, by the person who has the passphrase")
	}
	if err != nil {
		return nil, err
	}
	key, err := file.Open(typed)
	switch {
	case errors.Is(err, approver.ErrPassphrase):
		return nil, s.refused("the passphrase does not open the key "+file.ID+"; nothing was done", "the same command again")
	case err != nil:
		return nil, console.Fault(s.what, err)
	}
	return key, nil
}

// refused is a refusal for want of a signature.
func (s signing) refused(cause, try string) error { return console.Refused(s.what, cause, try) }

// file is the sealed key that signs: the one that was named, else the only one whose file is here.
func (s signing) file() (approver.File, error) {
	var none approver.File
	count := s.counting()
	switch {
	case s.key != "" && !count[s.key]:
		why := console.Quoted(s.key) + " is no key that counts here"
		if k, known := s.ring.Find(s.key); known && !k.Removed.IsZero() {
			why = "the key " + s.key + " was removed at " + console.ClockText(k.Removed)
		}
		return none, console.Usage("--key", errors.New(why), "patterngate approvals keys")
	case s.key != "":
		f, err := s.dir.Read(s.key)
		if errors.Is(err, fs.ErrNotExist) {
			return none, s.refused("the file of the key "+s.key+" is not here: "+s.dir.Path(s.key), "--key ID of another one, or the same command where that file is")
		}
		if err != nil {
			return none, s.refused(err.Error(), "patterngate approvals keys")
		}
		return f, nil
	case len(count) == 0:
		return none, s.refused("only what an approver key signed counts here, and no key counts", "patterngate approvals keys")
	}
	files, err := s.dir.List()
	if err != nil {
		return none, console.Fault(s.what, err)
	}
	var here []approver.File
	var names []string
	faults := ""
	for _, f := range files {
		switch {
		case f.Err != nil:
			faults += "; " + f.Err.Error()
		case count[f.File.ID]:
			here, names = append(here, f.File), append(names, f.File.ID+" ("+console.Clip(f.File.Name, console.MaxName)+")")
		}
	}
	switch len(here) {
	case 0:
		return none, s.refused("only what an approver key signed counts here, and the file of none is in "+string(s.dir)+faults, "patterngate approvals keys")
	case 1:
		return here[0], nil
	}
	return none, console.Usage(s.what, errors.New("which key signs? "+strings.Join(names, ", ")), "--key ID")
}

// counting are the ids of the keys that count now.
func (s signing) counting() map[string]bool {
	count := map[string]bool{}
	for _, k := range s.ring.Keys() {
		if k.Counts(console.Now()) {
			count[k.ID] = true
		}
	}
	return count
}
