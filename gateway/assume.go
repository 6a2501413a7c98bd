package gateway

import "patterngate/ijson"

// Assume has rules see a call that a dry run would have made by now: its arguments are known, and of its observation nothing is.
func (g *Gate) Assume(p Proposal) {
	p = g.filled(p)
	tool, there := g.config.Catalog.Tool(p.Tool)
	if !there {
		return
	}
	g.noted++
	g.ledger = append(g.ledger, Entry{
		Tool: tool.Name, Effect: tool.Effect, Args: owned(tool.Whole(p.free(tool))), Hash: ijson.ArgsHash(p.Args), Status: Finished,
		Order: len(g.ledger) + 1, RunID: g.facts.RunID, At: g.facts.Now, Assumed: true,
	})
}

// Countable judges a call as [Gate.Admit] does, but not by policy, and counts it.
func (g *Gate) Countable(p Proposal) *Stop {
	_, stop := g.check(g.filled(p))
	return stop
}
