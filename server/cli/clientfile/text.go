package clientfile

import (
	"bytes"
	"reflect"
	"unicode/utf8"

	"patterngate/server/settings/yamldoc"
)

// Entry is one server as a client's file holds it.
type Entry struct {
	Name    string
	Command string // the absolute path of this program
	Args    []string
}

// Format edits the files of one client. Its methods take and return whole texts, never change their arguments,
// and keep every byte that is not the entry's. What is wrong with a text comes as a [*textFault].
type Format interface {
	// fresh is a text that holds nothing but the entry.
	Fresh(e Entry) []byte
	// merge puts the entry in, or brings the one of that name up to date; an entry that is as wanted gives text itself.
	Merge(text []byte, e Entry) ([]byte, error)
	// remove takes the entry of that name out; where there is none it gives text itself.
	Remove(text []byte, name string) ([]byte, error)
	// decode reads a text as values: the servers by name, and all the rest.
	Decode(text []byte) (servers, rest map[string]any, err error)
}

// textFault is what is wrong with a text and where: a byte offset, or -1 for the text as a whole.
type textFault struct {
	offset       int
	reason, want string
}

// Error is the reason, without the place.
func (f *textFault) Error() string { return f.reason }

// at makes it a fault of a file, its place in lines and characters.
func (f *textFault) at(file string, text []byte) yamldoc.Fault {
	fault := yamldoc.Fault{File: file, Severity: yamldoc.SeverityFault, Reason: f.reason, Want: f.want}
	if f.offset >= 0 {
		fault.Line, fault.Column = position(text, f.offset)
	}
	return fault
}

// position is the line and column of an offset, both from 1, columns in characters; a byte order mark is none.
func position(text []byte, offset int) (line, column int) {
	before := bytes.TrimPrefix(text[:min(offset, len(text))], byteOrderMark)
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// byteOrderMark is what some editors write before a text.
var byteOrderMark = []byte("\xef\xbb\xbf")

// splice is a change of a text: what stands between two offsets becomes with.
type splice struct {
	from, to int
	with     string
}

// spliced applies changes, which are in ascending order and do not overlap.
func spliced(text []byte, changes ...splice) []byte {
	var out []byte
	done := 0
	for _, c := range changes {
		out = append(append(out, text[done:c.from]...), c.with...)
		done = c.to
	}
	return append(out, text[done:]...)
}

// lineEnd is how a text ends its lines: as the first one does.
func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineStart is the offset of the line in which an offset is.
func lineStart(text []byte, offset int) int { return bytes.LastIndexByte(text[:offset], '\n') + 1 }

// indentAt is the white space with which the line of an offset begins.
func indentAt(text []byte, offset int) string {
	line := text[lineStart(text, offset):offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// blank reports whether a text is nothing but white space and a byte order mark.
func blank(text []byte) bool {
	return len(bytes.Trim(bytes.TrimPrefix(text, byteOrderMark), " \t\r\n")) == 0
}

// wideText refuses UTF-16, which some editors on Windows write, before a parser stumbles over its first byte.
func wideText(text []byte) error {
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return &textFault{offset: 0, reason: "UTF-16 text", want: "save it as UTF-8"}
	}
	return nil
}

// onlyEntryDiffers reports whether two texts that decode say the same but for the entry of that name. No servers are
// the same as an empty object of them.
func onlyEntryDiffers(f Format, a, b []byte, name string) bool {
	left, leftRest, err := f.Decode(a)
	right, rightRest, otherErr := f.Decode(b)
	if err != nil || otherErr != nil {
		return false
	}
	delete(left, name)
	delete(right, name)
	return reflect.DeepEqual(leftRest, rightRest) && (len(left)+len(right) == 0 || reflect.DeepEqual(left, right))
}

// EntryOf finds an entry in a text that decodes.
func EntryOf(f Format, text []byte, name string) (entry any, found bool) {
	servers, _, _ := f.Decode(text) // none of a text that does not decode
	entry, found = servers[name]
	return entry, found
}

// Starts reports whether an entry starts the program as e does.
func (e Entry) Starts(entry any) bool {
	members, ok := entry.(map[string]any)
	if !ok || members["command"] != e.Command {
		return false
	}
	args, _ := members["args"].([]any)
	if len(args) != len(e.Args) {
		return false
	}
	for i, a := range args {
		if a != e.Args[i] {
			return false
		}
	}
	return true
}
