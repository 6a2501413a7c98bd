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

// Options are the settings of an engine over a state file.
type Options struct {
	// Path is the path of the state file. Open creates the file if it does not exist.
	Path string
	// Store keeps the runs instead of the state file at Path; nil: the state file does. The engine closes it.
	Store store.Store
	// Config is the hash of the configuration from which this process makes jobs. Snapshot is the data from which
	// Source can make that configuration again.
	Config   string
	Snapshot []byte
	// Source makes again the jobs with which runs were begun; nil: a run that another process began cannot continue
	// here.
	Source patterns.Source
	// Redact lists pointers to values that the record keeps only as salted hashes (spec/config.md section 2, redact).
	Redact []string
	// Hook is called at every boundary: "commit" and "committed" of the store, "send" and "sent" around a call. nil: it
	// is not called.
	Hook func(point string)
	// Poll is how often the engine looks whether another process has written or died. The zero value means every 20 ms.
	// While no other process carries out a run and no call waits, it means every 100 ms.
	Poll time.Duration
}

const (
	defaultPoll = 20 * time.Millisecond
	// again is the time between a failed write and the next attempt.
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

	// The engine's lock guards these fields.
	lives     map[string]*life                          // by run
	delivered map[int64]string                          // principals by run: deliveries that the file does not have yet
	outcomes  map[string]map[string]journal.OutcomeBody // outcomes that could not be recorded, by run and key
	lacking   map[int64]int64                           // epochs of ready runs that this process cannot carry out
	stuck     map[string]*patterns.Waiting              // runs that cannot continue because their events cannot be written
	resumed   int                                       // lives that were taken from the file without a call
	crowded   bool                                      // the limit of runs at once is reached
	leaving   bool                                      // runs that no call waits for begin nothing more here
	closed    bool

	stopping atomic.Bool  // a kill switch may be on
	recall   atomic.Bool  // a run must be cancelled that had no life here when it was looked up
	unstored unstored     // configurations that are not in the file yet
	heard    atomic.Int64 // the newest reload that is done, or that is older than this process
}

var _ keeper = (*file)(nil)

// openFile opens a state file.
var openFile = func(path string, hook func(point string)) (store.Store, error) { return sqlite.Open(path, hook) }

// Open opens a state file, or creates it. Errors of the file wrap [patterns.ErrJournal]. No run in the file is carried
// out before [Engine.Go]. Set the engine's fields between the two calls.
func Open(o Options) (*Engine, error) {
	e := &Engine{}
	f := &file{
		Engine: e, options: o,
		lives: map[string]*life{}, lacking: map[int64]int64{}, stuck: map[string]*patterns.Waiting{}, delivered: map[int64]string{},
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
	if !f.redactor.None() { // a process may have died before it removed hidden values
		f.journal.Hides()
	}
	f.configure(o.Config, o.Snapshot)
	e.file = f
	return e, nil
}

// Go starts to carry out the runs in the state file that no process carries out, now and later. Call it once, and not
// for an engine in memory.
func (e *Engine) Go() {
	e.file.scheduler.serves.Store(true)
	e.file.skipReloads()
	e.file.owner.Serves()
	e.file.orphans()
	e.file.scheduler.start()
}

// Config returns the snapshot of a configuration with which runs in this state file were begun; false: it is not there,
// or cannot be read.
func (e *Engine) Config(hash string) (body []byte, ok bool) {
	if e.file == nil {
		return nil, false
	}
	_ = e.file.journal.View(func(s store.Reader) (err error) { // an unreadable one counts as missing
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

// close hands over the runs in progress and closes the store.
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
	_ = f.journal.Do(&store.Change{Durable: true, Steps: []store.Step{store.Release{Owner: f.owner.ID()}}}) // if this fails, others see that the lock is free
	f.journal.Close()
	f.waiters.announceAll() // no waiter here will see another change
}

// requestOf returns two hashes of a call. The first finds the run that an equal call began; the second compares the
// arguments. Both are nil for a call that is equal to no other.
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

// begin prepares a run. The run is stored with its first flush, so that beginning it needs no transaction of its own.
// No effect is performed before that. If the store refuses the run, its life ends, see [tail.entered].
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
	t.begin = &store.Begin{
		N: n, Pattern: job.Spec.Name, Kind: string(job.Spec.Kind), Principal: job.Principal, Client: job.Client, Config: job.Config,
		Began: r.began.UnixMicro(), Owner: f.owner.ID(), Configs: f.unstored.all(),
	}
	if p := r.parentOf(); p != 0 {
		t.begin.Parent = p
	}
	if request != nil {
		t.begin.Equal = &store.Equal{Request: request, Args: args, ByKey: job.ByKey != "", Since: f.joinable(now).UnixMicro(), Plan: planOfCall(job), Outdated: outdated[:]}
	}
	r.idle.Since = r.began
	return "", nil
}

// notBegun returns why a run was not stored: the id of the run that an equal call began, or an error. The error wraps
// [errUnspent] if that run's result was delivered and the file had not noted it. The call then begins a run of its own.
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

// lost removes a life whose run another owner has now, with the outcomes that only this process knew.
func (f *file) lost(l *life) {
	f.gone(l)
	f.mu.Lock()
	delete(f.outcomes, l.id)
	f.mu.Unlock()
	f.scheduler.nudge() // this process may be able to take the run again
}

// gone notes that a run has no life here any more. It returns the run's state, and whether a call waits for it.
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
	if l.job.Parent != nil { // the parent that waited for it is ready
		f.scheduler.nudge()
	}
	return nil
}

// rests notes that the run of a life has ended or waits, and reports it to the watcher.
func (f *file) rests(l *life, state patterns.RunState, rest patterns.Ended) {
	f.mu.Lock()
	l.run.state, l.run.rest, l.run.life = state, rest, nil
	delete(f.outcomes, l.id)
	f.mu.Unlock()
	changed, attended := f.gone(l)
	f.tell(changed, attended)
}

// lose ends a run that an internal error stopped.
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
