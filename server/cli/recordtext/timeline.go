package recordtext

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
)

// The widths of a timeline's columns, in characters.
const (
	afterColumn = 11
	tookColumn  = 12
	phaseColumn = 15
)

// Timeline returns the story of a run as text for a terminal. First come the arguments, then one line for each event,
// then the usage. Parallel branches follow one another. The bar of a branch shows when it ran.
func Timeline(s record.Story, width int) string {
	var b strings.Builder
	b.WriteString(console.Fold(titleOf(s), console.FoldWidth(width), "  ") + "\n")
	b.WriteString(beganLine(s, width))
	if id := s.PlanID(); id != "" {
		b.WriteString("Plan " + id + "\n")
	}
	if len(s.Arguments) > 0 {
		b.WriteString(askedByCaller + console.Fenced("", string(s.Arguments), width))
	}
	fmt.Fprintf(&b, "\n%*s%*s  %-*s%s\n", afterColumn, "AFTER", tookColumn, "TOOK", phaseColumn, "PHASE", "WHAT")
	t := timeline{story: s, width: width}
	t.branch(&b, "", 0)
	t.last(&b)
	b.WriteString(spentLines(s, width))
	b.WriteString("Record   " + eventsAndHead(console.Plural(s.Record.Events, "event"), s.Record.Head) + "\n")
	return b.String()
}

// titleOf describes a run in one line.
func titleOf(s record.Story) string {
	title := console.Clip(s.RunID, console.MaxName) + " " + console.Clip(s.Pattern, console.MaxName) + " " + console.Clip(s.Status, console.MaxName)
	if s.StopReason != "" && s.StopReason != patterns.Success {
		title += " " + console.Clip(s.StopReason, console.MaxName)
	}
	if words := gateway.AnsweredWords(s.Answered); words != "" {
		title += ", " + words
	}
	if s.Phase != "" {
		title += inPhase(console.Clip(s.Phase, console.MaxName))
	}
	return title
}

// beganLine names the requester, the start and the end of the run.
func beganLine(s record.Story, width int) string {
	text := askedBy(console.Clip(cmp.Or(s.Principal, notKnownWho), console.MaxName))
	if s.Client.Name != "" {
		text += throughChannel(console.Clip(s.Client.Name+" "+s.Client.Version, console.MaxName))
	}
	text += began(s.CreatedAt)
	if s.EndedAt != "" {
		text += endedAfter(s.EndedAt, console.Took(s.Took))
	} else {
		text += soFar(console.Took(s.Took))
	}
	if s.Waited > 0 {
		text += ofItWaiting(console.Took(s.Waited))
	}
	return console.Fold(text+".", console.FoldWidth(width), "") + "\n"
}

// spentLines lists the budgets and the tokens that a run used.
func spentLines(s record.Story, width int) string {
	parts := budgetWords(s.Budget, s.EndedAt != "")
	text := ""
	if len(parts) > 0 {
		text = "Budget   " + console.Fold(strings.Join(parts, ", "), console.FoldWidth(width)-9, "         ") + "\n"
	}
	if u := s.Usage; u.Requests > 0 || u.Model != "" {
		name := console.Clip(cmp.Or(u.Model, modelUnknown), console.MaxName)
		if s.AskedNone() {
			name = noneAsked
		}
		text += "Model    " + name
		if u.Requests > 0 {
			text += tokens(console.Plural(int64(u.Requests), "request"), u.InputTokens, u.OutputTokens)
		}
		text += "\n"
	}
	return "\n" + text
}

// timeline writes the rows of a story. It keeps the rows of a parallel branch together.
type timeline struct {
	story record.Story
	width int
}

// branch writes the rows of a branch. Before the first row of a child branch, it writes that branch and all its
// parallel siblings.
func (t *timeline) branch(b *strings.Builder, path string, depth int) {
	seen := map[string]bool{}
	for i, row := range t.story.Rows {
		child, below := childOf(path, row.Branch())
		switch {
		case row.Branch() == path:
			t.row(b, row, depth)
		case below && !seen[child]:
			family := t.family(path, child, t.story.Rows[i:])
			for _, sibling := range family {
				seen[sibling] = true
				t.head(b, sibling, family, depth)
				t.branch(b, sibling, depth+1)
			}
		}
	}
}

// childOf returns the branch directly below path that contains branch. below is false if branch is not below path.
func childOf(path, branch string) (child string, below bool) {
	rest := branch
	if path != "" {
		if rest, below = strings.CutPrefix(branch, path+"/"); !below {
			return "", false
		}
	}
	name, _, _ := strings.Cut(rest, "/")
	if name == "" {
		return "", false
	}
	return strings.TrimPrefix(path+"/"+name, "/"), true
}

