package assembly

import (
	"sync"

	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/gateway/policy/refunds"
	"patterngate/ijson"
	"patterngate/server/settings/rules"
)

// lazyJudge is the embedded policy with its params. It is compiled when the first call is judged, so that other users do
// not wait for it. The zero lazyJudge blocks.
type lazyJudge struct {
	judge func() *policy.Judge
	hash  func() string // does not need compiling: every run's record contains it
}

// made returns the judge, or nil if there is none. Without a judge, the policy blocks.
func (j lazyJudge) made() *policy.Judge {
	if j.judge == nil {
		return nil
	}
	return j.judge()
}

var (
	_ gateway.Foreteller = lazyJudge{}
	_ gateway.Hashed     = lazyJudge{}
	_ gateway.Windowed   = lazyJudge{}
	_ gateway.Searchable = lazyJudge{}
)

// Review implements [gateway.Reviewer].
func (j lazyJudge) Review(c gateway.Case) gateway.Verdict {
	if made := j.made(); made != nil {
		return made.Review(c)
	}
	return gateway.Verdict{} // it blocks
}

// Asks implements [gateway.Foreteller].
func (j lazyJudge) Asks(tool string) gateway.Asks {
	if made := j.made(); made != nil {
		return made.Asks(tool)
	}
	return gateway.AsksMaybe
}

// Hash implements [gateway.Hashed].
func (j lazyJudge) Hash() string {
	if j.hash == nil {
		return ""
	}
	return j.hash()
}

// Windows implements [gateway.Windowed].
func (j lazyJudge) Windows(tool string) []gateway.Window {
	if made := j.made(); made != nil {
		return made.Windows(tool)
	}
	return nil
}

// Reads implements [gateway.Searchable].
func (j lazyJudge) Reads(tool, rule string) []string {
	if made := j.made(); made != nil {
		return made.Reads(tool, rule)
	}
	return nil
}

// demoJudges holds the judges of the embedded policy by their params, one of each in a process.
var demoJudges = struct {
	sync.Mutex
	by map[string]lazyJudge
}{by: map[string]lazyJudge{}}

// demoJudge returns the judge of the embedded policy with these params, which replace its own.
func demoJudge(params map[string]any) gateway.Reviewer {
	key := string(ijson.Canonical(map[string]any{"params": rules.ObjectOr(params)}))
	demoJudges.Lock()
	defer demoJudges.Unlock()
	if j, ok := demoJudges.by[key]; ok {
		return j
	}
	j := lazyJudge{
		judge: sync.OnceValue(func() *policy.Judge {
			made, err := refunds.Compile(refunds.Source(), params)
			if err != nil { // a test checks that this cannot happen; without a judge it blocks
				return nil
			}
			return made.For(refunds.Pattern)
		}),
		hash: sync.OnceValue(func() string { return policy.HashOf(refunds.Source(), params) }),
	}
	if len(demoJudges.by) < maxConfigs { // a bound, since reloads change the params
		demoJudges.by[key] = j
	}
	return j
}

// builtinJudge is the embedded policy for runs that began when the policy was built in and not a file. It judges like that
// policy and has its hash, which people saw when they were asked.
type builtinJudge struct {
	lazyJudge
	hash string
}

// Hash implements [gateway.Hashed].
func (j builtinJudge) Hash() string { return j.hash }

func newBuiltinJudge(params map[string]any) gateway.Reviewer {
	judge, ok := demoJudge(params).(lazyJudge)
	if !ok {
		return waiting(emptyPolicyHash())
	}
	return builtinJudge{judge, hashOf(ijson.Canonical(map[string]any{"builtin": refunds.Name, "params": rules.ObjectOr(params)}))}
}

// emptyPolicyHash returns the hash of no policy.
func emptyPolicyHash() string { return hashOf(ijson.Canonical(map[string]any{})) }
