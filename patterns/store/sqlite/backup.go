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

// backup copies the state into a new file while it is in use: one state of it, without free pages. Only its owner may
// read the copy. A file that is there stays as it is. When ctx ends, or it fails, no copy is left.
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

// check reads the whole file and says what is wrong with it, as far as SQLite sees it. It takes as long as reading does.
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

// aside reads over a connection of its own what takes long.
func (j *Store) aside(f func(*session) error) error {
	s, err := connect(j.path, j.patience(), "PRAGMA temp_store=MEMORY", "PRAGMA trusted_schema=OFF")
	if err != nil {
		return err
	}
	err = f(s)
	return errors.Join(err, s.close())
}
