package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"patterngate/patterns"
)

// Backup copies one state of the file into a new file, without free pages. The state file can be in use. Only the owner of the copy
// can read it. Backup returns an error if the new file exists already. It leaves no copy if ctx ends or the copy fails.
func (j *Store) Backup(ctx context.Context, file string) (err error) {
	if err := j.there(); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(file)
		}
	}()
	to, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	err = j.aside(func(s *session) error {
		args := []driver.NamedValue{{Ordinal: 1, Value: to}}
		_, err := s.conn.(driver.ExecerContext).ExecContext(ctx, "VACUUM INTO ?", args)
		return err
	})
	if err != nil {
		return err
	}
	return f.Sync()
}

// Check reads the whole file and returns an error that names the damage that SQLite finds. It takes as long as reading the file.
func (j *Store) Check() error {
	if err := j.there(); err != nil {
		return err
	}
	var found []string
	err := j.aside(func(s *session) error {
		return s.Each(func(row func(...any) error) error {
			var line string
			err := row(&line)
			if line != "ok" {
				found = append(found, line)
			}
			return err
		}, "PRAGMA quick_check(3)")
	})
	if err == nil && found != nil {
		err = fmt.Errorf("%w: %s is damaged: %s", patterns.ErrJournal, j.path, strings.Join(found, "; "))
	}
	return err
}

// aside calls f with a connection of its own, for reads that take long.
func (j *Store) aside(f func(*session) error) error {
	s, err := connect(j.path, j.patience(), "PRAGMA temp_store=MEMORY", "PRAGMA trusted_schema=OFF")
	if err != nil {
		return err
	}
	err = f(s)
	return errors.Join(err, s.close())
}
