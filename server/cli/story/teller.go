package story

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"patterngate/catalog/upstream"
	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
)

// Act is one call of the demo as --json shows it.
type Act struct {
	Act        int     `json:"act"`
	Title      string  `json:"title"`
	Tool       string  `json:"tool"`
	StopReason string  `json:"stop_reason"`
	Decided    string  `json:"decided"`
	Done       string  `json:"done"`
	Seconds    float64 `json:"seconds"`
	AsExpected bool    `json:"as_expected"`
}

// Teller makes the calls of the demo and tells their results, on standard output. With --json it prints nothing before
// [Teller.End]. The zero Teller is not usable; [New] returns one. It is not safe for concurrent use.
type Teller struct {
	*console.Console
	Program   string // how a person starts Patterngate, for the suggestions
	Temporary bool   // the program was compiled by "go run", which deletes it
	Live      bool   // a person decides: the suggestions do not name the live demo

	capUSD  float64
	began   time.Time
	played  []Act
	chapter int   // of the last heading
	column  int   // how many characters the labels of this chapter have at least
	lost    error // the error of writing standard output
}

// New returns a teller. capUSD is the limit of the simulated person: what they allow of a larger refund.
func New(c *console.Console, capUSD float64) *Teller {
	return &Teller{Console: c, Program: "patterngate", capUSD: capUSD, began: time.Now()}
}

// Play makes the calls of the four tasks and of the attacks, and tells each result. It returns an error if a call has no result.
func (t *Teller) Play(ctx context.Context, client *upstream.Client) error {
	t.print(t.Paint(console.Dim, opener) + "\n")
	for _, p := range plays(t.capUSD) {
		t.heading(p.chapter, p.heading)
		t.column = p.column
		working, start := t.Spin(p.doing), time.Now()
		reply, err := client.Call(ctx, p.tool, p.arguments, working.Say)
		working.Stop()
		if err != nil {
			return err
		}
		r := Read(reply.Structured)
		t.tell(Act{
			Act: p.chapter, Title: p.title, Tool: p.tool, StopReason: r.StopReason, Decided: p.decided(r), Done: r.Done(),
			Seconds: Seconds(start), AsExpected: p.expects(r),
		}, r, p.tells)
	}
	return nil
}

// Crash prints the heading of the chapter about the kill, before it happens.
func (t *Teller) Crash() { t.heading(crashChapter, headingCrash) }

const crashChapter = 6

// Survived tells, after [Teller.Crash], the result of a call that was repeated after the kill, and the payments that the ledger counted, in USD.
func (t *Teller) Survived(r Result, payments []float64, start time.Time) {
	t.tell(Act{
		Act: crashChapter, Title: titleCrash, Tool: "supervised_refund", StopReason: r.StopReason, Decided: startedAgain(r.Joined),
		Done: fmt.Sprintf("%s, %s", r.Done(), Times(len(payments))), Seconds: Seconds(start),
		AsExpected: r.Succeeded() && r.Joined && r.Paid() == t.capUSD && len(payments) == 1 && payments[0] == t.capUSD,
	}, r, func(r Result) []line {
		return []line{{good, labelRun, continued(r.Joined)}, {good, labelLedger, inLedger(payments)}}
	})
}

// Decided tells what a person decided about a refund, and the payments that the ledger counted, in USD.
func (t *Teller) Decided(r Result, payments []float64, start time.Time) {
	a := Act{Act: decisionChapter, Title: titleDecision, Tool: "supervised_refund", StopReason: r.StopReason, Decided: saidNo, Done: r.Done(), Seconds: Seconds(start)}
	switch {
	case r.Succeeded() && r.Paid() > 0:
		a.Decided = youApproved(r.Paid())
		a.Done = overTwoServers(r.Done(), Times(len(payments)))
		a.AsExpected = len(payments) == 1 && payments[0] == r.Paid()
	case r.StopReason == "human_rejected":
		a.AsExpected = len(payments) == 0
	}
	t.tell(a, r, func(r Result) []line {
		return []line{{good, labelYou, youDecided(r.Paid(), r.StopReason == "human_rejected", r.confirmed())}, {good, labelLedger, inLedger(payments)}}
	})
}

