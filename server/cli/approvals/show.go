package approvals

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
	"patterngate/server/cli/recordtext"
)

func (a *Commands) approvalsShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show AP",
		Short: "Show one waiting call: its arguments, the rule, the deadline, the digest",
		Long: "Shows the complete call that Patterngate would make. Then it shows why the policy asks, the deadline, and the " +
			"digest of the request. Your decision is about this digest only.\n\n" +
			"Last comes what the caller of the run asked for. A model may have written these words: do not trust them.",
		Example:           "  patterngate approvals show ap_03f2",
		Args:              console.One("approvals show", "approval", "patterngate approvals list"),
		ValidArgsFunction: a.completeAsked,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withApprovals("approvals show", func(d desk) error {
				asked, err := d.findAsked("approvals show", args[0])
				if err != nil {
					return err
				}
				v := d.viewOf(asked, time.Now())
				if a.JSON {
					return a.PrintJSON(v.document())
				}
				return a.Print(v.named(a).text(a.PageWidth()))
			})
		},
	}
}

// askedView holds a question and its context.
type askedView struct {
	asked patterns.Asked
	now   time.Time
	keyed bool           // only signed decisions count
	run   record.Receipt // the run so far; zero if its record cannot be read

	behind  record.Behind
	blocked record.Row       // what blocked the call after the decision; zero: nothing did
	alike   []patterns.Asked // equal calls that wait, or were approved recently
}

func (d desk) viewOf(asked patterns.Asked, now time.Time) askedView {
	v := askedView{asked: asked, now: now, keyed: asked.Least == gateway.SignedAssurance}
	if ring, err := d.Keys(); err != nil || ring.Counts(now) {
		v.keyed = true
	}
	if events, _, err := d.Owner.Record(asked.Question.Run); err == nil { // an unreadable record is no error: the call matters most
		story := record.Read(events)
		v.run, v.behind = story.Receipt(), story.Behind(asked.Key)
		v.blocked, _ = story.BlockedAfter(asked.ID)
	}
	v.alike, _ = patterns.Alike(d.Approvals, asked, now) // a hint only: show works without it
	return v
}

// named returns the view with the names of users beside their ids.
func (v askedView) named(a *Commands) askedView {
	v.asked, v.run.Principal = a.namedQuestion(v.asked), a.named(v.run.Principal)
	return v
}

// askedDocument is a question as --json shows it.
type askedDocument struct {
	askedRow
	Arguments map[string]any    `json:"arguments"`
	Question  json.RawMessage   `json:"question"` // the digest covers this object
	Executes  map[string]any    `json:"edited_arguments,omitempty"`
	Comment   string            `json:"comment,omitempty"`
	Signed    bool              `json:"signature_needed"`
	Claim     json.RawMessage   `json:"claim,omitempty"` // the request of the run's caller
	Behind    record.Behind     `json:"behind"`          // the author of the call, and what the policy could read
	Alike     []alikeRow        `json:"equal"`           // equal calls that wait, or were approved recently
	Calls     []record.Call     `json:"calls"`           // calls of the run so far
	Record    *record.Proof     `json:"record,omitempty"`
	Next      map[string]string `json:"next,omitempty"`
}

func (v askedView) document() askedDocument {
	d := askedDocument{
		askedRow: askedRowOf(v.asked), Arguments: v.asked.Question.Args, Question: v.asked.Question.Object(), Signed: v.keyed, Claim: v.run.Asked,
		Calls: v.run.Calls, Behind: v.behind, Alike: alikeRows(v.alike),
	}
	if d.Calls == nil {
		d.Calls = []record.Call{}
	}
	if g := v.asked.Given; g != nil {
		d.Executes, d.Comment = g.Args, g.Comment
	}
	if v.asked.State == patterns.AskedOpen {
		d.Next = map[string]string{"approve": v.approveLine(), "reject": v.rejectLine()}
	}
	return d
}

func (v askedView) approveLine() string {
	return "patterngate approvals approve " + v.asked.ID + " --digest " + v.asked.Digest
}

func (v askedView) rejectLine() string {
	return "patterngate approvals reject " + v.asked.ID + " --comment TEXT"
}

// text returns the page for people. The call comes first.
func (v askedView) text(width int) string {
	q := v.asked.Question
	width = console.Readable(width)
	p := askedPage{recordtext.Page{Width: width}}
	p.Text.WriteString("PROPOSED  " + console.Fold(console.Part(phraseOf(v.asked), recordtext.MaxPhrase, width), console.FoldWidth(width)-10, "          ") + "\n\n")
	plan, whole := v.asked.Plan()
	if whole {
		p.Text.WriteString(planLines(plan, width) + "\n")
	} else {
		fmt.Fprintf(&p.Text, "%s%s\n%s\n", console.Clip(q.Tool, console.MaxName), recordtext.EffectWords(string(v.asked.Effect)), argumentLines(q.Args, nil, width))
	}
	if who := v.behind.WrittenBy(q.Args); who != "" {
		p.Line("Proposed by", console.Part(who, recordtext.MaxPhrase, width))
	}
	p.alike(v.alike)
	p.Line("State", v.standing())
	p.Line("Rule", cmp.Or(console.Part(v.asked.Rule, console.MaxName, width), "none"))
	if v.asked.Reason != "" && v.asked.Reason != v.asked.Rule {
		p.Line("Reason", console.Part(v.asked.Reason, recordtext.MaxPhrase, width))
	}
	if v.asked.Text != "" {
		p.Line("Rule says", console.Part(v.asked.Text, recordtext.MaxPhrase, width))
	}
	list, left := record.ValuesOf(v.asked.Values)
	p.Values("Because", "", list, left)
	if v.asked.State == patterns.AskedOpen {
		p.Line("Needs", v.needs())
	}
	p.Line("Waits since", console.ClockText(v.asked.Since))
	p.Line("Expires", console.ClockText(q.Expires)+"; without a decision it is rejected")
	p.Line("Run", q.Run+", "+console.Clip(v.asked.Pattern, console.MaxName)+", in phase "+console.Clip(cmp.Or(v.asked.Phase, "unknown"), console.MaxName)+", step "+console.Clip(q.Step, console.MaxName))
	p.Line("Asked by", v.whom())
	p.Line("Approval", v.asked.ID)
	p.Line("Digest", v.asked.Digest)
	p.decided(v.asked)
	p.observed(v.behind)
	p.soFar(v.run)
	if whole {
		p.Text.WriteString(planClaims(plan, width))
	}
	p.Text.WriteString("\nRequest of the caller, in its own words (not checked):\n" + console.Fenced("", cmp.Or(string(v.run.Asked), "{}"), width))
	p.Text.WriteString(v.next())
	return p.Text.String()
}

