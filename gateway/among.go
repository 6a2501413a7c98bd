package gateway

import (
	"maps"
	"slices"
	"time"

	"patterngate/ijson"
)

// Among reviews the calls of one pattern by the pattern's policy and by the policies of single tools. If a call has
// both, both must approve it (spec/config.md section 4, policy). If a tool's policy is the same as the pattern's, leave
// it out of Tools: the pattern's params apply. If a call has no policy, the allowlists alone decide. The zero Among has
// no policies.
type Among struct {
	Pattern Reviewer            // nil: the pattern has none
	Tools   map[string]Reviewer // by the tool's name
}

var (
	_ Foreteller = Among{}
	_ Hashed     = Among{}
	_ Windowed   = Among{}
	_ Searchable = Among{}
)

// of returns the policies that review a tool's calls, the pattern's first.
func (a Among) of(tool string) []Reviewer {
	var all []Reviewer
	if a.Pattern != nil {
		all = append(all, a.Pattern)
	}
	if own := a.Tools[tool]; own != nil {
		all = append(all, own)
	}
	return all
}

// Review implements [Reviewer].
func (a Among) Review(c Case) Verdict {
	policies := a.of(c.Tool)
	if len(policies) == 0 {
		return Verdict{Decision: Approve, Reason: Allowlisted}
	}
	v := policies[0].Review(c)
	for _, p := range policies[1:] {
		v = both(v, p.Review(c))
	}
	return v
}

// both returns the stricter verdict of two policies: block, then revise, then escalate, then approve. If they are
// equally strict, the first one counts. For two escalations, the shorter time and the higher assurance count. See
// unknownOf for a policy that cannot decide.
func both(a, b Verdict) Verdict {
	if a.Unknown || b.Unknown {
		return unknownOf(a, b)
	}
	strictness := func(v Verdict) int {
		return max(0, slices.Index([]Decision{Approve, Escalate, Revise}, v.Decision)) + map[bool]int{true: 9}[known(v.Decision) == Block]
	}
	switch sa, sb := strictness(a), strictness(b); {
	case sb > sa:
		return b
	case sa > sb || a.Decision != Escalate:
		return a
	}
	a.Expires = shorter(a.Expires, b.Expires)
	if b.Least.AtLeast(a.Least) {
		a.Least = b.Least
	}
	return a
}

// unknownOf returns the verdict of two policies if at least one of them cannot decide. If the other one blocks for
// certain, the call is blocked.
func unknownOf(a, b Verdict) Verdict {
	switch {
	case !a.Unknown && known(a.Decision) == Block, b.Unknown && a.Unknown:
		return a
	case !b.Unknown && known(b.Decision) == Block, b.Unknown:
		return b
	}
	return a
}

// known returns d, or [Block] if d is no known decision.
func known(d Decision) Decision {
	if d > Approve {
		return Block
	}
	return d
}

// shorter returns the shorter of two times; 0 means that no time is set.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// Asks implements [Foreteller].
func (a Among) Asks(tool string) Asks {
	sure := AsksNever
	for _, p := range a.of(tool) {
		switch asks := AsksBefore(p, tool); {
		case asks == AsksAlways:
			return AsksAlways
		case asks != AsksNever:
			sure = AsksMaybe
		}
	}
	return sure
}

// Windows implements [Windowed].
func (a Among) Windows(tool string) []Window {
	var all []Window
	for _, p := range a.of(tool) {
		all = append(all, windowsOf(p, tool)...)
	}
	return all
}

// Reads implements [Searchable]. It returns the arguments that each policy of the tool names for the rule.
func (a Among) Reads(tool, rule string) []string {
	var all []string
	for _, p := range a.of(tool) {
		if s, ok := p.(Searchable); ok {
			all = append(all, s.Reads(tool, rule)...)
		}
	}
	return all
}

// Hash implements [Hashed]. It returns the hash of the pattern's policy if no tool has a policy with another hash. If
// there is no pattern policy, and all tools have the same hash, it returns that hash. Otherwise it returns a digest
// over the pattern's hash and the other hashes by tool name.
func (a Among) Hash() string {
	own := PolicyHash(a.Pattern)
	tools, others := map[string]any{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(a.Tools)) {
		if hash := PolicyHash(a.Tools[name]); hash != own {
			tools[name] = hash
			others = append(others, hash)
		}
	}
	switch slices.Sort(others); {
	case len(others) == 0:
		return own
	case a.Pattern == nil && others[0] == others[len(others)-1]:
		return others[0]
	}
	return ijson.Hash(ijson.Canonical(map[string]any{"pattern": own, "tools": tools}))
}
