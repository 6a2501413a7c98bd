package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"

	"patterngate/patterns"
)

// The result codes of SQLite that have messages here, see https://www.sqlite.org/rescode.html.
const (
	codeBusy       = 5
	codeReadOnly   = 8
	codeCorrupt    = 11
	codeFull       = 13
	codeCannotOpen = 14
	codeConstraint = 19
	codeNotADB     = 26
)

// sqliteCode returns the primary result code of an error of the driver; 0 for other errors.
func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// journalFault adds to an error what is wrong with the state file and what to do. The result wraps [patterns.ErrJournal]. An error
// that wraps it already is returned unchanged; nil stays nil.
func journalFault(path string, err error) error {
	if err == nil || errors.Is(err, patterns.ErrJournal) {
		return err
	}
	words := "the state file failed"
	switch sqliteCode(err) {
	case 0: // not an error of SQLite
		return fmt.Errorf("%w: %s: %w", patterns.ErrJournal, path, err)
	case codeBusy:
		words = "locked: another process keeps the state file locked; look for one that is stopped"
	case codeReadOnly, codeCannotOpen:
		words = "the state file or its directory cannot be written"
	case codeFull:
		words = "no space is left for the state file"
	case codeCorrupt, codeNotADB:
		words = "the state file is damaged or not a state file; keep it, and use a backup or another --state"
	}
	return fmt.Errorf("%w: %s: %s: %w", patterns.ErrJournal, words, path, err)
}
