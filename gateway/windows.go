package gateway

import (
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/ijson"
)

// A rule may depend on what earlier runs did. Only who keeps the record knows that, at the moment in which the call is recorded
// (spec/config.md section 5.2, earlier runs):
//
//	Gate.Review ──Weighing──▶ Case.Weigh: the engine reads the windows, Judge, and records the ruling's Value
//	     ▲                                                                            │
//	     └──────────────── the ruling again, from its Value: the same on replay ◀─────┘
//
//	Permit.Weighing ──Holds, in the transaction that records the intent──▶ made, or to be judged anew

// Window is a span of earlier runs' calls of some tools, by the name that rules read it under. The zero Window holds nothing.
type Window struct {
	Name  string // unique over policies: refunds.today
	Tools []string
	// Since is where the window begins that ends at a time.
	Since func(time.Time) time.Time
	// OfPrincipal narrows it to runs of the run's own principal.
	OfPrincipal bool
}

// MaxWindow is how many calls a window may hold; more is [Seen.Err].
const MaxWindow = 10_000

// Seen is what a window holds at one time: calls of this run among them, in the order of their intents.
type Seen struct {
	Effects []Entry
	Since   time.Time
	Err     error // it cannot be said: what reads it errs
}

// Windowed is a [Reviewer] whose verdicts about some tools depend on what earlier runs did.
type Windowed interface {
	Reviewer
	// Windows are those that a verdict about the tool's calls may depend on; none: the run alone decides.
	Windows(tool string) []Window
}

// Weigh has a review finished by who can see earlier runs, and returns the [Ruling.Value] that was recorded, the same on every
// replay. Nil where it cannot be had: the call is blocked.
type Weigh func(Weighing) any

// Weighing is a review that waits for its windows. It is a value: what the gate goes on to learn does not change it. The zero
// Weighing blocks.
type Weighing struct {
	reviewer Reviewer
	c        Case
	tool     catalog.Tool
	byPerson bool
	policy   string
	least    Assurance // that the ruling wanted of the person who let the call through
}

// Windows are what has to be read for it.
func (w Weighing) Windows() []Window { return windowsOf(w.reviewer, w.c.Tool) }

// Tool is whose call is judged, "" of the closing answer, and Args its arguments as they were proposed.
func (w Weighing) Tool() string { return w.c.Tool }

// Args are the arguments as they were proposed; they must not be changed.
func (w Weighing) Args() map[string]any { return w.c.Args }

// RunID names the run, and Effects are its own calls as far as the rules see them: what is told of it by a window.
func (w Weighing) RunID() string { return w.c.Facts.RunID }

// Effects are the run's calls before this one, as they are known; they must not be changed.
func (w Weighing) Effects() []Entry { return w.c.Effects }

// Principal is whose run it is, for windows of one principal.
func (w Weighing) Principal() string { return w.c.Facts.Principal.ID }

// At is the review at a time: that of the newest outcome that is recorded of the run, of whichever branch. What is under way in the
// run bears it too.
func (w Weighing) At(now time.Time) Weighing {
	w.c.Facts.Now, w.c.Effects = now.UTC(), slices.Clone(w.c.Effects)
	for i, e := range w.c.Effects {
		if e.Key == "" && e.RunID == w.RunID() {
			w.c.Effects[i].At = w.c.Facts.Now
		}
	}
	return w
}

// Judge reviews the call to a fixed point over these windows. The ruling admits nothing by itself.
func (w Weighing) Judge(windows map[string]Seen) Ruling {
	if w.reviewer == nil {
		return Ruling{Reason: NoRuleMatched}
	}
	c := w.c
	c.Windows = windows
	return judgeSupposing(w.reviewer, w.tool, c, w.byPerson, w.policy)
}

// Holds reports whether the policy still lets through exactly what it did.
func (w Weighing) Holds(windows map[string]Seen) bool {
	return w.Stands(w.Judge(windows))
}

// Stands reports whether a ruling that was made anew lets through exactly what the first did, and wants of a person no more.
func (w Weighing) Stands(r Ruling) bool {
	return r.Decision == Approve && len(r.Revisions) == 0 && (r.Least == "" || w.least.AtLeast(r.Least))
}

// Recalled is the ruling that [Ruling.Value] wrote, for who asks whether it [Weighing.Holds] without judging anew. It admits
// nothing.
func (w Weighing) Recalled(recorded any) Ruling { return rulingOf(recorded, w.c.Args, w.policy) }

func windowsOf(policy Reviewer, tool string) []Window {
	if w, ok := policy.(Windowed); ok {
		return w.Windows(tool)
	}
	return nil
}

// weighed has a review finished outside. What the gate learned meanwhile counts: then it is judged anew.
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

// Weighing is the review that has to hold still when the call's intent is recorded; false: the run alone decided.
func (p Permit) Weighing() (Weighing, bool) {
	if p.judged == nil || p.judged.weighing == nil {
		return Weighing{}, false
	}
	return *p.judged.weighing, true
}

// Value is the ruling as it is recorded: a decoded value, without the members that do not apply. Of the arguments it holds
// those that were changed.
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

// rulingOf reads back what [Ruling.Value] wrote. What is not such a value blocks.
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
