package local

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
	"patterngate/patterns/store/sqlite"
)

// Options say what an engine over a state file needs.
type Options struct {
	// Path of the state file; made where it is not there.
	Path string
	// Store keeps the runs instead of a state file at Path; nil: that does. The engine closes it.
	Store store.Store
	// Config is the hash of the configuration that this process makes jobs from, Snapshot what Source makes it again from.
	Config   string
	Snapshot []byte
	// Source makes again what runs were begun with; nil: no run is carried on that another process began.
	Source patterns.Source
	// Redact are pointers to values that the record keeps only as salted hashes (spec/config.md section 2, redact).
	Redact []string
	// Hook is called at every boundary: "commit" and "committed" of the journal, "send" and "sent" around a call. Nil: no call.
	Hook func(point string)
	// Poll is how often it is looked whether another process has written or died; 0: 20 ms, or 100 ms where none carries
	// anything on and nobody waits.
	Poll time.Duration
}

const (
	defaultPoll = 20 * time.Millisecond
	// again is how long after a failure it is tried again to write.
	again = 200 * time.Millisecond
)

// file keeps runs in a state file.
//
//	ready ──claim: epoch + 1──▶ running ──▶ ended
//	  ▲                           │ every branch ended or waits
//	  └── answer, clock ── parked ◀┘
//	running, and its owner's lock is free ──▶ ready
type file struct {
	*Engine
	options   Options
	journal   store.Store
	owner     store.Owner
	redactor  redaction.Rules
	scheduler *scheduler

	// Guarded by the engine's lock.
	lives     map[string]*life                          // by run
	delivered map[int64]delivered                       // results that were delivered not long ago
	outcomes  map[string]map[string]journal.OutcomeBody // that could not be recorded, by run and key
	lacking   map[int64]int64                           // epochs of ready runs that cannot be carried on here
	stuck     map[string]*patterns.Waiting              // runs that cannot go on because they cannot be recorded
	resumed   int                                       // lives that were taken from the file by nobody's call
	crowded   bool                                      // as many runs as may be are carried on
	leaving   bool                                      // runs that nobody waits for begin nothing more here
	closed    bool

	stopping atomic.Bool  // a kill switch may be on
	recall   atomic.Bool  // a run is to be cancelled that did not live here when it was looked for
	unstored unstored     // configurations
	heard    atomic.Int64 // the newest reload that was carried out, or was there before this program
}

var _ keeper = (*file)(nil)

// openFile opens a state file.
var openFile = func(path string, hook func(point string)) (store.Store, error) { return sqlite.Open(path, hook) }

// Open opens or makes a state file. Its errors wrap [patterns.ErrJournal]. Nothing of what it holds is carried on before
// [Engine.Go]; the engine's fields are set in between.
func Open(o Options) (*Engine, error) {
	e := &Engine{}
	f := &file{
		Engine: e, options: o,
		lives: map[string]*life{}, lacking: map[int64]int64{}, stuck: map[string]*patterns.Waiting{}, delivered: map[int64]delivered{},
	}
	var err error
	if f.redactor, err = redaction.Read(o.Redact); err != nil {
		return nil, err
	}
	if f.journal = o.Store; f.journal == nil {
		if f.journal, err = openFile(o.Path, o.Hook); err != nil {
			return nil, err
		}
	}
	f.owner = f.journal.Owner()
	f.scheduler = newScheduler(f)
	f.stopping.Store(true)
	if !f.redactor.None() { // a process may have died before it tidied
		f.journal.Hides()
	}
	f.configure(o.Config, o.Snapshot)
	e.file = f
	return e, nil
}

// Go begins to carry on what the state file holds and nobody else does, now and whenever there is something. It is
// called once, and not for an engine in memory.
func (e *Engine) Go() {
	e.file.scheduler.serves.Store(true)
	e.file.skipReloads()
	e.file.owner.Serves()
	e.file.orphans()
	e.file.scheduler.start()
}

// Config is the snapshot of a configuration that runs of this state file were begun with; false: it is not there.
func (e *Engine) Config(hash string) (body []byte, ok bool) {
	if e.file == nil {
		return nil, false
	}
	_ = e.file.journal.View(func(s store.Reader) (err error) { // one that cannot be read is not there
		body, ok, err = s.Config(hash)
		return err
	})
	return body, ok
}

// Backup copies the state into a new file while it is in use.
func (e *Engine) Backup(ctx context.Context, to string) error { return e.file.journal.Backup(ctx, to) }

func (e *Engine) hook(point string) {
	if e.file != nil && e.file.options.Hook != nil {
		e.file.options.Hook(point)
	}
}

// close hands over what runs, and leaves the file.
func (f *file) close() {
	f.mu.Lock()
	already := f.closed
	f.closed = true
	lives := make([]*life, 0, len(f.lives))
	for _, l := range f.lives {
		lives = append(lives, l)
	}
	f.mu.Unlock()
	if already {
		return
	}
	f.scheduler.close()
	for _, l := range lives {
		l.giveUp(errHandedOver)
	}
	for _, l := range lives {
		<-l.done
	}
	f.scheduler.polls.Wait()
	f.deliver()
	_ = f.journal.Do(&store.Change{Durable: true, Steps: []store.Step{store.Release{Owner: f.owner.ID()}}}) // else the lock tells, when it falls
	f.journal.Close()
	f.waiters.announceAll() // here nobody learns of a run any more
}

