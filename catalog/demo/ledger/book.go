package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"patterngate/ijson"
)

// Entry is one effect that the ledger received.
type Entry struct {
	Book       string          `json:"book"` // groups effects that belong together
	Tool       string          `json:"tool"`
	Effect     string          `json:"effect"` // read, write or destructive
	Key        string          `json:"key"`
	Repeatable bool            `json:"repeatable"` // the tool acts once for each key, also if the call arrives again
	Args       json.RawMessage `json:"args"`       // in canonical form
	Result     json.RawMessage `json:"result"`     // the tool's answer
}

// Act returns the action without the key: "issue_refund {...}".
func (e Entry) Act() string { return e.Tool + " " + string(e.Args) }

// Acts counts the actions by [Entry.Act]. It omits reads. It counts repeatable entries once for each key.
func Acts(entries []Entry) map[string]int {
	acts, seen := map[string]int{}, map[string]bool{}
	for _, e := range entries {
		once := e.Book + "\n" + e.Tool + "\n" + e.Key
		if e.Effect == "read" || e.Repeatable && seen[once] {
			continue
		}
		seen[once] = true
		acts[e.Act()]++
	}
	return acts
}

// open opens the file of entries, or creates it. It removes an incomplete last line, because the ledger never answered
// that entry.
func open(path string) (*os.File, []Entry, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	entries, whole, err := read(f)
	if err == nil {
		err = f.Truncate(whole)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, nil, fmt.Errorf("ledger %s: %w", path, err)
	}
	return f, entries, nil
}

// read reads all complete lines and returns their total length in bytes.
func read(f io.Reader) (entries []Entry, whole int64, err error) {
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, 0, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	for line := range bytes.Lines(text) {
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", len(entries)+1, err)
		}
		entries = append(entries, e)
	}
	return entries, int64(len(text)), nil
}

// of returns the entries of a book.
func of(entries []Entry, book string) []Entry {
	return slices.Collect(func(yield func(Entry) bool) {
		for _, e := range entries {
			if e.Book == book && !yield(e) {
				return
			}
		}
	})
}

// checkBook returns an error for a name that cannot be part of an address.
func checkBook(book string) error {
	if book == "" || strings.ContainsAny(book, "/? \n") {
		return fmt.Errorf("book %q: a name without / ? and space is wanted", book)
	}
	return nil
}

// canonical returns a decoded value in the form of the ledger.
func canonical(v any) json.RawMessage { return ijson.Canonical(v) }
