package clientfile

import (
	"bytes"
	"reflect"
	"unicode/utf8"

	"patterngate/server/settings/yamldoc"
)

// Entry is one server in a client's file.
type Entry struct {
	Name    string   // the key of the entry
	Command string   // the absolute path of this program
	Args    []string // the arguments, without the command
}

// Format edits the files of one client. Its methods take and return whole texts, never change their arguments,
// and keep every byte outside the entry. An error about a text has its position; [File.Faulty] adds the file.
type Format interface {
	// Fresh returns a text that holds only the entry.
	Fresh(e Entry) []byte
	// Merge adds the entry, or updates the entry with its name. It returns text itself if the entry is already as wanted.
	Merge(text []byte, e Entry) ([]byte, error)
	// Remove removes the entry with this name. It returns text itself if there is none.
	Remove(text []byte, name string) ([]byte, error)
	// Decode returns the values of a text: the servers by name, and everything else.
	Decode(text []byte) (servers, rest map[string]any, err error)
}

// textFault is an error about a text, with its byte offset. The offset is -1 for the text as a whole.
type textFault struct {
	offset       int
	reason, want string
}

// Error returns the reason, without the position.
func (f *textFault) Error() string { return f.reason }

// at returns the error as a fault of a file, with its position as a line and a column.
func (f *textFault) at(file string, text []byte) yamldoc.Fault {
	fault := yamldoc.Fault{File: file, Severity: yamldoc.SeverityFault, Reason: f.reason, Want: f.want}
	if f.offset >= 0 {
		fault.Line, fault.Column = position(text, f.offset)
	}
	return fault
}

// position returns the line and column of an offset. Both count from 1. Columns are in characters, without a byte order mark.
func position(text []byte, offset int) (line, column int) {
	before := bytes.TrimPrefix(text[:min(offset, len(text))], byteOrderMark)
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// byteOrderMark is the UTF-8 mark that some editors write at the start of a text.
var byteOrderMark = []byte("\xef\xbb\xbf")

// splice is a change of a text: with replaces the bytes between two offsets.
type splice struct {
	from, to int
	with     string
}

// spliced returns the text with the changes applied. They must be in ascending order and must not overlap.
func spliced(text []byte, changes ...splice) []byte {
	var out []byte
	done := 0
	for _, c := range changes {
		out = append(append(out, text[done:c.from]...), c.with...)
		done = c.to
	}
	return append(out, text[done:]...)
}

// lineEnd returns the line end of the first line. It returns "\n" for a text without one.
func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineStart returns the offset where the line of an offset begins.
func lineStart(text []byte, offset int) int { return bytes.LastIndexByte(text[:offset], '\n') + 1 }

// indentAt returns the spaces and tabs at the start of the line of an offset.
func indentAt(text []byte, offset int) string {
	line := text[lineStart(text, offset):offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// blank reports whether a text holds only white space and at most one byte order mark.
func blank(text []byte) bool {
	return len(bytes.Trim(bytes.TrimPrefix(text, byteOrderMark), " \t\r\n")) == 0
}

// wideText returns an error for UTF-16, which some editors on Windows write. Its error is clearer than a parser's.
func wideText(text []byte) error {
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return &textFault{offset: 0, reason: "UTF-16 text", want: "save it as UTF-8"}
	}
	return nil
}

// onlyEntryDiffers reports whether two texts decode to equal values, except for the entry with this name. A missing object of
// servers equals an empty one. It returns false if a text does not decode.
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

// EntryOf returns the decoded entry with this name, and whether there is one. It finds none in a text that does not decode.
func EntryOf(f Format, text []byte, name string) (entry any, found bool) {
	servers, _, _ := f.Decode(text) // nil for a text that does not decode
	entry, found = servers[name]
	return entry, found
}

// Starts reports whether a decoded entry has the command and the arguments of e.
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
