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

// The columns of a timeline, in characters.
const (
	afterColumn = 11
	tookColumn  = 12
	phaseColumn = 15
)

// Timeline is the story of a run for a terminal: what was asked, then a line for each thing that happened, parallel
// branches one below the other with a bar that shows when each of them ran, then what was spent.
func Timeline(s record.Story, width int) string {
	var b strings.Builder
	b.WriteString(console.Fold(titleOf(s), console.FoldWidth(width), "  ") + "\n")
	b.WriteString(beganLine(s, width))
	if id := s.PlanID(); id != "" {
		b.WriteString("Plan " + id + "\n")
	}
	if len(s.Arguments) > 0 {
		b.WriteString("Asked, in the caller's words:\n" + console.Fenced("", string(s.Arguments), width))
	}
	fmt.Fprintf(&b, "\n%*s%*s  %-*s%s\n", afterColumn, "AFTER", tookColumn, "TOOK", phaseColumn, "PHASE", "WHAT")
	t := timeline{story: s, width: width}
	t.branch(&b, "", 0)
	t.last(&b)
	b.WriteString(spentLines(s, width))
	fmt.Fprintf(&b, "Record   %s, head %s\n", console.Plural(s.Record.Events, "event"), s.Record.Head)
	return b.String()
}

// titleOf is a run in one line.
func titleOf(s record.Story) string {
	title := console.Clip(s.RunID, console.MaxName) + " " + console.Clip(s.Pattern, console.MaxName) + " " + console.Clip(s.Status, console.MaxName)
	if s.StopReason != "" && s.StopReason != patterns.Success {
		title += " " + console.Clip(s.StopReason, console.MaxName)
	}
	if words := gateway.AnsweredWords(s.Answered); words != "" {
		title += ", " + words
	}
	if s.Phase != "" {
		title += " in phase " + console.Clip(s.Phase, console.MaxName)
	}
	return title
}

// beganLine says who asked, and when it began and ended.
func beganLine(s record.Story, width int) string {
	text := "Asked by " + console.Clip(cmp.Or(s.Principal, "nobody known"), console.MaxName)
	if s.Client.Name != "" {
		text += " through " + console.Clip(s.Client.Name+" "+s.Client.Version, console.MaxName)
	}
	text += ". Began " + s.CreatedAt
	if s.EndedAt != "" {
		text += ", ended " + s.EndedAt + " after " + console.Took(s.Took)
	} else {
		text += "; so far " + console.Took(s.Took)
	}
	if s.Waited > 0 {
		text += ", " + console.Took(s.Waited) + " of it waiting"
	}
	return console.Fold(text+".", console.FoldWidth(width), "") + "\n"
}

// spentLines are budgets and tokens.
func spentLines(s record.Story, width int) string {
	parts := budgetWords(s.Budget, s.EndedAt != "")
	text := ""
	if len(parts) > 0 {
		text = "Budget   " + console.Fold(strings.Join(parts, ", "), console.FoldWidth(width)-9, "         ") + "\n"
	}
	if u := s.Usage; u.Requests > 0 || u.Model != "" {
		text += "Model    " + console.Clip(cmp.Or(u.Model, "not known"), console.MaxName)
		if u.Requests > 0 {
			text += fmt.Sprintf(", %s, %d tokens in, %d out", console.Plural(int64(u.Requests), "request"), u.InputTokens, u.OutputTokens)
		}
		text += "\n"
	}
	return "\n" + text
}

// timeline writes the rows of a story, those of parallel branches together.
type timeline struct {
	story record.Story
	width int
}

// branch writes the rows of a branch; where the first row of one of its own branches stands, all of these follow.
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

// childOf is the branch directly below path in which a branch lies.
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

// family are the branches that ran side by side with one, begun before the run that they belong to went on: of the same
// name by their ordinals, or all attempts at a plan's subtasks as they began.
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

// span is when a branch ran, in seconds after the start.
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

// head is the line above a branch: its name, and when it ran among its siblings.
func (t *timeline) head(b *strings.Builder, branch string, family []string, depth int) {
	from, to := t.span(branch)
	name := branch[strings.LastIndexByte(branch, '/')+1:]
	fmt.Fprintf(b, "%*s%*s  %-*s%s%s", afterColumn, console.SinceStart(from), tookColumn, console.Took(to-from), phaseColumn, "", strings.Repeat("  ", depth), console.Clip(name, console.MaxName))
	if len(family) > 1 {
		b.WriteString("  " + t.bar(branch, family))
	}
	b.WriteByte('\n')
}

// bar shows when a branch ran, in the time that all its siblings took.
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

// row writes one thing that happened, with its arguments as far as they fit, and what belongs to it below.
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

// argumentsOf is what a row is about: of a call, of a proposal, or what a person was asked about.
func argumentsOf(row record.Row) json.RawMessage {
	switch {
	case row.Kind == string(patterns.ToolEffect), row.Kind == record.Judged && !row.RefusedAnswer():
		return row.Input()
	}
	return row.AskedArgs()
}

// last is how the run ended, or what it does.
func (t *timeline) last(b *strings.Builder) {
	s := t.story
	words := map[string]string{"running": "it runs", "waiting": "it waits"}[s.Status]
	if words == "" {
		words = "ended: " + console.Clip(s.Status, console.MaxName) + ", " + console.Clip(s.StopReason, console.MaxName)
	}
	fmt.Fprintf(b, "%*s%*s  %-*s%s\n", afterColumn, console.SinceStart(s.Took), tookColumn, "", phaseColumn, console.Clip(s.Phase, phaseColumn-1), words)
}
