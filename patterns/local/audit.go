package local

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"modernc.org/sqlite"

	"patterngate/patterns"
)

// Damage is something that is wrong with a state file beside the records of its runs.
type Damage struct {
	Run    string // whose rows are concerned; "" where that is not known
	Reason string
}

// maxDamages bounds what one check of a file tells.
const maxDamages = 200

// audits are the checks of rows against one another. Each selects the number of a run, or NULL, and a detail that is put behind the
// words. A run that was pruned has a tombstone, and what outlives it by design points at that.
var audits = []struct{ words, query string }{
	{"events of a run that is not there, from event", `SELECT n, min(seq) FROM events WHERE n NOT IN (SELECT n FROM runs) GROUP BY n`},
	{"a run without events in state", `SELECT n, state FROM runs WHERE NOT EXISTS (SELECT 1 FROM events WHERE events.n = runs.n)`},
	{"hidden values of a run that is not there, this many:", `SELECT n, count(*) FROM redacted WHERE n NOT IN (SELECT n FROM runs) GROUP BY n`},
	{"settled calls of a run that is not there, this many:", `SELECT n, count(*) FROM settled WHERE n NOT IN (SELECT n FROM runs) GROUP BY n`},
	{"a request for approval of a run that is not there:", `SELECT n, printf('ap_%016x', ap) FROM approvals WHERE n NOT IN (SELECT n FROM runs)`},
	{"a request for approval that no event asks for:", `SELECT n, printf('ap_%016x', ap) FROM approvals WHERE n IN (SELECT n FROM runs)
		AND NOT EXISTS (SELECT 1 FROM events WHERE events.n = approvals.n AND events.seq = approvals.seq AND kind = 'intent')`},
	{"a request for approval is missing that is asked for by event", `SELECT n, seq FROM events WHERE kind = 'intent' AND json_valid(CAST(body AS TEXT))
		AND json_extract(CAST(body AS TEXT), '$.effect_kind') = 'human' AND json_type(CAST(body AS TEXT), '$.object') = 'object'
		AND n IN (SELECT n FROM runs) AND NOT EXISTS (SELECT 1 FROM approvals WHERE approvals.n = events.n AND approvals.seq = events.seq)`},
	{"a spent share of an approval that is not there:", `SELECT NULL, printf('ap_%016x', ap) FROM plan_shares WHERE ap NOT IN (SELECT ap FROM approvals)`},
	{"a plan is claimed by a run that is not there:", `SELECT run, printf('plan_%016x', id) FROM plans WHERE run IS NOT NULL
		AND run NOT IN (SELECT n FROM runs) AND printf('run_%016x', run) NOT IN (SELECT run_id FROM tombstones)`},
	{"a business key of a run that is not there, of tool", `SELECT n, tool FROM acted WHERE n NOT IN (SELECT n FROM runs)
		AND printf('run_%016x', n) NOT IN (SELECT run_id FROM tombstones)`},
	{"a child of a run that is not there:", `SELECT n, printf('run_%016x', parent) FROM runs WHERE parent IS NOT NULL
		AND parent NOT IN (SELECT n FROM runs) AND printf('run_%016x', parent) NOT IN (SELECT run_id FROM tombstones)`},
	{"a run that was pruned and is there, in state", `SELECT n, state FROM runs WHERE printf('run_%016x', n) IN (SELECT run_id FROM tombstones)`},
}

// Audit reads the whole file and says what is wrong with it: its pages and indexes, its tables, and rows that point at nothing. It
// sees one state of the file while others write. Its error says that the file cannot be read.
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
		if len(found) > 0 { // what rows say of one another means nothing then
			return nil
		}
		found, err = rowsAudited(s)
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
			found = append(found, Damage{Reason: name + " is none of Patterngate's"})
		case have[name] != want[name]:
			found = append(found, Damage{Reason: name + " is another than Patterngate makes"})
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
	}, "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite^_%' ESCAPE '^'")
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

// rowsAudited are the rows that point at nothing.
func rowsAudited(s *session) (found []Damage, err error) {
	for _, a := range audits {
		err := s.each(func(row func(...any) error) error {
			var n int64
			var known bool
			var detail string
			if err := row(&known, &n, &detail); err != nil {
				return err
			}
			d := Damage{Reason: a.words + " " + detail}
			if known {
				d.Run = idOf(n)
			}
			found = append(found, d)
			return nil
		}, fmt.Sprintf("SELECT n IS NOT NULL, coalesce(n, 0), CAST(detail AS TEXT) FROM (SELECT NULL AS n, NULL AS detail WHERE 0 UNION ALL %s) LIMIT %d", a.query, maxDamages-min(len(found), maxDamages-1)))
		if err != nil {
			return found, fmt.Errorf("%w: %s: %w", patterns.ErrJournal, a.words, err)
		}
	}
	return found, nil
}
