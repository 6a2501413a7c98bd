package yamldoc

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxRun is the limit of empty lines in a row, and of "<" in a row. The scanner's time grows with the square of either.
const maxRun = 100

// sourceText is a text that can be scanned: UTF-8 without BOM and control characters, every line ended by LF.
type sourceText struct {
	source string // names it in faults
	text   string
	lines  []string // without LF
	starts []int    // offset of each line
	tabs   []bool   // lines with tabs
	cursor *lineCursor
}

// lineCursor is a place in a line. It is kept because the next place that is needed is nearly always behind it.
type lineCursor struct {
	line, column int // from 1
	offset       int // in the line, in bytes
	tabs         int // before it
}

// step moves the cursor by one character. It returns false at the end of the line.
func (c *lineCursor) step(line string) bool {
	if c.offset >= len(line) {
		return false
	}
	r, size := utf8.DecodeRuneInString(line[c.offset:])
	c.column, c.offset = c.column+1, c.offset+size
	if r == '\t' {
		c.tabs++
	}
	return true
}

// prepareText checks a text as a whole and splits it into lines. Line ends CR LF and CR become LF, as YAML has it.
func prepareText(source string, text []byte, faults *Faults) (sourceText, bool) {
	in := sourceText{source: source, cursor: &lineCursor{}}
	refuse := func(at Place, f Fault) (sourceText, bool) {
		faults.Add(at, nil, f)
		return in, false
	}
	switch {
	case len(text) > MaxBytes:
		return refuse(in.start(), Fault{Reason: fileTooLarge, Want: wantSmallerFile})
	case bytes.HasPrefix(text, []byte("\ufeff")):
		return refuse(in.start(), Fault{Reason: startsWithMark, Want: wantNoMark})
	}
	in.text = strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "\r", "\n")
	if !strings.HasSuffix(in.text, "\n") {
		in.text += "\n" // without it the scanner leaves the last line of folded text unfolded
	}
	in.split()
	if at, reason := in.unreadable(); reason != "" {
		return refuse(at, Fault{Reason: reason, Want: wantPlainText})
	}
	if at, reason := in.run(); reason != "" {
		return refuse(at, Fault{Reason: reason, Want: wantFewer})
	}
	return in, true
}

func (in *sourceText) split() {
	for offset := 0; offset < len(in.text); {
		end := offset + strings.IndexByte(in.text[offset:], '\n')
		in.lines = append(in.lines, in.text[offset:end])
		in.starts = append(in.starts, offset)
		in.tabs = append(in.tabs, strings.Contains(in.text[offset:end], "\t"))
		offset = end + 1
	}
}

// start returns the place of the first character.
func (in sourceText) start() Place { return Place{in.source, 1, 1} }

// unreadable finds the first byte that is no UTF-8, or the first control character except tab and line end.
func (in sourceText) unreadable() (Place, string) {
	for i, line := range in.lines {
		for offset, r := range line {
			at := func() Place { return Place{in.source, i + 1, utf8.RuneCountInString(line[:offset]) + 1} }
			if r == utf8.RuneError && !strings.HasPrefix(line[offset:], "\ufffd") {
				return at(), notUTF8
			}
			if r < ' ' && r != '\t' {
				return at(), controlCharacter(r)
			}
		}
	}
	return Place{}, ""
}

// run finds lines or characters that are repeated more often than [maxRun].
func (in sourceText) run() (Place, string) {
	blank := 0
	for i, line := range in.lines {
		if column := strings.Index(line, strings.Repeat("<", maxRun+1)); column >= 0 {
			return Place{in.source, i + 1, utf8.RuneCountInString(line[:column]) + 1}, tooManyOpens
		}
		if strings.Trim(line, " \t") != "" {
			blank = 0
			continue
		}
		if blank++; blank > maxRun {
			return Place{in.source, i + 1, 1}, tooManyEmptyLines
		}
	}
	return Place{}, ""
}

// at returns the place of a byte of the text.
func (in sourceText) at(offset int) Place {
	line, found := slices.BinarySearch(in.starts, offset)
	if found {
		line++
	}
	if line < 1 {
		return in.start()
	}
	c := in.cursorIn(line)
	if c.offset > offset-in.starts[line-1] {
		*c = lineCursor{line: line, column: 1}
	}
	for c.offset < offset-in.starts[line-1] && c.step(in.lines[line-1]) {
	}
	return Place{in.source, line, c.column}
}

// cursorIn returns the cursor in a line that exists.
func (in sourceText) cursorIn(line int) *lineCursor {
	if in.cursor.line != line {
		*in.cursor = lineCursor{line: line, column: 1}
	}
	return in.cursor
}

// seek moves the cursor to a column of a line. It returns false if the line ends before that column.
func (in sourceText) seek(line, column int) (*lineCursor, bool) {
	if line < 1 || line > len(in.lines) {
		return nil, false
	}
	c := in.cursorIn(line)
	if c.column > column {
		*c = lineCursor{line: line, column: 1}
	}
	for c.column < column {
		if !c.step(in.lines[line-1]) {
			return c, false
		}
	}
	return c, true
}

// from returns the text from a place on; it is empty if there is no such place.
func (in sourceText) from(at Place) string {
	c, ok := in.seek(at.Line, at.Column)
	if !ok {
		return ""
	}
	return in.text[in.starts[at.Line-1]+c.offset:]
}
