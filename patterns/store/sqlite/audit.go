package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// maxDamages is how many faults one check of a file returns.
const maxDamages = 200

// Audit reads the whole file and returns its faults: damaged pages and indexes, changed tables, and rows that refer to nothing. It
// reads one state of the file; other programs can write at the same time. It returns an error if the file cannot be read.
func (j *Store) Audit() (found []store.Damage, err error) {
	if err := j.there(); err != nil {
		return nil, err
	}
	err = j.aside(func(s *session) error {
		if err := s.run("BEGIN"); err != nil {
			return err
		}
		defer func() { _ = s.run("ROLLBACK") }() // nothing was written
		for _, check := range []func(*session) ([]store.Damage, error){pages, tables} {
			damages, err := check(s)
			if found = append(found, damages...); err != nil {
				return err
			}
		}
		if len(found) > 0 { // the rows of a damaged file prove nothing
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

// pages runs SQLite's own check of pages, indexes and foreign keys.
func pages(s *session) (found []store.Damage, err error) {
	err = s.Each(func(row func(...any) error) error {
		var line string
		err := row(&line)
		if line != "ok" {
			found = append(found, store.Damage{Reason: line})
		}
		return err
	}, "PRAGMA integrity_check(20)")
	return found, err
}

// tables compares the tables, indexes and triggers with those of a new file.
func tables(s *session) (found []store.Damage, err error) {
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
			found = append(found, store.Damage{Reason: name + " is missing"})
		case want[name] == "":
			found = append(found, store.Damage{Reason: name + " does not belong in a Patterngate state file"})
		case have[name] != want[name]:
			found = append(found, store.Damage{Reason: name + " differs from what Patterngate creates"})
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

// schemaOf returns the SQL text that created each table, index, view and trigger.
func schemaOf(s *session) (made map[string]string, err error) {
	made = map[string]string{}
	err = s.Each(func(row func(...any) error) error {
		var kind, name, text string
		err := row(&kind, &name, &text)
		made[kind+" "+name] = text
		return err
	}, selectTables)
	return made, err
}

// newSchema returns the schema of a new file. It migrates an empty database in memory to find it.
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

// rowsAudited runs checks and returns the rows that they find.
func rowsAudited(s *session, checks []audit) (found []store.Damage, err error) {
	for _, a := range checks {
		err := s.Each(func(row func(...any) error) error {
			var n int64
			var known bool
			var detail string
			if err := row(&known, &n, &detail); err != nil {
				return err
			}
			d := store.Damage{Reason: a.words + " " + detail}
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

// sums checks the rows that have a hash of their own content, and returns those whose content does not match.
func sums(s *session) (found []store.Damage, err error) {
	err = s.Each(func(row func(...any) error) error {
		var id int64
		var sum, body []byte
		err := row(&id, &sum, &body)
		if have := sha256.Sum256(body); !bytes.Equal(have[:], sum) {
			found = append(found, store.Damage{Reason: "a stored plan was altered: " + journal.PlanID(id)})
		}
		return err
	}, selectPlanSums)
	if err != nil {
		return found, err
	}
	err = s.Each(func(row func(...any) error) error {
		var hash string
		var body []byte
		err := row(&hash, &body)
		have := sha256.Sum256(body)
		if digits := strings.TrimPrefix(hash, "sha256:"); len(digits) == 2*sha256.Size && digits != hex.EncodeToString(have[:]) {
			found = append(found, store.Damage{Reason: "a stored configuration was altered: " + hash})
		}
		return err
	}, selectConfigSums)
	if err != nil {
		return found, err
	}
	err = s.Each(func(row func(...any) error) error {
		var ap, n int64
		var key string
		err := row(&ap, &n, &key)
		if id := journal.QuestionID(journal.RunID(n), key); id != journal.ApprovalID(ap) {
			found = append(found, store.Damage{Run: journal.RunID(n), Reason: "a request for approval has another id than " + id + ": " + journal.ApprovalID(ap)})
		}
		return err
	}, selectAskedKeys)
	return found[:min(len(found), maxDamages)], err
}
