package local

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// A reload is asked for in the state file, so that every program that serves from it hears of it, on any system:
//
//	patterngate reload ──▶ reloads ──▶ each program that serves: loads, judges, swaps ──▶ reload_answers ──▶ patterngate reload
//
// Both tables stay: a reload is an event with both hashes and what it loosened.

// ReloadRequest asks the programs that serve from a state file to load their configuration again.
type ReloadRequest struct {
	Path string // of the configuration that was changed; programs with another one do nothing
	By   patterns.Note
	At   time.Time
	// Act is [gateway.ActReload] about [ReloadSubject]; the zero Act where nobody signed.
	Act gateway.SignedAct
	To  string // the hash that is signed
}

// Signed reports whether somebody signed the request; whether that counts is judged where it is taken.
func (r ReloadRequest) Signed() bool { return r.Act.Key != "" && r.Act.Signature != "" }

// ReloadSubject is what is signed of a reload: which file, and the hash of the configuration that it shall put in force.
func ReloadSubject(path, to string) map[string]any { return map[string]any{"config": path, "to": to} }

// ReloadAnswer is what became of a reload in one program.
type ReloadAnswer struct {
	Owner    string // the program
	OK       bool
	Other    bool     // it runs another configuration file
	From, To string   // hashes
	Loosens  []string // a line each
	Waiting  []string // keys that wait for a restart
	Text     string   // why not
}

// ErrNobodyServes says that no program serves from the state file.
var ErrNobodyServes = errors.New("no program serves from this state file")

// Reload asks for a reload and returns what each program that serves says, when all have or ctx ends.
func (o Operator) Reload(ctx context.Context, r ReloadRequest) ([]ReloadAnswer, error) {
	servers := o.file.owner.servers()
	if len(servers) == 0 {
		return nil, ErrNobodyServes
	}
	n, err := o.file.askReload(r)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(answerPoll)
	defer tick.Stop()
	for {
		answers, err := o.file.reloadAnswers(n)
		if err != nil {
			return answers, err
		}
		servers = slices.DeleteFunc(o.file.owner.living(servers), func(id string) bool {
			return slices.ContainsFunc(answers, func(a ReloadAnswer) bool { return a.Owner == id })
		})
		if len(servers) == 0 {
			return answers, nil
		}
		select {
		case <-ctx.Done():
			return answers, ctx.Err()
		case <-tick.C:
		}
	}
}

// maxAsked is how many requests are taken at a look.
const maxAsked = 16

// answerPoll is how often it is looked for answers.
const answerPoll = 20 * time.Millisecond

func (f *file) askReload(r ReloadRequest) (n int64, err error) {
	err = f.journal.do(&change{sync: true, also: func(s *session) error {
		if r.Signed() {
			if err := f.signed(s, r.Act, wanted{gateway.ActReload, ReloadSubject(r.Path, r.To)}); err != nil {
				return err
			}
		}
		n, err = reloadIn(s, r, true)
		return err
	}})
	return n, err
}

// reloadIn enters a reload that programs are asked for, or that one did by itself.
func reloadIn(s *session, r ReloadRequest, asked bool) (n int64, err error) {
	var act any // NULL
	if r.Signed() {
		act = r.Act.Object()
	}
	if _, err := s.exec(insertReload, r.At.UnixMicro(), r.Path, r.To, asked, r.By.By, r.By.Channel, act, r.Act.Signature); err != nil {
		return 0, err
	}
	err = s.each(func(row func(...any) error) error { return row(&n) }, selectNewestReload)
	return n, err
}

func (f *file) reloadAnswers(n int64) (list []ReloadAnswer, err error) {
	err = f.journal.view(func(s *session) error {
		return s.each(func(row func(...any) error) error {
			var a ReloadAnswer
			var owner, body string
			if err := row(&owner, &body); err != nil {
				return err
			}
			if json.Unmarshal([]byte(body), &a) != nil {
				a = ReloadAnswer{Text: "its answer cannot be read"}
			}
			a.Owner = owner
			list = append(list, a)
			return nil
		}, selectReloadAnswers, n)
	})
	return list, err
}

// skipReloads has requests from before this program's start be none of its business.
func (f *file) skipReloads() {
	var newest int64
	_ = f.journal.view(func(s *session) error { // what it cannot read it takes for new: it loads once more
		return s.each(func(row func(...any) error) error { return row(&newest) }, selectNewestReload)
	})
	f.heard.Store(newest)
}

// askedReload is a request with its number.
type askedReload struct {
	n int64
	ReloadRequest
}

// heed carries out reloads that were asked for since the last look; false: more may be asked for. It is called by the
// watching goroutine alone.
func (f *file) heed() (all bool) {
	if f.Engine.Reload == nil {
		return true
	}
	list, err := f.askedReloads()
	for _, a := range list {
		f.heard.Store(a.n)
		answer := f.Engine.Reload(a.ReloadRequest)
		_ = f.journal.do(&change{sync: true, also: func(s *session) error { // who asked is told that nothing was answered
			return f.answerIn(s, a.n, answer)
		}})
	}
	return err == nil && len(list) < maxAsked
}

// askedReloads are the next requests that nobody here has heard of. An act that cannot be read, or that was brought before,
// signs nothing.
func (f *file) askedReloads() (list []askedReload, err error) {
	err = f.journal.view(func(s *session) error {
		return s.each(func(row func(...any) error) error {
			var a askedReload
			var at int64
			var act []byte
			var again bool
			if err := row(&a.n, &at, &a.Path, &a.To, &a.By.By, &a.By.Channel, &act, &a.Act.Signature, &again); err != nil {
				return err
			}
			a.At = time.UnixMicro(at)
			if signed, err := gateway.ReadAct(act); err == nil && !again {
				a.Act.Act = signed
			} else {
				a.Act.Signature = ""
			}
			list = append(list, a)
			return nil
		}, selectReloads, f.heard.Load(), maxAsked)
	})
	return list, err
}

func (f *file) answerIn(s *session, n int64, a ReloadAnswer) error {
	a.Owner = f.owner.id
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = s.exec(insertReloadAnswer, n, a.Owner, f.journal.now().UnixMicro(), string(body))
	return err
}

// Reloaded records a reload that nobody asked for in the state file, such as one by a signal: no other program follows it. In
// memory it does nothing.
func (e *Engine) Reloaded(r ReloadRequest, a ReloadAnswer) {
	if e.file == nil {
		return
	}
	r.Act = gateway.SignedAct{}
	err := e.file.journal.do(&change{sync: true, also: func(s *session) error {
		n, err := reloadIn(s, r, false)
		if err == nil {
			err = e.file.answerIn(s, n, a)
		}
		return err
	}})
	if err != nil && e.Fault != nil {
		e.Fault("", "reload", err)
	}
}
