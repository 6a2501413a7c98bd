package sqlite

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"time"
)

// application is the application_id of Patterngate's state files: "PGAT".
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

// migrations are the scripts in their order. The user_version of a file counts those that it has.
var migrations = [...]string{migration1, migration2, migration3, migration4, migration5, migration6}

// writerPragmas are set on the writer, once the file is known to be a state file of Patterngate.
var writerPragmas = [...]string{
	"PRAGMA fullfsync=1",             // on macOS an fsync alone does not reach the disk
	"PRAGMA synchronous=FULL",        // until a batch needs less, see discipline
	"PRAGMA secure_delete=ON",        // redacted values must not stay in free pages
	"PRAGMA trusted_schema=OFF",      // another program may have changed the schema
	"PRAGMA temp_store=MEMORY",       // no data of a run goes into temporary files
	"PRAGMA cache_size=-8192",        // KiB
	"PRAGMA wal_autocheckpoint=1000", // pages
}

// errReadOnly says that SQLite opened the file only for reading, because this process has no right to write. Without this check the
// first write would fail.
var errReadOnly = errors.New("it may only be read; make it writable for its owner (chmod u+w) or name another file with --state")

// settle checks that the file is a state file, and makes a new file one. It changes nothing in the files of other programs.
func (j *Store) settle() error {
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		err := j.adopt()
		// Some steps that switch a new file to WAL mode do not wait for another process that does the same.
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

// migrate runs the missing migrations in one transaction. If two processes try, one of them does it.
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

// stamped calls stamp in a transaction, because another process may be migrating the file.
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

// stamp returns how many migrations the file has; 0 for a new file. The error says that another program or a newer version wrote it.
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

// wal switches the file to the write-ahead log. A copy that Backup made does not use the log yet.
func (j *Store) wal() error {
	var mode string
	err := j.writer.Each(func(row func(...any) error) error { return row(&mode) }, "PRAGMA journal_mode=WAL")
	if err == nil && mode != "wal" {
		err = fmt.Errorf("its file system has no shared memory for it (journal mode %s); name a file on a local disk with --state", mode)
	}
	return err
}

// makeFile makes an empty file that only its owner can read and write, if none exists. It does not open an existing file, because
// closing it would release the locks that SQLite has on it in this process.
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
