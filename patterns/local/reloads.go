package local

import (
	"context"
	"encoding/json"
	"errors"
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
		if err != nil || len(answers) >= len(o.file.owner.living(servers)) {
			return answers, err
		}
		select {
		case <-ctx.Done():
			return answers, ctx.Err()
		case <-tick.C:
		}
	}
}

// answerPoll is how often it is looked for answers.
const answerPoll = 20 * time.Millisecond

func (f *file) askReload(r ReloadRequest) (n int64, err error) {
	err = f.journal.do(&change{sync: true, also: func(s *session) error {
		var act any // NULL
		if r.Signed() {
			if err := f.signed(s, r.Act, wanted{gateway.ActReload, ReloadSubject(r.Path, r.To)}); err != nil {
				return err
			}
			act = r.Act.Object()
		}
		if _, err := s.exec(insertReload, r.At.UnixMicro(), r.Path, r.To, r.By.By, r.By.Channel, act, r.Act.Signature); err != nil {
			return err
		}
		return s.each(func(row func(...any) error) error { return row(&n) }, selectNewestReload)
	}})
	return n, err
}

func (f *file) reloadAnswers(n int64) (list []ReloadAnswer, err error) {
	err = f.journal.view(func(s *session) error {
		return s.each(func(row func(...any) error) error {
			var a ReloadAnswer
			var body string
			if err := row(&body); err != nil {
				return err
			}
			err := json.Unmarshal([]byte(body), &a)
			list = append(list, a)
			return err
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

// heed carries out reloads that were asked for since the last look. It is called by the watching goroutine alone.
func (f *file) heed() {
	if f.Engine.Reload == nil {
		return
	}
	type asked struct {
		n int64
		ReloadRequest
	}
	var list []asked
	err := f.journal.view(func(s *session) error {
		return s.each(func(row func(...any) error) error {
			var a asked
			var at int64
			var act []byte
			if err := row(&a.n, &at, &a.Path, &a.To, &a.By.By, &a.By.Channel, &act, &a.Act.Signature); err != nil {
				return err
			}
			a.At = time.UnixMicro(at)
			if signed, err := gateway.ReadAct(act); err == nil {
				a.Act.Act = signed
			} else {
				a.Act.Signature = ""
			}
			list = append(list, a)
			return nil
		}, selectReloads, f.heard.Load())
	})
	if err != nil {
		return // the next look finds them
	}
	for _, a := range list {
		f.heard.Store(a.n)
		answer := f.Engine.Reload(a.ReloadRequest)
		_ = f.answerReload(a.n, answer) // who asked is told that nothing was answered
	}
}

func (f *file) answerReload(n int64, a ReloadAnswer) error {
	a.Owner = f.owner.id
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return f.journal.do(&change{sync: true, also: func(s *session) error {
		_, err := s.exec(insertReloadAnswer, n, a.Owner, f.journal.now().UnixMicro(), string(body))
		return err
	}})
}

// Reloaded records a reload that nobody asked for in the state file, such as one by a signal. In memory it does nothing.
func (e *Engine) Reloaded(r ReloadRequest, a ReloadAnswer) {
	if e.file == nil {
		return
	}
	r.Act = gateway.SignedAct{}
	n, err := e.file.askReload(r)
	if err == nil {
		e.file.heard.Store(n)
		err = e.file.answerReload(n, a)
	}
	if err != nil && e.Fault != nil {
		e.Fault("", "reload", err)
	}
}
