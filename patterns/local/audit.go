package local

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"modernc.org/sqlite"

	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// Damage is a fault of a state file outside the records of its runs.
type Damage struct {
	Run    string // whose rows are concerned; "" where that is not known
	Reason string
}

// maxDamages is how many faults one check of a file returns.
const maxDamages = 200

// Audit reads the whole file and returns its faults: of pages and indexes, of tables, and of rows that refer to nothing. It reads one
// state of the file while other programs write. It returns an error if the file cannot be read.
func (o Operator) Audit() (found []Damage, err error) {
	j := o.file.journal
	if err := j.there(); err != nil {
		return nil, err
	}
	err = j.aside(func(s *session) error {
		if err := s.run("BEGIN"); err != nil {
			return err
		}
		defer func() { _ = s.run("ROLLBACK") }() // nothing was written
		for _, check := range []func(*session) ([]Damage, error){pages, tables} {
			damages, err := check(s)
			if found = append(found, damages...); err != nil {
				return err
			}
		}
		if len(found) > 0 { // the rows of a damaged file say nothing
			return nil
		}
		if found, err = rowsAudited(s, audits); err != nil || len(found) > 0 {
			return err
		}
		if found, err = rowsAudited(s, contents); err != nil {
			return err
		}
		more, err := sums(s)
		found = append(found, more...)
		return err
	})
	return found, err
}

// pages is SQLite's own check of pages, indexes and foreign keys.
func pages(s *session) (found []Damage, err error) {
	err = s.each(func(row func(...any) error) error {
		var line string
		err := row(&line)
		if line != "ok" {
			found = append(found, Damage{Reason: line})
		}
		return err
	}, "PRAGMA integrity_check(20)")
	return found, err
}

// tables compares the tables, indexes and triggers with those of a new file.
func tables(s *session) (found []Damage, err error) {
	want, err := newSchema()
	if err != nil {
		return nil, err
	}
	have, err := schemaOf(s)
	if err != nil {
		return nil, err
	}
	for _, name := range sortedNames(want, have) {
		switch {
		case have[name] == "":
			found = append(found, Damage{Reason: name + " is missing"})
		case want[name] == "":
			found = append(found, Damage{Reason: name + " does not belong in a Patterngate state file"})
		case have[name] != want[name]:
			found = append(found, Damage{Reason: name + " differs from what Patterngate creates"})
		}
	}
	return found, nil
}

func sortedNames(maps ...map[string]string) (names []string) {
	for _, m := range maps {
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// schemaOf is the text by which each table, index, view and trigger was made.
func schemaOf(s *session) (made map[string]string, err error) {
	made = map[string]string{}
	err = s.each(func(row func(...any) error) error {
		var kind, name, text string
		err := row(&kind, &name, &text)
		made[kind+" "+name] = text
		return err
	}, selectTables)
	return made, err
}

// newSchema is the schema of a new file.
func newSchema() (made map[string]string, err error) {
	connector, err := sqlite.NewConnector(":memory:")
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, stmts: map[string]*statement{}, path: ":memory:"}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, script := range migrations {
		if err := s.run(script); err != nil {
			return nil, err
		}
	}
	return schemaOf(s)
}

// rowsAudited are the rows that checks find.
func rowsAudited(s *session, checks []audit) (found []Damage, err error) {
	for _, a := range checks {
		err := s.each(func(row func(...any) error) error {
			var n int64
			var known bool
			var detail string
			if err := row(&known, &n, &detail); err != nil {
				return err
			}
			d := Damage{Reason: a.words + " " + detail}
			if known {
				d.Run = journal.RunID(n)
			}
			found = append(found, d)
			return nil
		}, fmt.Sprintf(auditFormat, a.query, maxDamages-min(len(found), maxDamages-1)))
		if err != nil {
			return found, fmt.Errorf("%w: %s: %w", patterns.ErrJournal, a.words, err)
		}
	}
	return found, nil
}
