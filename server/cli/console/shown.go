package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"patterngate/ijson"
	"patterngate/ijson/printable"
)

// FirstFew lists the first 5 ids of several, and three dots if there are more.
func FirstFew(ids []string) string {
	const shown = 5
	list := strings.Join(ids[:min(shown, len(ids))], ", ")
	if len(ids) > shown {
		list += ", ..."
	}
	return list
}

// ClockText returns a time as all documents show it: UTC, in whole seconds (RFC 3339).
func ClockText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// MaxTyped is how many bytes of typed text an error shows.
const MaxTyped = 80

// Typed returns typed text for an error, cut to [MaxTyped]. It quotes the text if it is empty or has spaces or
// confusing punctuation. It keeps control characters; [Console.Exit] spells them out.
func Typed(text string) string {
	short := Cut(strings.ToValidUTF8(text, "�"), MaxTyped)
	if short == "" || strings.ContainsAny(short, " \t\r\n;:\"") {
		return string(ijson.Canonical(short))
	}
	return short
}

// Cut returns the first bytes of a text, with three dots if something was cut off.
func Cut(text string, most int) string {
	if short := ijson.Cut(text, most); short != text {
		return short + "..."
	}
	return text
}

// IndentedJSON returns JSON from outside, indented and with hidden characters escaped. Numbers and the order of members stay as they were sent.
func IndentedJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil { // not JSON, which no caller passes
		return string(raw) + "\n"
	}
	return VisibleLines(b.String())
}

// VisibleLines returns a text with its hidden characters spelled out, line by line. The result ends with one line break.
func VisibleLines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		b.WriteString(printable.Text(line) + "\n")
	}
	return b.String()
}

// Columns lays out a table: each column is as wide as its widest cell. There must be at least one row.
func Columns(rows [][]string) string {
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			wide[i] = max(wide[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", wide[i]-len([]rune(cell))+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// Quoted returns a typed word in quotes, cut to [MaxName].
func Quoted(word string) string { return strconv.Quote(Cut(word, MaxName)) }

// JSONText returns a value as one JSON document for people and programs: indented, with hidden characters escaped.
func JSONText(v any) (string, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return "", err
	}
	return VisibleLines(string(text)), nil
}

// WriteJSON writes a value as one indented JSON document.
func WriteJSON(to interface{ Write([]byte) (int, error) }, v any) error {
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// FirstRunes returns the first n characters of a text, or all of it.
func FirstRunes(text string, n int) string { return string([]rune(text)[:min(n, len([]rune(text)))]) }

// Labelled writes lines after a label. Only the first line has the label, and control characters are spelled out.
func Labelled(b *strings.Builder, label string, lines ...string) {
	for _, line := range lines {
		fmt.Fprintf(b, "%-7s%s\n", label, printable.Text(line))
		label = ""
	}
}

// OtherText returns a text of another program on one line, cut to most characters, with hidden characters made visible.
func OtherText(text string, most int) string {
	text = printable.Text(strings.Join(strings.Fields(text), " "))
	if cut := ijson.Cut(text, most); cut != text {
		return cut + "…"
	}
	return text
}

// OtherName returns a name that another program chose, in the form of [OtherText].
func OtherName(name string) string { return OtherText(name, 120) }
