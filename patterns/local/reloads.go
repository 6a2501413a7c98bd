package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/decisions"
	"patterngate/patterns/store"
)

// The state file holds the requests to reload, so that every program that serves from it sees them, on any system:
//
//	patterngate reload ──▶ reloads ──▶ each program that serves: loads, judges, swaps ──▶ reload_answers ──▶ patterngate reload
//
// Rows of both tables are never deleted: a reload is an event with both hashes and the list of what it loosened.

// ReloadRequest asks the programs that serve from a state file to load their configuration again.
type ReloadRequest struct {
	Path string // of the configuration that was changed; programs with another one do nothing
	By   patterns.Note
	At   time.Time
	// Act is [gateway.ActReload] about [ReloadSubject]; the zero Act if the request is not signed.
	Act gateway.SignedAct
	To  string // the hash that is signed
}

// Signed reports whether the request has a signature. The program that takes the request decides whether the signature counts.
func (r ReloadRequest) Signed() bool { return r.Act.Key != "" && r.Act.Signature != "" }

// ReloadSubject returns what is signed for a reload: the file, and the hash of the configuration that takes effect.
func ReloadSubject(path, to string) map[string]any { return map[string]any{"config": path, "to": to} }

// ReloadAnswer is the result of a reload in one program.
type ReloadAnswer struct {
	Owner    string // the id of the program
	OK       bool
	Other    bool     // it runs another configuration file
	From, To string   // hashes
	Loosens  []string // one line for each
	Waiting  []string // keys that take effect after a restart
	Text     string   // why it failed
}

// ErrNobodyServes is returned if no program serves from the state file.
var ErrNobodyServes = errors.New(noProgramServes)

// Reload requests a reload. It returns the answers of the programs that serve, when all have answered or ctx ends.
func (o Operator) Reload(ctx context.Context, r ReloadRequest) ([]ReloadAnswer, error) {
	servers := o.file.owner.Servers()
	if len(servers) == 0 {
		return nil, ErrNobodyServes
	}
	n, err := o.file.askReload(r)
	if err != nil {
		return nil, err
	}
	var answers []ReloadAnswer
	over := o.file.scheduler.every(ctx, answerPoll, func() bool {
		if answers, err = o.file.reloadAnswers(n); err != nil {
			return true
		}
		servers = slices.DeleteFunc(o.file.owner.Living(servers), func(id string) bool {
			return slices.ContainsFunc(answers, func(a ReloadAnswer) bool { return a.Owner == id })
		})
		return len(servers) == 0
	})
	return answers, cmp.Or(err, over)
}

// maxAsked is how many requests are read at once.
const maxAsked = 16

// answerPoll is how often Reload looks for answers.
const answerPoll = 20 * time.Millisecond

func (f *file) askReload(r ReloadRequest) (n int64, err error) {
	c, step := &store.Change{Durable: true}, f.reloadStep(r, true)
	step.N = &n
	if r.Signed() {
		err = f.signer().Signed(r.Act, decisions.Wanted{Act: gateway.ActReload, Subject: ReloadSubject(r.Path, r.To)}, c, step)
		return n, err
	}
	c.Steps = []store.Step{step}
	err = f.journal.Do(c)
	return n, err
}

// reloadStep makes the step that stores a reload: one that programs are asked for, or one that a program did by itself.
func (f *file) reloadStep(r ReloadRequest, asked bool) store.AddReload {
	s := store.AddReload{At: r.At.UnixMicro(), Path: r.Path, Hash: r.To, Asked: asked, By: r.By.By, Channel: r.By.Channel, Signature: r.Act.Signature}
	if r.Signed() {
		s.Act = r.Act.Object()
	}
	return s
}

func (f *file) reloadAnswers(n int64) (list []ReloadAnswer, err error) {
	var stored []store.ReloadAnswer
	err = f.journal.View(func(s store.Reader) error {
		stored, err = s.ReloadAnswers(n)
		return err
	})
	for _, s := range stored {
		var a ReloadAnswer
		if json.Unmarshal([]byte(s.Body), &a) != nil {
			a = ReloadAnswer{Text: answerUnreadable}
		}
		a.Owner = s.Owner
		list = append(list, a)
	}
	return list, err
}

// skipReloads marks the requests from before this program's start as done.
func (f *file) skipReloads() {
	var newest int64
	_ = f.journal.View(func(s store.Reader) (err error) { // on an error the old requests count as new: the program loads once more
		newest, err = s.NewestReload()
		return err
	})
	f.heard.Store(newest)
}

// askedReload is a request with its number.
type askedReload struct {
	n int64
	ReloadRequest
}

// heed performs the reloads that were requested since the last look. It returns false if there may be more requests. Only the
// watching goroutine calls it.
func (f *file) heed() (all bool) {
	if f.Engine.Reload == nil {
		return true
	}
	list, err := f.askedReloads()
	for _, a := range list {
		f.heard.Store(a.n)
		answer := f.Engine.Reload(a.ReloadRequest)
		if body, err := f.answered(answer); err == nil {
			step := store.AddReloadAnswer{N: a.n, ReloadAnswer: body}
			_ = f.journal.Do(&store.Change{Durable: true, Steps: []store.Step{step}}) // on an error the requester gets no answer
		}
	}
	return err == nil && len(list) < maxAsked
}

// askedReloads returns the next requests that this program has not seen. An act that cannot be read, or that was used before, does
// not count as a signature.
func (f *file) askedReloads() (list []askedReload, err error) {
	var stored []store.Reload
	err = f.journal.View(func(s store.Reader) error {
		stored, err = s.Reloads(f.heard.Load(), maxAsked)
		return err
	})
	for _, s := range stored {
		a := askedReload{n: s.N, ReloadRequest: ReloadRequest{Path: s.Path, To: s.Hash, At: time.UnixMicro(s.At)}}
		a.By.By, a.By.Channel, a.Act.Signature = s.By, s.Channel, s.Signature
		if signed, err := gateway.ReadAct(s.Act); err == nil && !s.Again {
			a.Act.Act = signed
		} else {
			a.Act.Signature = ""
		}
		list = append(list, a)
	}
	return list, err
}

// answered returns this program's answer to a reload in its stored form.
func (f *file) answered(a ReloadAnswer) (store.ReloadAnswer, error) {
	a.Owner = f.owner.ID()
	body, err := json.Marshal(a)
	return store.ReloadAnswer{Owner: a.Owner, At: f.journal.Now().UnixMicro(), Body: string(body)}, err
}

// Reloaded records a reload that no request in the state file asked for, for example one by a signal. No other program follows it.
// In memory it does nothing.
func (e *Engine) Reloaded(r ReloadRequest, a ReloadAnswer) {
	e.keeper().reloaded(r, a)
}

func (f *file) reloaded(r ReloadRequest, a ReloadAnswer) {
	r.Act = gateway.SignedAct{}
	step := f.reloadStep(r, false)
	answer, err := f.answered(a)
	if step.Answer = &answer; err == nil {
		err = f.journal.Do(&store.Change{Durable: true, Steps: []store.Step{step}})
	}
	if err != nil {
		f.report("", "reload", err)
	}
}
