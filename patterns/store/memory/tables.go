package memory

import (
	"crypto/rand"
	"encoding/hex"
	"slices"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/store"
)

// tables are what the store holds. They implement [store.Reader]. The store's lock guards them.
type tables struct {
	limits      Limits
	id          string
	runs        map[int64]*run
	unfinished  map[int64]*run    // running, ready or waiting
	byPrincipal map[string][]*run // in the order of their begins
	byRequest   map[string][]*run // likewise
	byParent    map[int64][]*run  // likewise
	tombstones  []store.Bury
	configs     map[string][]byte

	questions map[int64]*question
	shares    map[share]string // the idempotency key that spent it
	keys      []gateway.PublicKey
	keyed     int // changes of the keys
	acts      map[string]bool
	signIns   map[string]int64

	switches []patterns.Switch
	taken    map[businessKey]*store.Act
	calls    calls
	plans    map[int64]*store.Plan
	reloads  []reload
	answers  map[int64][]store.ReloadAnswer

	broken map[int64]int64 // epochs of runs of which a change was refused that others are sealed after
	undo   []func()        // of the present change, the newest last
	noUndo bool            // nothing after this step can refuse the change
}

// run is a run's row, with its record.
type run struct {
	store.Row
	request, args []byte
	newest        int64
	delivered     bool
	hidden        []store.HiddenValue
	events        []patterns.Event
}

type question struct {
	store.Asked
	schema []byte
}

type share struct {
	approval int64
	of       string
}

type businessKey struct{ tool, once string }

type reload struct {
	store.Reload
	asked bool
}

func newTables(l Limits) tables {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails, see crypto/rand
	return tables{
		limits: l,
		id:     hex.EncodeToString(id[:]), runs: map[int64]*run{}, unfinished: map[int64]*run{}, byPrincipal: map[string][]*run{}, byRequest: map[string][]*run{},
		byParent: map[int64][]*run{}, configs: map[string][]byte{}, questions: map[int64]*question{}, shares: map[share]string{}, acts: map[string]bool{},
		signIns: map[string]int64{}, taken: map[businessKey]*store.Act{}, plans: map[int64]*store.Plan{}, answers: map[int64][]store.ReloadAnswer{}, broken: map[int64]int64{},
		calls: calls{byKey: map[callKey]*call{}, found: map[callKey]store.Settled{}},
	}
}

// add adds a run to the tables.
func (t *tables) add(r *run) {
	t.runs[r.N], t.unfinished[r.N] = r, r
	t.byPrincipal[r.Principal] = append(t.byPrincipal[r.Principal], r)
	if r.request != nil {
		t.byRequest[string(r.request)] = append(t.byRequest[string(r.request)], r)
	}
	if r.Parent != 0 {
		t.byParent[r.Parent] = append(t.byParent[r.Parent], r)
	}
}

// remove removes a run from the tables.
func (t *tables) remove(r *run) {
	delete(t.runs, r.N)
	delete(t.unfinished, r.N)
	drop(t.byPrincipal, r.Principal, r)
	drop(t.byRequest, string(r.request), r)
	drop(t.byParent, r.Parent, r)
}

func drop[K comparable](list map[K][]*run, key K, r *run) {
	rest := slices.DeleteFunc(list[key], func(o *run) bool { return o == r })
	if list[key] = rest; len(rest) == 0 {
		delete(list, key)
	}
}

// put changes a row.
func (t *tables) put(r *run, change func(*run)) {
	if !t.noUndo {
		was := *r
		t.undo = append(t.undo, func() { *r = was; t.index(r) })
	}
	change(r)
	t.index(r)
}

func (t *tables) index(r *run) {
	if t.runs[r.N] == r && isUnfinished(r.State) {
		t.unfinished[r.N] = r
	} else {
		delete(t.unfinished, r.N)
	}
}

func isUnfinished(state string) bool {
	return state == "running" || state == "ready" || state == "parked"
}

// puts sets or, with a nil value, deletes an entry of a table.
func puts[K comparable, V any](t *tables, table map[K]V, key K, v *V) {
	if !t.noUndo {
		was, there := table[key]
		t.undo = append(t.undo, func() {
			if delete(table, key); there {
				table[key] = was
			}
		})
	}
	if v == nil {
		delete(table, key)
		return
	}
	table[key] = *v
}

// length returns the number of the record's events.
func (r *run) length() int64 { return int64(len(r.events)) }

// stored returns the events so far. Later ones do not change it.
func (r *run) stored() []patterns.Event { return slices.Clip(r.events) }