const decisionChapter = 3 // of the live demo

// Seconds returns the time since start, in seconds with three decimals.
func Seconds(start time.Time) float64 { return float64(time.Since(start).Milliseconds()) / 1000 }

// tell records an act, and prints its lines. A result that is not as expected gets another line, and all marks are bad.
func (t *Teller) tell(a Act, r Result, tells func(Result) []line) {
	t.played = append(t.played, a)
	lines := tells(r)
	if !a.AsExpected {
		lines = append(lines, failed(a.Title, r)...)
	}
	for i := range lines {
		if !a.AsExpected && lines[i].mark == good {
			lines[i].mark = bad
		}
	}
	t.lines(lines)
}

// End prints what the demo came to: the JSON document, or the last lines of the story. It returns an error if a result was not
// as expected.
func (t *Teller) End() error {
	right := 0
	for _, a := range t.played {
		if a.AsExpected {
			right++
		}
	}
	took := Seconds(t.began)
	if t.JSON {
		document := map[string]any{"acts": t.played, "as_expected": right, "seconds": took}
		if err := json.NewEncoder(t.Out).Encode(document); err != nil {
			return console.Fault("demo", err)
		}
	} else {
		t.parting(right, took)
	}
	switch {
	case t.lost != nil:
		return console.Fault("demo", t.lost)
	case right < len(t.played):
		return console.Fault("demo", notEnded(len(t.played)-right, len(t.played)))
	}
	return nil
}

// parting prints the sum and what to try next.
func (t *Teller) parting(right int, took float64) {
	colour := console.Green
	if right < len(t.played) {
		colour = console.Red
	}
	t.print("\n" + t.folded(colour, ended(right, len(t.played), took), ""))
	t.print(tryNext + "\n")
	column := 0
	next := suggestions(t.Program, !t.Temporary, t.Live)
	for _, s := range next {
		column = max(column, utf8.RuneCountInString(s[0]))
	}
	for _, s := range next {
		t.print(fmt.Sprintf("  %s  %s\n", t.Paint(console.Bold, s[0])+strings.Repeat(" ", column-utf8.RuneCountInString(s[0])), s[1]))
	}
}

// heading prints the heading of a chapter before its first call.
func (t *Teller) heading(chapter int, text string) {
	if chapter == t.chapter {
		return
	}
	t.chapter, t.column = chapter, 0
	t.print("\n" + t.folded(console.Bold, fmt.Sprintf("%d %s", chapter, text), "  "))
}

// The columns of a line: the mark, the label, the text.
const (
	markColumn = 2
	textColumn = 4
)

// lines prints lines whose texts begin in one column.
func (t *Teller) lines(lines []line) {
	label := t.column
	for _, l := range lines {
		label = max(label, utf8.RuneCountInString(l.label))
	}
	for _, l := range lines {
		sign := " "
		switch l.mark {
		case good:
			sign = t.Paint(console.Green, "✓")
		case bad:
			sign = t.Paint(console.Red, "✗")
		}
		at := textColumn
		head := strings.Repeat(" ", markColumn) + sign + " "
		if label > 0 {
			head += t.Paint(console.Dim, l.label) + strings.Repeat(" ", label-utf8.RuneCountInString(l.label)+2)
			at += label + 2
		}
		indent := strings.Repeat(" ", at)
		t.print(head + console.Fold(printable.Text(l.text), t.width()-at, indent) + "\n")
	}
}

// folded returns a text in lines of the width, each with a colour. Lines after the first begin with the indent.
func (t *Teller) folded(colour, text, indent string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(console.Fold(printable.Text(text), t.width()-utf8.RuneCountInString(indent), indent), "\n") {
		if colour != "" {
			line = t.Paint(colour, line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// width returns the width of the story: that of the terminal, at most 100.
func (t *Teller) width() int {
	if console.IsTerminal(t.Out) {
		return min(t.Width(), storyWidth)
	}
	return storyWidth
}

const storyWidth = 100

// print writes a text, not with --json. It keeps the first error: the results must arrive.
func (t *Teller) print(text string) {
	if t.JSON {
		return
	}
	if err := t.Print(text); t.lost == nil {
		t.lost = err
	}
}
