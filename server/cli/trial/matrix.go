package trial

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
)

// provedRow is the result of the trials of one kind.
type provedRow struct {
	Pattern    string   `json:"pattern"`
	Boundaries int64    `json:"boundaries"` // of the journal in a run without kills
	Trials     int      `json:"trials"`
	Kills      int      `json:"kills"`
	Stops      int      `json:"stops,omitempty"` // SIGSTOP, continued later
	Lost       int      `json:"lost"`
	Twice      int      `json:"twice"`
	Equal      int      `json:"equal"` // trials whose runs all ended as without kills
	Faults     []string `json:"faults,omitempty"`
}

func (r provedRow) good() bool { return r.Lost == 0 && r.Twice == 0 && r.Equal == r.Trials }

// add counts a trial.
func (r *provedRow) add(what string, v, want verdict, err error) {
	r.Trials++
	r.Kills += v.kills
	if err != nil {
		r.Faults = append(r.Faults, what+": "+err.Error())
		return
	}
	s := v.against(want)
	r.Lost, r.Twice = r.Lost+s.lost, r.Twice+s.twice
	if s.none() {
		r.Equal++
	}
	for _, said := range s.said {
		r.Faults = append(r.Faults, what+": "+said)
	}
}

// whole executes runs without a kill. All other trials are compared with the result.
func (p *prover) whole(ctx context.Context, runs []provedRun) (verdict, error) {
	v, err := p.try(ctx, runs)
	switch {
	case err != nil:
	case len(v.results) < len(runs):
		err = runsEnded(len(v.results), len(runs))
	case v.boundaries == 0:
		err = errNothingWritten
	}
	if err != nil {
		return v, withoutKill(runs[0].Name, err)
	}
	return v, nil
}

// everywhere kills a run at boundaries from first on, apart from each other by apart. Each trial has its own state file.
func (p *prover) everywhere(ctx context.Context, run provedRun, first, apart int64) (provedRow, error) {
	runs := []provedRun{run}
	row := provedRow{Pattern: run.Name}
	want, err := p.whole(ctx, runs)
	if err != nil {
		return row, err
	}
	row.Boundaries = want.boundaries
	var at []int64
	first = 1 + (first-1)%max(want.boundaries, 1) // kill at least once
	for k := first; k <= want.boundaries; k += apart {
		at = append(at, k)
	}
	p.sideBySide(len(at), func(i int) func() {
		v, err := p.try(ctx, runs, at[i])
		return func() { row.add(killedAt(run.Name, at[i]), v, want, err) }
	})
	return row, ctx.Err()
}

// mostLives is the maximum number of processes for one run.
const mostLives = 6

// again kills several processes of one run, at random boundaries.
func (p *prover) again(ctx context.Context, trials int, chance *rand.Rand) (provedRow, error) {
	row := provedRow{Pattern: rowAgain}
	runs := provedRuns()
	wants := make([]verdict, len(runs))
	for i := range runs {
		var err error
		if wants[i], err = p.whole(ctx, runs[i:i+1]); err != nil {
			return row, err
		}
	}
	type chosen struct {
		run   int
		kills []int64
	}
	all := make([]chosen, trials)
	for i := range all {
		all[i].run = chance.IntN(len(runs))
		for range 1 + chance.IntN(mostLives) {
			all[i].kills = append(all[i].kills, 1+chance.Int64N(wants[all[i].run].boundaries))
		}
	}
	p.sideBySide(trials, func(i int) func() {
		c := all[i]
		v, err := p.try(ctx, runs[c.run:c.run+1], c.kills...)
		return func() { row.add(killedAt(runs[c.run].Name, c.kills), v, wants[c.run], err) }
	})
	return row, ctx.Err()
}

// sideBySide runs n trials, a few at once. It calls the functions that they return one at a time.
func (p *prover) sideBySide(n int, try func(i int) (note func())) {
	free := make(chan struct{}, min(4, runtime.GOMAXPROCS(0)))
	var noting sync.Mutex
	var all sync.WaitGroup
	for i := range n {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			note := try(i)
			noting.Lock()
			defer noting.Unlock()
			note()
		})
	}
	all.Wait()
}
