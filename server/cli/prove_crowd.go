package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"patterngate/catalog/demo/ledger"
)

// crowdSize says how large a crowd is.
type crowdSize struct{ processes, runs, blows int }

// longestPause is the longest time between two blows.
const longestPause = 60 * time.Millisecond

// crowd is some processes that carry on the same runs on one state file, all of them at once.
type crowd struct {
	*trial
	ctx    context.Context
	chance *rand.Rand
	seats  []seat
	stops  int
	v      verdict
	faults error
}

// seat is where a process of a crowd sits; one that was killed is followed by another.
type seat struct {
	life    *lifeProcess
	ended   chan struct{} // closed when the process is gone
	end     lifeEnd
	err     error
	stopped bool
	over    bool // its process saw all runs end
}

// crowded has a crowd's processes killed, stopped and continued by chance, then left alone until all runs have ended.
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
	stop := context.AfterFunc(c.ctx, func() { _ = l.cmd.Process.Kill() }) // or it is gone
	go func() {
		defer close(ended)
		defer stop()
		s.end, s.err = l.ended()
	}()
}

// pause lets the processes go on for a moment.
func (c *crowd) pause() {
	timer := time.NewTimer(time.Duration(c.chance.Int64N(int64(longestPause))))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
	}
}

// blow kills a process, stops it or lets one that is stopped go on.
func (c *crowd) blow(s *seat) {
	kill := c.chance.IntN(2) == 0
	switch {
	case kill:
		_ = s.life.cmd.Process.Kill() // or it has ended
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

// rise takes what a process that is gone, or about to, has said.
func (c *crowd) rise(s *seat) {
	<-s.ended
	for name, result := range s.end.results {
		if before := c.v.results[name]; before != "" && before != result {
			result = before + ", elsewhere as " + result
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

// leave lets all processes go on until they have seen all runs end.
func (c *crowd) leave() {
	for i := range c.seats {
		if s := &c.seats[i]; s.stopped {
			c.resume(s)
		}
	}
	for i := range c.seats {
		for s := &c.seats[i]; !s.over; {
			c.rise(s)
			if !s.over { // killed before, without having been taken note of
				c.sit(s)
			}
		}
	}
}

// crowds tries several crowds, one after the other.
func (p *prover) crowds(ctx context.Context, n int, size crowdSize, chance *rand.Rand) (provedRow, error) {
	row := provedRow{Pattern: fmt.Sprintf("%d processes, one file", size.processes)}
	want, err := p.whole(ctx, crowdOf(size.runs))
	if err != nil {
		return row, err
	}
	worlds := []ledger.World{"", ledger.Plain, ledger.Asked}
	for i := range n {
		v, stops, err := p.crowded(ctx, size, worlds[i%len(worlds)], chance)
		row.Stops += stops
		row.add(fmt.Sprintf("crowd %d", i+1), v, want, err)
	}
	return row, ctx.Err()
}
