package gateway

import (
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/ijson"
)

// A rule may depend on calls of earlier runs. Only the engine, which keeps the record, knows these calls, at the moment
// when it records this call (spec/config.md section 5.2, earlier runs):
//
//	Gate.Review ──Weighing──▶ Case.Weigh: the engine reads the windows, Judge, and records the ruling's Value
//	     ▲                                                                            │
//	     └──────────────── the ruling again, from its Value: the same on replay ◀─────┘
//
//	Permit.Weighing ──Holds, in the transaction that records the intent──▶ made, or must be judged again

// Window is a time span with the calls of some tools in earlier runs, under the name that rules use. The zero Window
// holds no calls.
type Window struct {
	Name  string // unique over all policies, such as refunds.today
	Tools []string
	// Since returns the start of the window that ends at a time.
	Since func(time.Time) time.Time
	// OfPrincipal limits the window to runs of the run's own principal.
	OfPrincipal bool
}

// MaxWindow is how many calls a window may hold. With more, [Seen.Err] is set.
const MaxWindow = 10_000

// Seen is what a window holds at one time. Its calls include those of this run, in the order of their intents.
type Seen struct {
	Effects []Entry
	Since   time.Time
	Err     error // the calls are not known; a rule that reads them has an error
}

// Windowed is a [Reviewer] whose verdicts about some tools depend on calls of earlier runs.
type Windowed interface {
	Reviewer
	// Windows returns the windows that a verdict about the tool's calls may depend on. If there are none, only the run
	// itself matters.
	Windows(tool string) []Window
}

// Weigh finishes a review outside the gate, where earlier runs are visible. It returns the recorded [Ruling.Value],
// which is the same on every replay. If it returns nil, the call is blocked.
type Weigh func(Weighing) any

// Weighing is a review that waits for its windows. It is a value, so later changes of the gate do not change it. The
// zero Weighing blocks.
type Weighing struct {
	reviewer Reviewer
	c        Case
	tool     catalog.Tool
	byPerson bool
	policy   string
	least    Assurance // that the ruling required of the person who approved the call
}

// Windows returns the windows that the review must read.
func (w Weighing) Windows() []Window { return windowsOf(w.reviewer, w.c.Tool) }

// Tool returns the tool whose call is judged; "" for the final answer.
func (w Weighing) Tool() string { return w.c.Tool }

// Args returns the arguments as they were proposed. They must not be changed.
func (w Weighing) Args() map[string]any { return w.c.Args }

// RunID returns the id of the run.
func (w Weighing) RunID() string { return w.c.Facts.RunID }

// Effects returns the calls before this one as rules see them. Calls of earlier runs that the run continues are among
// them. They must not be changed.
func (w Weighing) Effects() []Entry { return w.c.Effects }

// Principal returns the id of the run's principal, for windows of one principal.
func (w Weighing) Principal() string { return w.c.Facts.Principal.ID }

// At returns the review at a time: that of the newest outcome recorded in any branch of the run. Calls of the run that
// have no key, such as reserved ones, get this time too.
func (w Weighing) At(now time.Time) Weighing {
	w.c.Facts.Now, w.c.Effects = now.UTC(), slices.Clone(w.c.Effects)
	for i, e := range w.c.Effects {
		if e.Key == "" && e.RunID == w.RunID() {
			w.c.Effects[i].At = w.c.Facts.Now
		}
	}
	return w
}

// Judge reviews the call with these windows until nothing changes. The ruling does not admit the call yet.
func (w Weighing) Judge(windows map[string]Seen) Ruling {
	if w.reviewer == nil {
		return Ruling{Reason: NoRuleMatched}
	}
	c := w.c
	c.Windows = windows
	return judgeSupposing(w.reviewer, w.tool, c, w.byPerson, w.policy)
}

// Holds reports whether the policy still lets through exactly the same call.
func (w Weighing) Holds(windows map[string]Seen) bool {
	return w.Stands(w.Judge(windows))
}

// Stands reports whether a new ruling lets through exactly the same call as the first one. It must not require a higher
// assurance of a person.
func (w Weighing) Stands(r Ruling) bool {
	return r.Decision == Approve && len(r.Revisions) == 0 && (r.Least == "" || w.least.AtLeast(r.Least))
}

// Recalled returns the ruling that [Ruling.Value] recorded. With it, a caller can test [Weighing.Stands] without
// another review. The ruling does not admit the call.
func (w Weighing) Recalled(recorded any) Ruling { return rulingOf(recorded, w.c.Args, w.policy) }

func windowsOf(policy Reviewer, tool string) []Window {
	if w, ok := policy.(Windowed); ok {
		return w.Windows(tool)
	}
	return nil
}

