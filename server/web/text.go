package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"patterngate/ijson"
)

// Bounds of texts.
const (
	maxName     = 64   // characters of a name
	maxWords    = 1000 // characters of a comment or reason
	maxIndent   = 6    // JSON may become so many times longer by line ends and blanks
	spareIndent = 256  // bytes that JSON of any length may grow besides
)

// visible is text with every character that does not show by itself spelled as JSON spells it: what [printable.Text]
// spells, and what is unseen on a page but not in a terminal: blanks of no width, fillers, tags, variation selectors.
func visible(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	for _, r := range text {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xffff: // as JSON has it, in two halves
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// hidden reports whether a character acts, or leaves nothing or a mere blank to see.
func hidden(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r == utf8.RuneError:
		return false
	case r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0,
		r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		return true
	}
	return !unicode.IsPrint(r)
}

// clip is the beginning of a text in one line, hidden characters spelled.
func clip(text string, n int) string {
	cut := text[:min(len(text), utf8.UTFMax*(n+1))] // a character that this splits is cut off below
	short := []rune(visible(cut))
	if len(short) <= n && len(cut) == len(text) {
		return string(short)
	}
	return string(short[:min(len(short), n-1)]) + "…"
}

// name is an outsider's name, fit to stand in a line.
func name(text string) string { return clip(text, maxName) }

// lines are an outsider's words, which keep their line ends; longer ones are cut.
func lines(text string, n int) string {
	parts := strings.Split(strings.ToValidUTF8(text[:min(len(text), utf8.UTFMax*n)], "\ufffd"), "\n")
	for i, part := range parts {
		parts[i] = visible(part)
	}
	shown := []rune(strings.Join(parts, "\n"))
	if len(shown) > n {
		return string(shown[:n-1]) + "…"
	}
	return string(shown)
}

// prettyValue is a decoded value as JSON for people: indented as [pretty] does it, every line end in a text shown where it is,
// everything that does not show by itself spelled. It is whole.
func prettyValue(v any) string { return pretty(ijson.Canonical(v)) }

// pretty is JSON text as [prettyValue] shows it; what is no JSON is shown as it stands, and what is nested so deeply that it would be
// blanks for the most part is not indented.
func pretty(text []byte) string {
	if len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		var b bytes.Buffer
		if json.Indent(&b, text, "", "  ") == nil && b.Len() <= maxIndent*len(text)+spareIndent {
			text = b.Bytes()
		}
	}
	return broken(text)
}

// broken spells what is hidden in JSON text, but for its own line ends, and breaks lines after each \n in a text.
func broken(text []byte) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/16)
	for line := range strings.Lines(strings.ToValidUTF8(string(text), "\ufffd")) {
		body, ended := strings.CutSuffix(line, "\n")
		body = visible(body)
		for from := 0; from < len(body); {
			at := strings.IndexByte(body[from:], '\\')
			if at < 0 || from+at+1 >= len(body) {
				b.WriteString(body[from:])
				break
			}
			b.WriteString(body[from : from+at+2])
			if from += at + 2; body[from-1] == 'n' && body[from:] != `"` {
				b.WriteByte('\n')
			}
		}
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// block is an outsider's JSON on a page.
type block struct {
	Label string
	Text  string
	Cut   string // what is not shown, in words; "": nothing
}

// recorded is recorded JSON for a page; of more than limit bytes it is the beginning.
func recorded(label string, text json.RawMessage, limit int) block {
	if len(text) <= limit {
		return block{Label: label, Text: pretty(text)}
	}
	return block{label, broken(text[:limit]), fmt.Sprintf("Cut: the first %s of %s bytes are shown. The whole is in the export.", grouped(limit), grouped(len(text)))}
}

// grouped is a number with commas.
func grouped(n int) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// moment is a time on a page: absolute, and how far from now.
type moment struct {
	At  string // RFC 3339, for machines
	Day string // for people, with the zone
	Rel string // "in 3 h 20 min", "5 min ago"; "" where it does not matter
}

// momentOf shows a time in the zone of now.
func momentOf(t, now time.Time) moment {
	if t.IsZero() {
		return moment{}
	}
	m := moment{At: t.UTC().Format(time.RFC3339), Day: zoned(t.In(now.Location()))}
	switch d := t.Sub(now); {
	case d > 0:
		m.Rel = "in " + roughly(d)
	default:
		m.Rel = roughly(-d) + " ago"
	}
	return m
}

// zoned is a time in words with its zone: the zone's name, and how far it is from UTC where that is not 0.
func zoned(t time.Time) string {
	name, offset := t.Zone()
	text := t.Format("2006-01-02 15:04:05 ")
	switch {
	case offset == 0 && name != "UTC":
		return text + name + " (UTC)"
	case offset == 0:
		return text + name
	case strings.HasPrefix(name, "+"), strings.HasPrefix(name, "-"): // the zone has no name
		return text + t.Format("-07:00")
	}
	return text + name + t.Format(" (-07:00)")
}

// parsed is the moment of a recorded time.
func parsed(text string, now time.Time) moment {
	t, _ := time.Parse(time.RFC3339, text) // zero: no moment
	return momentOf(t, now)
}

// roughly words a duration by its two largest units.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %02d h", int(d.Hours())/24, int(d.Hours())%24)
}

// took words a duration of a record, in seconds.
func took(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(time.Millisecond)
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	if d < time.Hour {
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return roughly(d)
}

// count words a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return grouped(n) + " " + thing + "s"
}
