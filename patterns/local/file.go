package local

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/planclaims"
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
	// Poll is the time between looks for what other processes have written and for processes that have died. 0: 20 ms, or
	// 100 ms while this process executes no run and no call waits.
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
	back      execution.Stored
	journal   store.Store
	owner     store.Owner
	redactor  redaction.Rules
	scheduler *scheduler

	// Guarded by the engine's lock.
	living    map[string]*lived                         // runs that have a life here
	delivered map[int64]delivered                       // results that were delivered not long ago
	outcomes  map[string]map[string]journal.OutcomeBody // that could not be recorded, by run and key
	lacking   map[int64]int64                           // epochs of ready runs that cannot be carried on here
	stuck     map[string]*patterns.Waiting              // runs that cannot go on because they cannot be recorded
	resumed   int                                       // lives that were taken from the file by nobody's call
	crowded   bool                                      // as many runs as may be are carried on
	leaving   bool                                      // runs that nobody waits for begin nothing more here
	closed    bool

	unstored unstored     // configurations
	heard    atomic.Int64 // the newest reload that was carried out, or was there before this program
}

var _ keeper = (*file)(nil)

// openFile opens a state file.
var openFile = func(path string, hook func(point string)) (store.Store, error) { return sqlite.Open(path, hook) }

// Open opens or makes a state file. Its errors wrap [patterns.ErrJournal]. Nothing of what it holds is carried on before
// [Engine.Go]; the engine's fields are set in between.
func Open(o Options) (*Engine, error) {
	e := &Engine{options: o}
	f := &file{
		Engine: e,
		living: map[string]*lived{}, lacking: map[int64]int64{}, stuck: map[string]*patterns.Waiting{}, delivered: map[int64]delivered{},
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
	f.back.Journal, f.back.Rules = f.journal, f.hiding
	f.owner = f.journal.Owner()
	f.scheduler = newScheduler(f)
	f.back.Stopping.Store(true)
	if !f.redactor.None() { // a process may have died before it tidied
		f.journal.Hides()
	}
	f.addConfig(o.Config, o.Snapshot)
	e.making.Do(func() { e.file, e.keeps = f, f })
	return e, nil
}

// Go begins to continue the ready runs of the state file that no other process has, from now until the engine is closed.
// Call it once, and not for an engine in memory.
func (e *Engine) Go() {
	e.file.scheduler.serves.Store(true)
	e.file.skipReloads()
	e.file.owner.Serves()
	e.file.orphans()
	e.file.scheduler.start()
}

// Config is the snapshot of a configuration that runs of this state file were begun with; false: it is not there.
func (e *Engine) Config(hash string) (body []byte, ok bool) {
	_ = e.state().View(func(s store.Reader) (err error) { // one that cannot be read is not there
		body, ok, err = s.Config(hash)
		return err
	})
	return body, ok
}

// Backup copies the state into a new file while it is in use.
func (e *Engine) Backup(ctx context.Context, to string) error { return e.file.journal.Backup(ctx, to) }

func (e *Engine) hook(point string) {
	if e.options.Hook != nil {
		e.options.Hook(point)
	}
}

// close hands over what runs, and leaves the file.
func (f *file) close() {
	f.mu.Lock()
	already := f.closed
	f.closed = true
	lives := slices.Collect(maps.Values(f.living))
	f.mu.Unlock()
	if already {
		return
	}
	f.scheduler.close()
	for _, l := range lives {
		l.life.GiveUp(execution.ErrHandedOver)
	}
	for _, l := range lives {
		<-l.life.Done()
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
// performed before. What refuses it ends its life, see keeper.entered.
func (f *file) begin(r *run) (string, error) {
	now := f.journal.Now()
	request, args := requestOf(r.Job)
	r.tail = f.back.NewRecord(r.RunID, r.parentOf(), f.hiding().Values())
	r.Record = r.tail.Record()
	if r.within != nil {
		r.tail.Inherits(r.within.tail.Known())
	}
	r.Began = r.Record.Append(patterns.StartEvent, "", now, r.Start(f.Version)).At
	begin := r.beginning(f.owner)
	begin.Configs = f.unstored.all()
	if request != nil {
		begin.Equal = &store.Equal{Request: request, Args: args, ByKey: r.Job.ByKey != "", Since: f.joinable(now).UnixMicro(), Plan: planclaims.NamedBy(r.Job), Outdated: planclaims.Outdated[:]}
	}
	r.tail.Enter(begin)
	r.idle.Since = r.Began
	return "", nil
}

// beginning returns the step that adds a run's row.
func (r *run) beginning(owner store.Owner) store.Begin {
	job := r.Job
	return store.Begin{
		N: r.N, Pattern: job.Spec.Name, Kind: string(job.Spec.Kind), Principal: job.Principal, Client: job.Client, Config: job.Config,
		Began: r.Began.UnixMicro(), Owner: owner.ID(), Parent: r.parentOf(),
	}
}

func (f *file) entered(r *run) error { return r.tail.Entered() }

// notBegun returns why there is no run: the id of the run that an equal call began, or the error. It returns [execution.ErrUnspent] if that run has
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
		return "", fmt.Errorf("%w: %w", patterns.ErrJournal, execution.ErrUnspent)
	}
	return journal.RunID(r.Joined), nil
}

// lived is a run with its life in this process.
type lived struct {
	*run
	life *execution.Life
}

func (f *file) lives(r *run) (closed bool) {
	f.living[r.RunID] = &lived{r, r.life}
	return f.closed
}

// quits reports whether the life of a run must quit: its process is leaving and no call waits for the run.
func (f *file) quits(r *run) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.leaving && !r.isAttended()
}

func (f *file) lifeOf(_, id string) *execution.Life {
	if l := f.life(id); l != nil {
		return l.life
	}
	return nil
}

func (f *file) parks() bool { return true }

func (f *file) unrecorded(id, key string) (patterns.Outcome, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.outcomes[id][key]
	return b.Outcome(), ok
}

// lost forgets a life whose run is in other hands, with what only this process knew of it.
func (f *file) lost(r *run, l *execution.Life) {
	f.gone(r, l)
	f.mu.Lock()
	delete(f.outcomes, r.RunID)
	f.mu.Unlock()
	f.scheduler.nudge() // those hands may be this process's
}

// gone notes that a life of a run is over here.
func (f *file) gone(r *run, l *execution.Life) (changed patterns.Snapshot, attended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.living[r.RunID]; now != nil && now.life == l {
		delete(f.living, r.RunID)
		if r.resumed {
			f.resumed--
		}
	}
	if f.crowded {
		f.crowded = false
		f.scheduler.nudge()
	}
	return r.snapshot(), r.isAttended()
}

func (f *file) backing() execution.Backing { return &f.back }

// planChanged continues the run that waited beneath a changed plan, if no other process does. The store has canceled a
// run that lost its plan.
func (f *file) planChanged(other int64, _ string, _ patterns.Note) {
	if f.scheduler.nudge(); other == 0 {
		return
	}
	f.waiters.announce(journal.RunID(other))
	if !f.scheduler.serves.Load() { // this process does not serve ready runs
		_, _ = f.claim(other, nil) // otherwise another process does
	}
}