// weighed has a review finished outside the gate. If the ledger changed in the process, it reviews the call again.
func (g *Gate) weighed(c Case, tool catalog.Tool, byPerson bool) Ruling {
	for {
		noted := g.noted
		c.Effects = g.effects(c)
		recorded := c.Weigh(g.weighing(c, tool, byPerson))
		if g.noted != noted {
			continue
		}
		r := rulingOf(recorded, c.Args, g.policy)
		r.byPerson = r.byPerson && byPerson
		return r
	}
}

func (g *Gate) weighing(c Case, tool catalog.Tool, byPerson bool) Weighing {
	c.Weigh, c.Unordered, c.Args = nil, false, owned(c.Args)
	return Weighing{reviewer: g.config.Reviewer, c: c, tool: tool, byPerson: byPerson, policy: g.policy}
}

// Weighing returns the review that must still hold when the call's intent is recorded. It returns false if only the run
// itself mattered.
func (p Permit) Weighing() (Weighing, bool) {
	if p.judged == nil || p.judged.weighing == nil {
		return Weighing{}, false
	}
	return *p.judged.weighing, true
}

// Value returns the ruling for the record: a decoded value, without the members that do not apply. Of the arguments it
// holds those that were changed.
func (r Ruling) Value(proposed map[string]any) map[string]any {
	v := Judgment{
		Decision: r.Decision, Rule: r.Rule, Reason: r.Reason, Text: r.Text, Values: r.Values,
		Revisions: r.Revisions, Passes: r.passes, Policy: r.policy,
	}.Value()
	changed := map[string]any{}
	for _, name := range sortedKeys(r.Args) {
		arg := r.Args[name]
		if before, there := proposed[name]; !there || !ijson.Equal(before, arg) {
			changed[name] = arg
		}
	}
	if len(changed) > 0 {
		v["changed"] = changed
	}
	if len(r.Need) > 0 {
		need := make([]any, len(r.Need))
		for i, n := range r.Need {
			need[i] = n
		}
		v["need"] = need
	}
	for name, is := range map[string]bool{"by_person": r.byPerson, "retryable": r.Retryable, "unknown": r.Unknown} {
		if is {
			v[name] = true
		}
	}
	if r.Expires > 0 {
		v["expires_seconds"] = r.Expires.Seconds()
	}
	if r.Least != "" {
		v["min_assurance"] = string(r.Least)
	}
	if len(r.RevisedBy) > 0 {
		by := make([]any, len(r.RevisedBy))
		for i, b := range r.RevisedBy {
			by[i] = b.value()
		}
		v["revised_by"] = by
	}
	return v
}

// rulingOf reads back what [Ruling.Value] wrote. Any other value blocks.
func rulingOf(recorded any, proposed map[string]any, policy string) Ruling {
	v, _ := recorded.(map[string]any)
	text := func(name string) string { s, _ := v[name].(string); return s }
	texts := func(name string) (out []string) {
		list, _ := v[name].([]any)
		for _, item := range list {
			if s, ok := item.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	r := Ruling{
		Decision: decisionNamed(text("decision")), Rule: text("rule"), Reason: text("reason"), Text: text("text"),
		Revisions: texts("revisions"), Need: texts("need"), Args: proposed, policy: policy, Least: Assurance(text("min_assurance")),
	}
	r.Values, _ = v["values"].(map[string]any)
	by, _ := v["revised_by"].([]any)
	for i := range r.Revisions {
		r.RevisedBy = append(r.RevisedBy, becauseOf(itemOf(by, i)))
	}
	if passes, ok := v["passes"].(float64); ok {
		r.passes = int(passes)
	}
	if seconds, ok := v["expires_seconds"].(float64); ok {
		r.Expires = time.Duration(seconds * float64(time.Second))
	}
	r.byPerson, _ = v["by_person"].(bool)
	r.Retryable, _ = v["retryable"].(bool)
	if r.Unknown, _ = v["unknown"].(bool); r.Unknown {
		r.Decision = Block
	}
	if changed, ok := v["changed"].(map[string]any); ok {
		r.Args = owned(proposed)
		for _, name := range sortedKeys(changed) {
			r.Args[name] = changed[name]
		}
	}
	if r.Decision == Block && r.Reason == "" {
		r.Reason = NoRuleMatched
	}
	return r
}

func decisionNamed(name string) Decision {
	i := slices.IndexFunc([]Decision{Escalate, Revise, Approve}, func(d Decision) bool { return d.String() == name })
	if i < 0 {
		return Block
	}
	return []Decision{Escalate, Revise, Approve}[i]
}

func (b Because) value() map[string]any {
	v := map[string]any{"rule": b.Rule}
	if b.Text != "" {
		v["text"] = b.Text
	}
	if len(b.Values) > 0 {
		v["values"] = b.Values
	}
	return v
}

func becauseOf(v any) (b Because) {
	o, _ := v.(map[string]any)
	b.Rule, _ = o["rule"].(string)
	b.Text, _ = o["text"].(string)
	b.Values, _ = o["values"].(map[string]any)
	return b
}

func itemOf(list []any, i int) any {
	if i >= len(list) {
		return nil
	}
	return list[i]
}
