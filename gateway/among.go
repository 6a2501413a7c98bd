package gateway

import (
	"maps"
	"slices"
	"time"

	"patterngate/ijson"
)

// Among judges the calls of one pattern by its own policy and by those of single tools: where a call has both, both judge it and
// each must approve (spec/config.md section 4, policy). Who makes one leaves out a tool's policy that is the pattern's own: there
// the pattern's params count. A call that has neither is the allowlists' alone. The zero Among leaves all
// to the allowlists.
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

// of are the policies that judge a tool's calls, the pattern's first.
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

// both is the verdict of two policies, the first one's where they are as strict: block, then revise, then escalate, then approve.
// Where one cannot decide, see unknownOf.
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

// unknownOf is the verdict of two policies of which one cannot be decided: what the other blocks for certain is blocked.
func unknownOf(a, b Verdict) Verdict {
	switch {
	case !a.Unknown && known(a.Decision) == Block, b.Unknown && a.Unknown:
		return a
	case !b.Unknown && known(b.Decision) == Block, b.Unknown:
		return b
	}
	return a
}

// known is a decision as it is one, else [Block].
func known(d Decision) Decision {
	if d > Approve {
		return Block
	}
	return d
}

// shorter is the shorter of two times of which 0 says nothing.
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

// Reads implements [Searchable]: those of the policies that have such a rule.
func (a Among) Reads(tool, rule string) []string {
	var all []string
	for _, p := range a.of(tool) {
		if s, ok := p.(Searchable); ok {
			all = append(all, s.Reads(tool, rule)...)
		}
	}
	return all
}

// Hash implements [Hashed]: the pattern's policy's, where no tool has another; that of the one policy that all tools have; else of
// both kinds together, by the tools' names.
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
	return digestOf(ijson.Canonical(map[string]any{"pattern": own, "tools": tools}))
}
