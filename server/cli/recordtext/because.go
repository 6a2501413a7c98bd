package recordtext

import (
	"fmt"
	"strings"

	"patterngate/patterns/record"
	"patterngate/server/cli/console"
)

// valueLines lists the values that made a rule true, each on its own lines behind a bar. The bar is needed because a
// model may have written the values.
func valueLines(indent string, width int, list []record.Value, left int) string {
	var b strings.Builder
	for _, v := range list {
		b.WriteString(console.FencedTo(console.MaxFenced, indent, v.Expression+": "+v.Text, width))
	}
	if left > 0 {
		fmt.Fprintf(&b, "%s%s\n", indent, andThings(console.Plural(int64(left), moreValue)))
	}
	return b.String()
}

// Values writes values behind a label. The margin is the indent of the label.
func (p *Page) Values(label, margin string, list []record.Value, left int) {
	indent := margin + strings.Repeat(" ", labelColumn)
	if lines := valueLines(indent, p.Width, list, left); lines != "" {
		fmt.Fprintf(&p.Text, "%s%-*s%s", margin, labelColumn, label, strings.TrimPrefix(lines, indent))
	}
}

// becauseLines shows the text of a rule and the values that made it true, below a row of a timeline.
func becauseLines(indent string, width int, b record.Because) string {
	text := ""
	if b.Said != "" {
		text = indent + console.Fold(ruleSays(console.Part(b.Said, MaxPhrase, width)), console.FoldWidth(width)-len(indent), indent+"  ") + "\n"
	}
	list, left := b.Read()
	return text + valueLines(indent, width, list, left)
}

// passWords returns how many times the policy judged the call, or "" for once.
func passWords(passes int) string {
	if passes < 2 {
		return ""
	}
	return judgedTimes(passes)
}

// earlierWords returns a note that the policy looked at earlier runs, or "" if it did not.
func earlierWords(looked bool) string {
	if looked {
		return earlierRuns
	}
	return ""
}
