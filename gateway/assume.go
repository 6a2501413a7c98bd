package gateway

import (
	"maps"
	"slices"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Assume has rules see a call that a dry run would have made by now: its arguments are known, and of its observation nothing is.
func (g *Gate) Assume(p Proposal) {
	p = g.filled(p)
	tool, there := g.config.Catalog.Tool(p.Tool)
	if !there {
		return
	}
	g.noted++
	g.ledger = append(g.ledger, Entry{
		Tool: tool.Own(), Effect: tool.Effect, Args: owned(tool.Whole(p.free(tool))), Hash: ijson.ArgsHash(p.Args), Status: Finished,
		Order: len(g.ledger) + 1, RunID: g.facts.RunID, At: g.facts.Now, Assumed: true,
	})
}

// Countable judges a call as [Gate.Admit] does, but not by policy, and counts it.
func (g *Gate) Countable(p Proposal) *Stop {
	_, stop := g.check(g.filled(p))
	return stop
}

// maxSupposed is how many assumed calls a verdict may depend on before it counts as not known.
const maxSupposed = 8

// judgeSupposing is judge for dry runs too: what the policy would say however the assumed calls go is known, as long as it does not
// read what they return.
func judgeSupposing(policy Reviewer, tool catalog.Tool, c Case, byPerson bool, hash string) Ruling {
	r := judge(policy, tool, c, byPerson, hash)
	n := 0
	for _, e := range c.Effects {
		n += map[bool]int{true: 1}[e.Assumed]
	}
	if !r.Unknown || n == 0 || n > maxSupposed {
		return r
	}
	all := 1<<n - 1
	first := judge(policy, tool, c.supposing(all), byPerson, hash)
	if first.Unknown { // what they return is read
		return first
	}
	for bad := all; bad >= 0; bad-- { // first that none goes well, which is most unlike
		other := judge(policy, tool, c.supposing(all&^bad), byPerson, hash)
		if other.Unknown || !first.alike(other) {
			return r
		}
	}
	return first
}

// alike reports whether two rulings come to the same.
func (r Ruling) alike(o Ruling) bool {
	return r.Decision == o.Decision && r.Rule == o.Rule && r.Reason == o.Reason && slices.Equal(r.Revisions, o.Revisions) && ijson.Equal(r.Args, o.Args)
}

// supposing is the case where those of the assumed calls go well that have a bit, and the others report an error.
func (c Case) supposing(well int) Case {
	supposed, next := map[int]Supposed{}, 0 // by their order
	for _, e := range c.Effects {
		if e.Assumed {
			supposed[e.Order] = SupposedError
			if well>>next&1 == 1 {
				supposed[e.Order] = SupposedWell
			}
			next++
		}
	}
	in := func(list []Entry) []Entry {
		list = slices.Clone(list)
		for i := range list {
			if list[i].Assumed {
				list[i].Well = supposed[list[i].Order]
			}
		}
		return list
	}
	c.Effects, c.Windows = in(c.Effects), maps.Clone(c.Windows)
	for _, name := range slices.Sorted(maps.Keys(c.Windows)) {
		seen := c.Windows[name]
		seen.Effects = in(seen.Effects)
		c.Windows[name] = seen
	}
	return c
}