// argumentLines lists all arguments of a call, whole, each on its own lines behind a bar. Short arguments come first.
// For an edit, before holds the proposed arguments; otherwise it is nil.
func argumentLines(args, before map[string]any, width int) string {
	const short = 200
	names := slices.Sorted(maps.Keys(args))
	texts := map[string]string{}
	for _, name := range names {
		texts[name] = recordtext.ArgumentName(name) + ": " + string(ijson.Canonical(args[name]))
		if was, had := before[name]; before != nil && (!had || !ijson.Equal(was, args[name])) {
			texts[name] += "   was " + valueText(was, had)
		}
	}
	long := func(name string) int { return min(len(texts[name])/short, 1) }
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(long(a), long(b)) })
	var b strings.Builder
	for _, name := range names {
		b.WriteString(console.FencedTo(math.MaxInt, "  ", texts[name], width))
	}
	if len(names) == 0 {
		b.WriteString("  | no arguments\n")
	}
	return b.String()
}

func valueText(v any, there bool) string {
	if !there {
		return "absent"
	}
	return string(ijson.Canonical(v))
}

// standing describes the state of the question.
func (v askedView) standing() string {
	switch v.asked.State {
	case patterns.AskedOpen:
		if left := v.asked.Question.Expires.Sub(v.now); left > 0 {
			return "waits for a decision; it expires in " + leftText(left)
		}
		return "not decided in time, so it was rejected"
	case patterns.AskedDecided:
		if v.asked.Spent {
			if _, whole := v.asked.Plan(); whole {
				return "decided, and the first step was started"
			}
			return "decided, and the call was started"
		}
		if v.blocked.Decision != "" {
			return thenBlocked(console.Clip(cmp.Or(v.blocked.Rule, v.blocked.Why), console.MaxName), console.Clip(v.blocked.Said, recordtext.MaxPhrase))
		}
		return "decided"
	case patterns.AskedExpired:
		return "not decided in time, so it was rejected"
	case patterns.AskedOver:
		return "the run ended before anybody decided"
	}
	return "unknown"
}

// needs describes the assurance that a decision needs.
func (v askedView) needs() string {
	if v.keyed {
		return "signed: a decision signed with an approver key; you type its passphrase at a terminal"
	}
	return "user: a decision of this system user. Any program of this user can make it, including an agent with a shell"
}

// whom names the principal and the client that the principal used.
func (v askedView) whom() string {
	if v.run.Principal == "" {
		return console.Clip(cmp.Or(v.asked.Principal, "unknown"), console.MaxName)
	}
	return recordtext.ForWhom(v.run)
}

// askedPage is the page of one question while Patterngate writes it.
type askedPage struct{ recordtext.Page }

// decided writes the decision of a person.
func (p *askedPage) decided(asked patterns.Asked) {
	g := asked.Given
	if g == nil {
		return
	}
	by := fmt.Sprintf("%s by %s at %s, assurance %s", recordtext.DecisionWord(string(g.Choice)), console.Clip(g.By, console.MaxName), console.ClockText(g.At), console.Clip(cmp.Or(string(g.Assurance), "none"), console.MaxName)) + record.ComparedWords(comparedOf(g.Answer))
	p.Line("Decided", by)
	if g.Choice == gateway.ChooseEdit && g.Args != nil {
		p.Text.WriteString("\nWith these arguments:\n" + argumentLines(g.Args, asked.Question.Args, p.Width))
	}
	if g.Comment != "" {
		p.Text.WriteString("\nIn the words of the approver:\n" + console.Fenced("", g.Comment, p.Width))
	}
}

// soFar writes the earlier calls of the run.
func (p *askedPage) soFar(run record.Receipt) {
	if len(run.Calls) == 0 {
		return
	}
	const most = 20
	p.Text.WriteString("\nCalls in this run so far:\n")
	for i, c := range run.Calls {
		if i == most {
			fmt.Fprintf(&p.Text, "  and %d more; patterngate runs show %s\n", len(run.Calls)-most, run.RunID)
			return
		}
		fmt.Fprintf(&p.Text, "  %s%s: %s\n", console.Clip(c.Tool, console.MaxName), recordtext.EffectWords(c.Effect), recordtext.CallStatus(c))
	}
}

// next lists the commands that the person can run next.
func (v askedView) next() string {
	if v.asked.State != patterns.AskedOpen {
		return "\nSee how the run continued:\n  patterngate runs show " + v.asked.Question.Run + "\n"
	}
	edit := "  " + v.approveLine() + " --edit NAME=VALUE\n"
	if _, whole := v.asked.Plan(); whole { // another plan is another question
		edit = ""
	}
	return "\nDecide with one of these:\n  " + v.approveLine() + "\n" + edit + "  " + v.rejectLine() + "\n"
}
