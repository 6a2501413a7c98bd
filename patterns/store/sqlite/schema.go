package sqlite

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"time"
)

// application marks our files: "PGAT".
const application = 0x50474154

//go:embed schema.sql
var migration1 string

//go:embed schema2.sql
var migration2 string

//go:embed schema3.sql
var migration3 string

//go:embed schema4.sql
var migration4 string

//go:embed schema5.sql
var migration5 string

//go:embed schema6.sql
var migration6 string

// migrations in their order; user_version counts those that a file has.
var migrations = [...]string{migration1, migration2, migration3, migration4, migration5, migration6}

// writerPragmas are set on the writer of a file that is ours.
var writerPragmas = [...]string{
	"PRAGMA fullfsync=1",             // on macOS an fsync alone does not reach the disk
	"PRAGMA synchronous=FULL",        // until the first batch says otherwise
	"PRAGMA secure_delete=ON",        // redacted values shall be gone
	"PRAGMA trusted_schema=OFF",      // the schema may not be ours after all
	"PRAGMA temp_store=MEMORY",       // nothing of a run is to lie elsewhere
	"PRAGMA cache_size=-8192",        // KiB
	"PRAGMA wal_autocheckpoint=1000", // pages
}

// errReadOnly says that SQLite opened the file for reading for want of the right to write; it would tell at the first write.
var errReadOnly = errors.New("it may only be read; make it writable for its owner (chmod u+w) or name another file with --state")

// settle finds out whose file it is and makes it one of ours where it is new. It changes nothing in others' files.
func (j *Store) settle() error {
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		err := j.adopt()
		// Some steps from a new file to one in WAL mode do not wait for others that are about the same.
		if err == nil || sqliteCode(err) != codeBusy || time.Since(begun) > j.busy {
			return err
		}
	}
}

func (j *Store) adopt() error {
	have, err := j.stamped()
	if err != nil {
		return err
	}
	if only, err := j.writer.conn.(interface{ IsReadOnly(string) (bool, error) }).IsReadOnly("main"); err != nil || only {
		return errors.Join(err, errReadOnly)
	}
	if err := j.wal(); err != nil {
		return err
	}
	for _, p := range writerPragmas {
		if err := j.writer.run(p); err != nil {
			return err
		}
	}
	j.full = true
	if have == len(migrations) {
		return nil
	}
	return j.migrate()
}

// migrate brings the file up to date, in one transaction: of two processes one does it.
func (j *Store) migrate() error {
	if err := j.writer.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	have, err := j.stamp()
	for _, script := range migrations[min(have, len(migrations)):] {
		if err == nil {
			err = j.writer.run(script)
		}
	}
	if err == nil {
		err = j.writer.run(fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT", application, len(migrations)))
	}
	if err != nil {
		_ = j.writer.run("ROLLBACK")
	}
	return err
}

// stamped is stamp at one moment: another process may be about to make a new file ours.
func (j *Store) stamped() (have int, err error) {
	if err := j.writer.run("BEGIN"); err != nil {
		return 0, err
	}
	have, err = j.stamp()
	if end := j.writer.run("ROLLBACK"); err == nil {
		err = end
	}
	return have, err
}

// stamp is how many migrations the file has; 0 for a new one.
func (j *Store) stamp() (have int, err error) {
	var app, tables int
	read := func(to *int, query string) {
		if err == nil {
			err = j.writer.Each(func(row func(...any) error) error { return row(to) }, query)
		}
	}
	read(&app, "PRAGMA application_id")
	read(&have, "PRAGMA user_version")
	read(&tables, countTables)
	switch {
	case err != nil:
		return 0, err
	case app == 0 && have == 0 && tables == 0:
		return 0, nil
	case app != application:
		return 0, errors.New("it is another program's database; name another file with --state")
	case have > len(migrations) || have < 1:
		return 0, fmt.Errorf("it was written by a newer version (its format is %d, this program knows %d); update this program or name another file with --state", have, len(migrations))
	}
	return have, nil
}

// wal switches the file to the write-ahead log, in which a copy made by backup is not.
func (j *Store) wal() error {
	var mode string
	err := j.writer.Each(func(row func(...any) error) error { return row(&mode) }, "PRAGMA journal_mode=WAL")
	if err == nil && mode != "wal" {
		err = fmt.Errorf("its file system has no shared memory for it (journal mode %s); name a file on a local disk with --state", mode)
	}
	return err
}

// makeFile makes an empty file that only its owner may read, where there is none. An existing one is not even opened: closing
// it would take from SQLite the locks that this process has on it.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}
