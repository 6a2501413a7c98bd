package status

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/outcome"
	"patterngate/server/sentence"
)

// These limit what a plan's page shows.
const (
	maxDrawn     = 200  // subtasks in the drawing
	maxDrawnTo   = 1000 // arrows in it
	maxTabled    = 1000 // rows of the table
	maxAfter     = 20   // dependencies in a row
	maxCell      = 160  // characters of a text in the table
	maxNodeLabel = 60   // characters in the drawing
)

// PlanPage returns the page about a plan.
func PlanPage(state patterns.PlanState) string {
	view := viewOf(state)
	var b bytes.Buffer
	b.WriteString(pageHead(markdownName(state.Plan.ID), markdownText(state.Plan.Goal, sentence.MaxLength)))
	b.WriteString(pageState(string(state.Plan.Strategy), view.Revision, outcome.PlanStands(view), holderWords(state)))
	drawPlan(&b, view)
	b.WriteString(pageTable)
	rows := view.Plan.Subtasks
	for _, row := range rows[:min(len(rows), maxTabled)] {
		after := make([]string, min(len(row.Dependencies), maxAfter))
		for i, id := range row.Dependencies[:len(after)] {
			after[i] = markdownName(id)
		}
		status := string(row.Status)
		if row.StopReason != "" {
			status += " " + markdownName(row.StopReason)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", markdownName(row.ID), status, markdownName(row.Tool),
			strings.Join(after, ", "), markdownText(row.Description, maxCell))
	}
	if more := len(rows) - maxTabled; more > 0 {
		b.WriteString(moreRows(more))
	}
	return b.String()
}

// drawPlan draws the subtasks as a Mermaid flowchart. An arrow leads from the subtask that must come first. Node names
// are generated. Labels hold nothing that Mermaid, Markdown or HTML could read as markup.
func drawPlan(b *bytes.Buffer, view patterns.PlanView) {
	rows := view.Plan.Subtasks
	if len(rows) > maxDrawn {
		b.WriteString(drawnOf(maxDrawn, len(rows)))
		rows = rows[:maxDrawn]
	}
	place := make(map[string]int, len(rows))
	b.WriteString("```mermaid\nflowchart TD\n")
	for i, row := range rows {
		place[row.ID] = i
		fmt.Fprintf(b, "  n%d[\"%s<br/>%s<br/>%s\"]:::%s\n", i, mermaidText(row.ID), mermaidText(row.Tool), mermaidText(row.Description), classOf(row, view))
	}
	drawn := 0
	arrow := func(from, to int) {
		if drawn++; drawn <= maxDrawnTo {
			fmt.Fprintf(b, "  n%d --> n%d\n", from, to)
		}
	}
	for i, row := range rows {
		for _, id := range row.Dependencies {
			if from, ok := place[id]; ok {
				arrow(from, i)
			}
		}
		if parent, ok := place[row.Parent]; ok && row.Parent != "" { // a parent runs after its children
			arrow(i, parent)
		}
	}
	for _, class := range classes {
		fmt.Fprintf(b, "  classDef %s fill:%s,stroke:%s,color:#18181b\n", class[0], class[1], class[2])
	}
	b.WriteString("```\n")
	if more := drawn - maxDrawnTo; more > 0 {
		b.WriteString(arrowsLeft(more))
	}
}

// classes are those of subtasks in the drawing, each with its colors: fill and stroke.
var classes = [][3]string{
	{"pending", "#f4f4f5", "#71717a"},
	{"waiting", "#ede9fe", "#7c3aed"},
	{"in_progress", "#dbeafe", "#2563eb"},
	{"completed", "#dcfce7", "#16a34a"},
	{"failed", "#fee2e2", "#dc2626"},
	{"skipped", "#fef9c3", "#ca8a04"},
	{"blocked", "#ffedd5", "#ea580c"},
	{"in_doubt", "#fce7f3", "#db2777"},
}

// classOf returns the class that a subtask is drawn with.
func classOf(row patterns.SubtaskRow, view patterns.PlanView) string {
	if slices.Contains(view.Waiting, row.ID) {
		return "waiting"
	}
	return string(row.Status)
}

// mermaidText returns a text for a quoted label. Letters, digits and blanks stay. Other characters become Mermaid's
// numbered entities.
func mermaidText(text string) string {
	return escaped(sentence.AtMost(printable.Text(text), maxNodeLabel), " ,_", "#%d;")
}

// markdownText returns a text without markup for a line or a table cell of Markdown. It must not be at the beginning of
// a line.
func markdownText(text string, most int) string {
	return escaped(sentence.AtMost(printable.Text(text), most), " ,.-?", "&#%d;")
}

// markdownName returns a name for Markdown, as code if it has only plain characters.
func markdownName(name string) string {
	rest := strings.TrimLeftFunc(name, func(r rune) bool { return sentence.IsPlain(r) || r == ':' })
	if name != "" && rest == "" && len(name) <= maxCell {
		return "`" + name + "`"
	}
	return markdownText(name, maxCell)
}

// escaped returns a text in which only letters, digits, non-ASCII characters and the characters of safe stay. It writes
// each other character by its number in the format of entity.
func escaped(text, safe, entity string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r > 0x7f, strings.ContainsRune(safe, r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, entity, r)
		}
	}
	return b.String()
}
