package trial

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"patterngate/catalog/demo/ledger"
)

// crowdSize is the size of a crowd.
type crowdSize struct{ processes, runs, blows int }

// longestPause is the longest time between two kills or stops.
const longestPause = 60 * time.Millisecond

// crowd is several processes that continue the same runs in one state file at the same time.
type crowd struct {
	*trial
	ctx    context.Context
	chance *rand.Rand
	seats  []seat
	stops  int
	v      verdict
	faults error
}

// seat is the place of one process of a crowd. A killed process is replaced by another.
type seat struct {
	life    *lifeProcess
	ended   chan struct{} // closed when the process has ended
	end     lifeEnd
	err     error
	stopped bool
	over    bool // its process saw the end of all runs
}

// crowded kills, stops and continues the processes of a crowd at random. Then it waits until all runs have ended.
func (p *prover) crowded(ctx context.Context, size crowdSize, world ledger.World, chance *rand.Rand) (v verdict, stops int, err error) {
	limited, cancel := context.WithTimeout(ctx, lifeTimeout)
	defer cancel()
	runs := crowdOf(size.runs)
	runs[0].World = world
	t, err := p.newTrial(runs)
	if err != nil {
		return verdict{}, 0, err
	}
	c := &crowd{trial: t, ctx: limited, chance: chance, seats: make([]seat, size.processes), v: verdict{results: map[string]string{}}}
	for i := range c.seats {
		c.sit(&c.seats[i])
	}
	for range size.blows {
		c.pause()
		if s := &c.seats[chance.IntN(len(c.seats))]; !s.over && c.faults == nil {
			c.blow(s)
		}
	}
	c.leave()
	if err := errors.Join(c.faults, limited.Err()); err != nil {
		return c.v, c.stops, err
	}
	return c.v, c.stops, t.count(ctx, &c.v)
}

// sit starts a process.
func (c *crowd) sit(s *seat) {
	l, err := c.process(0)
	if err == nil {
		err = l.cmd.Start()
	}
	if err != nil {
		c.faults, s.over = errors.Join(c.faults, err), true
		return
	}
	ended := make(chan struct{})
	*s = seat{life: l, ended: ended}
	stop := context.AfterFunc(c.ctx, func() { _ = l.cmd.Process.Kill() }) // it can already have ended
	go func() {
		defer close(ended)
		defer stop()
		s.end, s.err = l.ended()
	}()
}

// pause waits a random time while the processes work.
func (c *crowd) pause() {
	timer := time.NewTimer(time.Duration(c.chance.Int64N(int64(longestPause))))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
	}
}

// blow kills a process, stops it, or continues a stopped one.
func (c *crowd) blow(s *seat) {
	kill := c.chance.IntN(2) == 0
	switch {
	case kill:
		_ = s.life.cmd.Process.Kill() // it can already have ended
		c.rise(s)
		if !s.over {
			c.sit(s)
		}
	case s.stopped:
		c.resume(s)
	default:
		if err := suspend(s.life.cmd.Process); err == nil {
			c.stops++
			s.stopped = true
		}
	}
}

func (c *crowd) resume(s *seat) {
	if err := resume(s.life.cmd.Process); err == nil {
		s.stopped = false
	}
}

// rise waits for a process that ends, and reads its output.
func (c *crowd) rise(s *seat) {
	<-s.ended
	for name, result := range s.end.results {
		if before := c.v.results[name]; before != "" && before != result {
			result = elsewhere(before, result)
		}
		c.v.results[name] = result
	}
	if s.err != nil {
		c.faults = errors.Join(c.faults, s.err)
	}
	if s.end.killed {
		c.v.kills++
	}
	s.over = !s.end.killed || s.err != nil || c.ctx.Err() != nil
}

// leave continues all processes until they have seen the end of all runs.
func (c *crowd) leave() {
	for i := range c.seats {
		if s := &c.seats[i]; s.stopped {
			c.resume(s)
		}
	}
	for i := range c.seats {
		for s := &c.seats[i]; !s.over; {
			c.rise(s)
			if !s.over { // it was killed before, and its end was not read yet
				c.sit(s)
			}
		}
	}
}

// crowds runs several crowds, one after the other.
func (p *prover) crowds(ctx context.Context, n int, size crowdSize, chance *rand.Rand) (provedRow, error) {
	row := provedRow{Pattern: rowCrowd(size.processes)}
	want, err := p.whole(ctx, crowdOf(size.runs))
	if err != nil {
		return row, err
	}
	worlds := []ledger.World{"", ledger.Plain, ledger.Asked}
	for i := range n {
		v, stops, err := p.crowded(ctx, size, worlds[i%len(worlds)], chance)
		row.Stops += stops
		row.add(crowdNumber(i+1), v, want, err)
	}
	return row, ctx.Err()
}
