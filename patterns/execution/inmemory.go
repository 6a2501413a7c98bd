package execution

import (
	"sync"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/planclaims"
	"patterngate/patterns/store"
	"patterngate/patterns/windows"
)

// InMemory is the [Backing] of runs in this process. It needs Here before it is used. It is safe for concurrent use.
type InMemory struct {
	// Here is where plans, switches, business keys and the rows of runs are.
	Here store.Store

	mu    sync.Mutex
	calls windows.Memory
}

var _ Backing = (*InMemory)(nil)

// Store implements [Backing].
func (m *InMemory) Store() store.Store { return m.Here }

// Now implements [Backing].
func (m *InMemory) Now() time.Time { return time.Now() }

// Calls implements [Backing].
func (m *InMemory) Calls(look func(windows.Table) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return look(&m.calls)
}

// Plans implements [Backing]. A run that loses its plan continues at once. It records which run canceled it.
func (m *InMemory) Plans() planclaims.Claims { return planclaims.Claims{Store: m.Here} }

// Write makes a change of steps that belong to no run's record.
func (m *InMemory) Write(steps ...store.Step) error { return m.Here.Do(&store.Change{Steps: steps}) }

func (m *InMemory) people() bool      { return false } // nobody could answer
func (m *InMemory) keepsResult() bool { return false }

// admits decides, and adds the call to the calls of all runs.
func (m *InMemory) admits(b *branch, key, once string, e patterns.Effect, holds holds, now time.Time) bool {
	call, isCall := callOf(e)
	if !isCall {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if holds != nil && holds(&m.calls) != nil {
		return false
	}
	p := call.Permit
	m.calls.Add(b.N, b.Job.Principal, once, gateway.Entry{Key: key, Tool: p.Tool(), Effect: p.Effect(), Args: p.Args(), Hash: p.Hash(), At: now})
	return true
}

// takesKey takes a call's business key. It returns false if another call has the key by now.
func (m *InMemory) takesKey(b *branch, key string, e patterns.Effect, isDone bool) bool {
	steps, ok := b.takingSteps(key, e, isDone)
	return ok && (len(steps) == 0 || m.Write(steps...) == nil)
}

func (m *InMemory) intent(*branch, string, string, patterns.Effect, bool, holds) (*store.Begins, func(journal.Event) []store.Step) {
	return nil, nil
}

// outcome stores the outcome of a call at once.
func (m *InMemory) outcome(b *branch, e patterns.Effect, out patterns.Outcome) func(journal.Event) []store.Step {
	if does[patterns.CallAct](e) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.calls.Ended(b.N, out.Key, out)
	}
	return nil
}

func (m *InMemory) awaits(*branch, patterns.Effect, patterns.Outcome) bool { return false }

func (m *InMemory) switches(patterns.Effect) ([]patterns.Switch, error) { return switchesIn(m.Here) }

func (m *InMemory) take(_ *branch, step store.Step) { _ = m.Write(step) } // it always holds

func (m *InMemory) foundOut(b *branch, once string, as store.Settled) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls.Settle(b.N, once, as)
}

func (m *InMemory) claimsPlan(_ *branch, steps []store.Step) (again bool, err error) {
	if err = m.Write(steps...); store.IsRefused(err) {
		return true, nil
	}
	return false, err
}

// changesPlan makes the change, and lets runs continue that it canceled.
func (m *InMemory) changesPlan(b *branch, plan, reason string, steps []store.Step) (again bool) {
	switch err := m.Write(steps...); {
	case store.IsRefused(err):
		return true
	case err != nil:
		b.unwind(err)
	case reason == "":
		b.Host.Announce(plan)
		for _, s := range steps {
			if c, ok := s.(store.CancelResting); ok {
				b.Host.PlanChanged(c.N, planChangedBy(b.RunID))
			}
		}
	}
	return false
}

func (m *InMemory) planKept(*branch, *patterns.PlanStep) {} // it is stored already

// loaded adds the size of a load's output to the run's size, because the run's record keeps it.
func (m *InMemory) loaded(b *branch, out patterns.Outcome) { b.Host.Grew(weightOf(out.Output)) }