// requestOf is by what a call's run is found again, and by what its arguments are compared; nil for a call that is equal
// to none.
func requestOf(job patterns.Job) (request, args []byte) {
	if job.Equal == "" && job.ByKey == "" {
		return nil, nil
	}
	kind, what := "equal", job.Equal
	if job.ByKey != "" {
		kind, what = "key", job.ByKey
	}
	sum := sha256.Sum256([]byte(job.Principal + "\x00" + job.Spec.Name + "\x00" + kind + "\x00" + what))
	all := sha256.Sum256([]byte(job.Equal))
	return sum[:16], all[:16]
}

// begin prepares a run. It is entered with its first flush, so that beginning costs no transaction of its own; nothing is
// performed before. What refuses it ends its life, see [Engine.entered].
func (f *file) begin(r *run) (string, error) {
	n, _ := journal.RunNumber(r.id)
	job, now := r.job, f.journal.Now()
	request, args := requestOf(job)
	t := &tail{file: f, id: r.id, n: n, parent: r.parentOf(), hidden: f.hiding().Values(), begun: make(chan struct{})}
	if r.within != nil {
		t.hidden.Inherits(r.within.record.known())
	}
	r.record.file = t
	r.began = r.record.append(patterns.StartEvent, "", now, startOf(r, f.Version)).At
	begin := r.beginning(f.owner)
	begin.Configs = f.unstored.all()
	t.begin = &begin
	if request != nil {
		t.begin.Equal = &store.Equal{Request: request, Args: args, ByKey: job.ByKey != "", Since: f.joinable(now).UnixMicro(), Plan: planOfCall(job), Outdated: outdated[:]}
	}
	r.idle.Since = r.began
	return "", nil
}

// beginning returns the step that adds a run's row.
func (r *run) beginning(owner store.Owner) store.Begin {
	n, _ := journal.RunNumber(r.id)
	job := r.job
	return store.Begin{
		N: n, Pattern: job.Spec.Name, Kind: string(job.Spec.Kind), Principal: job.Principal, Client: job.Client, Config: job.Config,
		Began: r.began.UnixMicro(), Owner: owner.ID(), Parent: r.parentOf(),
	}
}

// notBegun returns why there is no run: the id of the run that an equal call began, or the error. It returns [errUnspent] if that run has
// ended, its result was delivered here, and the file did not know it: the call then begins a run of its own.
func (f *file) notBegun(refused error, job patterns.Job) (joined string, err error) {
	r, is := errors.AsType[*store.Refused](refused)
	switch {
	case !is:
		return "", fmt.Errorf("%w: %w", patterns.ErrJournal, refused)
	case r.Joined == 0:
		return "", patterns.ErrReused
	case job.ByKey == "" && f.isDelivered(r.Joined, job.Principal):
		f.deliver()
		return "", fmt.Errorf("%w: %w", patterns.ErrJournal, errUnspent)
	}
	return journal.RunID(r.Joined), nil
}

// lost forgets a life whose run is in other hands, with what only this process knew of it.
func (f *file) lost(l *life) {
	f.gone(l)
	f.mu.Lock()
	delete(f.outcomes, l.id)
	f.mu.Unlock()
	f.scheduler.nudge() // those hands may be this process's
}

// gone notes that a run lives here no more.
func (f *file) gone(l *life) (changed patterns.Snapshot, attended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lives[l.id] == l {
		delete(f.lives, l.id)
		if l.run.resumed {
			f.resumed--
		}
	}
	if f.crowded {
		f.crowded = false
		f.scheduler.nudge()
	}
	return l.snapshot(), l.isAttended()
}

func (f *file) finish(l *life, rest patterns.Ended) error {
	status := "stopped"
	if rest.Result.OK() {
		status = "ok"
	}
	return f.finishAs(l, rest, status)
}

func (f *file) finishAs(l *life, rest patterns.Ended, status string) error {
	n, r, below := l.record.file.n, rest.Result, l.hasBelow()
	summary := l.record.public(ijson.Cut(l.summary, maxSummary))
	err := l.record.rest(false, func(head store.Head) []store.Step {
		steps := []store.Step{store.End{N: n, Head: head, Ended: rest.Ended.UnixMicro(), Status: status, StopReason: r.StopReason, Phase: r.Phase, Summary: summary}}
		if below || l.job.Parent != nil {
			steps = append(steps, leavesBehind(n, l.parentOf())...)
		}
		return append(steps, l.record.file.forget()...)
	})
	if err != nil {
		return err
	}
	f.rests(l, patterns.Over, rest)
	if below {
		f.dropChildren(l.id)
	}
	if l.job.Parent != nil { // who rests with it is ready
		f.scheduler.nudge()
	}
	return nil
}

// rests tells that a life came to rest.
func (f *file) rests(l *life, state patterns.RunState, rest patterns.Ended) {
	f.mu.Lock()
	l.run.state, l.run.rest, l.run.life = state, rest, nil
	delete(f.outcomes, l.id)
	f.mu.Unlock()
	changed, attended := f.gone(l)
	f.tell(changed, attended)
}

// lose ends a run by a fault of ours.
func (f *file) lose(l *life, rest patterns.Ended, fault error) {
	phase := cmp.Or(rest.Phase, l.now.Load().Phase)
	end := journal.EndBody{Status: "stopped", StopReason: "internal_error", Phase: phase}
	if l.job.Present != nil {
		shown := l.job.Present(rest, fault)
		end.Envelope, l.summary = shown.Envelope, shown.Summary
	}
	rest.Ended = l.record.append(patterns.EndEvent, "", f.journal.Now(), end).At
	rest.Result = patterns.Result{StopReason: end.StopReason, Phase: phase}
	if err := f.finishAs(l, rest, end.Status); err != nil {
		f.later(l)
	}
}

func (f *file) leave(r *run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.attended = false
}
