package gateway

import (
	"maps"
	"slices"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Assume adds a call to the ledger that a dry run does not make. Rules see the call and its arguments, but its
// observation is unknown.
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

// Countable checks and counts a call as [Gate.Admit] does, but without the policy.
func (g *Gate) Countable(p Proposal) *Stop {
	_, stop := g.check(g.filled(p))
	return stop
}

// maxSupposed is how many assumed calls a verdict may depend on. With more of them, the verdict is unknown.
const maxSupposed = 8

// judgeSupposing is judge, also for dry runs. If the ruling depends on assumed calls, it tries every combination of
// success and error of these calls. The ruling is known if all combinations give the same one. It is unknown if the
// policy reads what the assumed calls return.
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
	if first.Unknown { // the policy reads what they return
		return first
	}
	for bad := all; bad >= 0; bad-- { // starts with all failing, the combination that differs most
		other := judge(policy, tool, c.supposing(all&^bad), byPerson, hash)
		if other.Unknown || !first.alike(other) {
			return r
		}
	}
	return first
}

// alike reports whether two rulings have the same result.
func (r Ruling) alike(o Ruling) bool {
	return r.Decision == o.Decision && r.Rule == o.Rule && r.Reason == o.Reason && slices.Equal(r.Revisions, o.Revisions) && ijson.Equal(r.Args, o.Args)
}

// supposing returns the case in which the assumed calls with a bit in well succeed. The other assumed calls report an
// error.
func (c Case) supposing(well int) Case {
	supposed, next := map[int]Supposed{}, 0 // by order of the call
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
