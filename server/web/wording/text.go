package wording

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
	MaxName     = 64   // characters of a name
	MaxComment  = 1000 // characters of a comment or reason
	maxIndent   = 6    // JSON is indented if that makes it at most so many times as long
	spareIndent = 256  // and this many bytes longer
)

// Visible escapes every character that a reader of a page cannot see, as JSON escapes it. It escapes what package printable
// escapes for terminals, and also blanks of no width, fillers, tags and variation selectors. Bytes that are not UTF-8 become
// U+FFFD.
func Visible(text string) string {
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

// hidden reports whether a character controls the display, or shows as nothing or as a blank.
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

// Clip returns the first n characters of a text, in one line and as [Visible] shows it. A text that is cut ends in "…".
func Clip(text string, n int) string {
	cut := text[:min(len(text), utf8.UTFMax*(n+1))] // a character that this splits is cut off below
	short := []rune(Visible(cut))
	if len(short) <= n && len(cut) == len(text) {
		return string(short)
	}
	return string(short[:min(len(short), n-1)]) + "…"
}

// Name returns a name from outside as [Clip] shows it, at most [MaxName] characters long.
func Name(text string) string { return Clip(text, MaxName) }

// Lines returns the first n characters of a text from outside. It keeps line ends, and shows everything else as [Visible] does.
// A text that is cut ends in "…".
func Lines(text string, n int) string {
	parts := strings.Split(strings.ToValidUTF8(text[:min(len(text), utf8.UTFMax*n)], "\ufffd"), "\n")
	for i, part := range parts {
		parts[i] = Visible(part)
	}
	shown := []rune(strings.Join(parts, "\n"))
	if len(shown) > n {
		return string(shown[:n-1]) + "…"
	}
	return string(shown)
}

// PrettyValue returns a decoded value as [PrettyJSON] shows it. It never cuts the value.
func PrettyValue(v any) string { return PrettyJSON(ijson.Canonical(v)) }

// PrettyJSON indents JSON text and shows it as [BreakLines] does. It does not indent text that is not JSON, or that is nested so
// deeply that most of the result would be blanks.
func PrettyJSON(text []byte) string {
	if len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		var b bytes.Buffer
		if json.Indent(&b, text, "", "  ") == nil && b.Len() <= maxIndent*len(text)+spareIndent {
			text = b.Bytes()
		}
	}
	return BreakLines(text)
}

// BreakLines shows JSON text as [Visible] does, but keeps its line ends. It also adds a line end after each \n in a string, so that
// people can read long strings.
func BreakLines(text []byte) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/16)
	for line := range strings.Lines(strings.ToValidUTF8(string(text), "\ufffd")) {
		body, ended := strings.CutSuffix(line, "\n")
		body = Visible(body)
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

// Block is a text from outside as a page shows it, with a label.
type Block struct {
	Label string
	Text  string
	Cut   string // says what is not shown; "": Text is whole
}

// JSONBlock returns recorded JSON as a block. It shows the first limit bytes of a longer text.
func JSONBlock(label string, text json.RawMessage, limit int) Block {
	if len(text) <= limit {
		return Block{Label: label, Text: PrettyJSON(text)}
	}
	return Block{label, BreakLines(text[:limit]), cutAt(limit, len(text))}
}

// Grouped returns a number with a comma between thousands.
func Grouped(n int) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Moment is a time as a page shows it: absolute, and relative to now. The zero Moment is no time.
type Moment struct {
	At  string // RFC 3339, for machines
	Day string // for people, in UTC
	Rel string // "in 3 h 20 min", "5 min ago"
}

// MomentOf returns a time as a page shows it: in UTC, which the page's script changes to the reader's own zone. The zero time gives the
// zero Moment.
func MomentOf(t, now time.Time) Moment {
	if t.IsZero() {
		return Moment{}
	}
	m := Moment{At: t.UTC().Format(time.RFC3339), Day: t.UTC().Format("2006-01-02 15:04:05 UTC")}
	switch d := t.Sub(now); {
	case d > 0:
		m.Rel = "in " + roughly(d)
	default:
		m.Rel = roughly(-d) + " ago"
	}
	return m
}

// ParseMoment reads a time in RFC 3339. A text that is no such time gives the zero Moment.
func ParseMoment(text string, now time.Time) Moment {
	t, _ := time.Parse(time.RFC3339, text) // zero: no moment
	return MomentOf(t, now)
}

// roughly returns a duration in its two largest units.
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

// Duration returns a duration of a record, given in seconds.
func Duration(seconds float64) string {
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

// Count returns a number with the name of what is counted, such as "1 call" or "2 calls".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Grouped(n) + " " + thing + "s"
}

// Label returns the words of a name: "auto_refund_limit" becomes "auto refund limit".
func Label(name string) string {
	return strings.TrimSpace(strings.ReplaceAll(Name(name), "_", " "))
}

// Amount returns a number in JSON with two decimals, as the phrase of a call shows amounts. It returns false if the text is no number, or
// a number that two decimals do not show exactly.
func Amount(number string) (string, bool) {
	whole, fraction, _ := strings.Cut(number, ".")
	if strings.Trim(strings.TrimPrefix(whole, "-"), "0123456789") != "" || strings.Trim(fraction, "0123456789") != "" || whole == "" || whole == "-" || len(fraction) > 2 || len(whole) > 15 {
		return "", false
	}
	return whole + "." + (fraction + "00")[:2], true
}
