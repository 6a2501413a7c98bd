package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// session is one connection with its prepared statements. It calls the driver directly, because database/sql would double the cost
// of an insert. Only one goroutine at a time can use it.
type session struct {
	conn  driver.Conn
	stmts map[string]*statement
	args  []driver.NamedValue // of the next statement; the driver copies them
	path  string              // for messages
}

type statement struct {
	driver.Stmt
	open bool // its rows are being read
}

// connect opens a connection to an existing file and runs the pragmas in their order.
func connect(path string, pragmas ...string) (*session, error) {
	connector, err := sqlite.NewConnector(address(path))
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(context.Background())
	if err != nil {
		return nil, journalFault(path, err)
	}
	s := &session{conn: conn, stmts: map[string]*statement{}, path: path}
	for _, p := range pragmas {
		if err := s.run(p); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// address returns the path as a URI for SQLite; any character can be in the name. SQLite must not create the file, because every user
// could read it.
func address(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/...
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: "mode=rw&_defensive=1&_dqs=0&_error_rc=1"}).String()
}

// close closes the statements and then the connection. An open statement would keep the connection and its files open.
func (s *session) close() error {
	var faults []error
	for _, st := range s.stmts {
		faults = append(faults, st.Close())
	}
	return errors.Join(append(faults, s.conn.Close())...)
}

func (s *session) statement(query string) (*statement, error) {
	if st := s.stmts[query]; st != nil {
		return st, nil
	}
	st, err := s.conn.Prepare(query)
	if err != nil {
		return nil, journalFault(s.path, err)
	}
	s.stmts[query] = &statement{Stmt: st}
	return s.stmts[query], nil
}

// run executes statements once and does not keep them prepared.
func (s *session) run(script string) error {
	_, err := s.conn.(driver.ExecerContext).ExecContext(context.Background(), script, nil)
	return journalFault(s.path, err)
}

// Exec executes one statement, keeps it prepared, and returns how many rows it inserted, updated or deleted. Arguments are nil,
// integers, booleans, strings and []byte, or named types of these. Errors of the file wrap [patterns.ErrJournal].
func (s *session) Exec(query string, args ...any) (changed int64, err error) {
	st, err := s.statement(query)
	if err != nil {
		return 0, err
	}
	if err := s.bind(st, args); err != nil {
		return 0, err
	}
	result, err := st.Stmt.(driver.StmtExecContext).ExecContext(context.Background(), s.args)
	if err != nil {
		return 0, journalFault(s.path, err)
	}
	return result.RowsAffected()
}

// Each calls scan for every row of a query, and keeps the query prepared. row stores the columns behind the pointers that scan gives.
//
//   - The pointers are those that values.go knows (integers, booleans, strings and bytes), or a [sql.Scanner]. NULL stores the zero
//     value.
//   - An error of scan ends the query and is returned unchanged. Other errors are those of Exec.
//   - scan must not begin the same query again.
func (s *session) Each(scan func(row func(...any) error) error, query string, args ...any) (err error) {
	st, err := s.statement(query)
	if err != nil {
		return err
	}
	if err := s.bind(st, args); err != nil {
		return err
	}
	rows, err := st.Stmt.(driver.StmtQueryContext).QueryContext(context.Background(), s.args)
	if err != nil {
		return journalFault(s.path, err)
	}
	st.open = true
	defer func() {
		st.open = false
		if closed := rows.Close(); err == nil {
			err = journalFault(s.path, closed)
		}
	}()
	columns := make([]driver.Value, len(rows.Columns()))
	row := func(to ...any) error { return scanRow(columns, to) }
	for {
		switch err := rows.Next(columns); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return journalFault(s.path, err)
		}
		if err := scan(row); err != nil {
			return err
		}
	}
}

func (s *session) bind(st *statement, args []any) error {
	if st.open {
		return errors.New("local: a query was begun again while its rows are read")
	}
	s.args = s.args[:0]
	for i, a := range args {
		v, err := argument(a)
		if err != nil {
			return fmt.Errorf("local: argument %d: %w", i+1, err)
		}
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return nil
}

// argument converts an argument to a value that the driver takes.
func argument(a any) (driver.Value, error) {
	switch a := a.(type) {
	case nil, int64, string, []byte, bool:
		return a, nil
	case int:
		return int64(a), nil
	case json.RawMessage:
		return []byte(a), nil
	}
	return driver.DefaultParameterConverter.ConvertValue(a)
}

// scanRow stores the columns of a row behind the pointers in to.
func scanRow(columns []driver.Value, to []any) error {
	if len(columns) != len(to) {
		return fmt.Errorf("local: %d columns for %d places", len(columns), len(to))
	}
	for i, c := range columns {
		if err := scanColumn(c, to[i]); err != nil {
			return fmt.Errorf("local: column %d: %w", i+1, err)
		}
	}
	return nil
}

func scanColumn(c driver.Value, to any) error {
	if scanner, ok := to.(sql.Scanner); ok {
		return scanner.Scan(c)
	}
	switch c := c.(type) {
	case nil:
		return clearPlace(to)
	case int64:
		return putInteger(c, to)
	case string:
		return putText(c, to)
	case []byte:
		return putBytes(c, to)
	}
	return fmt.Errorf("a %T is not stored", c)
}