// family returns the branches that ran in parallel with child. They began before the next effect of the branch path.
// For most patterns they have the same name, and their ordinals give the order. For a plan, they are all attempts at
// its subtasks, in the order of their start.
func (t *timeline) family(path, child string, rows []record.Row) []string {
	name, _, _ := strings.Cut(child, "#")
	anyName := t.story.Kind == string(gateway.Planning)
	list := []string{}
	for _, row := range rows {
		sibling, below := childOf(path, row.Branch())
		if row.Branch() == path && row.Key != "" {
			break
		}
		if of, _, _ := strings.Cut(sibling, "#"); below && (of == name || anyName) && !slices.Contains(list, sibling) {
			list = append(list, sibling)
		}
	}
	if !anyName {
		slices.SortStableFunc(list, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	}
	return list
}

// span returns the start and the end of a branch, in seconds after the start of the run.
func (t *timeline) span(branch string) (from, to float64) {
	from = -1
	for _, row := range t.story.Rows {
		if _, below := childOf(branch, row.Branch()); row.Branch() != branch && !below {
			continue
		}
		if from < 0 {
			from = row.After
		}
		end := row.After
		switch {
		case row.Took != nil:
			end += *row.Took
		case row.State == record.Open:
			end = max(end, t.story.Took)
		}
		to = max(to, end)
	}
	return from, to
}

// head writes the line above a branch: its name, and a bar if it has siblings.
func (t *timeline) head(b *strings.Builder, branch string, family []string, depth int) {
	from, to := t.span(branch)
	name := branch[strings.LastIndexByte(branch, '/')+1:]
	fmt.Fprintf(b, "%*s%*s  %-*s%s%s", afterColumn, console.SinceStart(from), tookColumn, console.Took(to-from), phaseColumn, "", strings.Repeat("  ", depth), console.Clip(name, console.MaxName))
	if len(family) > 1 {
		b.WriteString("  " + t.bar(branch, family))
	}
	b.WriteByte('\n')
}

// bar shows when a branch ran, on a scale from the first start to the last end of its siblings.
func (t *timeline) bar(branch string, family []string) string {
	begin, end := -1.0, 0.0
	for _, sibling := range family {
		from, to := t.span(sibling)
		if begin < 0 || from < begin {
			begin = from
		}
		end = max(end, to)
	}
	size := max(10, min(60, console.FoldWidth(t.width)-afterColumn-tookColumn-phaseColumn-24))
	from, to := t.span(branch)
	at := func(x float64) int {
		if end <= begin {
			return 0
		}
		return min(size-1, int((x-begin)/(end-begin)*float64(size)))
	}
	first, last := at(from), at(to)
	return "[" + strings.Repeat(" ", first) + strings.Repeat("=", last-first+1) + strings.Repeat(" ", size-1-last) + "]"
}

// row writes one event with its arguments, cut to the width. The rule, its values and the comment follow below.
func (t *timeline) row(b *strings.Builder, row record.Row, depth int) {
	duration := "-"
	if row.Took != nil {
		duration = console.Took(*row.Took)
	}
	margin := afterColumn + tookColumn + 2 + phaseColumn
	inner := strings.Repeat("  ", depth)
	room := max(20, console.FoldWidth(t.width)-margin-len(inner))
	text := console.Fold(RowWords(row), room, strings.Repeat(" ", margin)+inner+"  ")
	fmt.Fprintf(b, "%*s%*s  %-*s%s%s\n", afterColumn, console.SinceStart(row.After), tookColumn, duration, phaseColumn, console.Clip(row.Phase, phaseColumn-1), inner, text)
	indent := strings.Repeat(" ", margin) + inner + "  "
	if args := argumentsOf(row); len(args) > 0 {
		if room -= 2; console.IsWhole(t.width) {
			room = console.WholeRows
		}
		b.WriteString(indent + console.OneLine(args, room) + "\n")
	}
	b.WriteString(becauseLines(indent, t.width, row.Because))
	if row.Comment != "" {
		b.WriteString(console.Fenced(indent, row.Comment, t.width))
	}
}

// argumentsOf returns the arguments of a row: of a call, of a proposal, or of the call that a person was asked about.
func argumentsOf(row record.Row) json.RawMessage {
	switch {
	case row.Kind == string(patterns.ToolEffect), row.Kind == record.Judged && !row.RefusedAnswer():
		return row.Input()
	}
	return row.AskedArgs()
}

// last writes how the run ended, or that it still runs or waits.
func (t *timeline) last(b *strings.Builder) {
	s := t.story
	words := map[string]string{"running": nowRunning, "waiting": nowWaiting}[s.Status]
	if words == "" {
		words = endedWith(console.Clip(s.Status, console.MaxName), console.Clip(s.StopReason, console.MaxName))
	}
	fmt.Fprintf(b, "%*s%*s  %-*s%s\n", afterColumn, console.SinceStart(s.Took), tookColumn, "", phaseColumn, console.Clip(s.Phase, phaseColumn-1), words)
}
