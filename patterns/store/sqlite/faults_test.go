package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// refusesWork checks that a journal takes no change any more and says why.
func refusesWork(t *testing.T, j *Store, want string) {
	t.Helper()
	err := j.alter(func(*session) error { t.Error("something was done"); return nil })
	if !errors.Is(err, patterns.ErrJournal) || !strings.Contains(err.Error(), want) {
		t.Errorf("a change: %v, want %v with %q", err, patterns.ErrJournal, want)
	}
}

func TestDeletedOrReplacedFileIsNoticed(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(path string) error{
		"file deleted": os.Remove,
		"file moved":   func(path string) error { return os.Rename(path, path+".old") },
		"file replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		},
		"log deleted":   func(path string) error { return os.Remove(path + "-wal") },
		"index deleted": func(path string) error { return os.Remove(path + "-shm") },
		"log replaced": func(path string) error {
			return errors.Join(os.Remove(path+"-wal"), os.WriteFile(path+"-wal", nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := fresh(t)
			begin(t, j, 1, 1)
			check(t, harm(j.path))
			refusesWork(t, j, "deleted or replaced while in use")
			if err := j.Do(&store.Change{Run: 1, Epoch: 1, Events: chain(1, 1, 1, nil)}); !errors.Is(err, patterns.ErrJournal) {
				t.Errorf("an append: %v, want %v", err, patterns.ErrJournal)
			}
			if err := j.Check(); !errors.Is(err, patterns.ErrJournal) {
				t.Errorf("check: %v, want %v", err, patterns.ErrJournal)
			}
			if err := j.Backup(t.Context(), j.path+".backup"); !errors.Is(err, patterns.ErrJournal) {
				t.Errorf("backup: %v, want %v", err, patterns.ErrJournal)
			}
		})
	}
}

// TestClosingLeavesTheNewFileAlone: another process has made a new file in the place of ours. Who closes last deletes the
// log, by its name.
func TestClosingLeavesTheNewFileAlone(t *testing.T) {
	old := fresh(t)
	begin(t, old, 1, 1)
	for _, part := range []string{"", "-wal", "-shm"} {
		check(t, os.Remove(old.path+part))
	}
	j := openAt(t, old.path)
	begin(t, j, 2, 1)
	old.Close()
	begin(t, j, 3, 1)
	if got := runsOf(t, openAt(t, j.path)); len(got) != 2 {
		t.Errorf("the new file holds runs %v, want its two", got)
	}
}

func TestPanicOfAChangeIsContained(t *testing.T) {
	j := fresh(t)
	err := j.alter(func(*session) error { panic("boom") })
	if !errors.Is(err, patterns.ErrJournal) || !strings.Contains(err.Error(), "boom") {
		t.Errorf("a change that panics: %v, want %v with the panic", err, patterns.ErrJournal)
	}
	func() {
		defer func() { _ = recover() }()
		_ = j.look(func(*session) error { panic("boom") })
	}()
	begin(t, j, 1, 1)
	if got := runsOf(t, j); len(got) != 1 {
		t.Errorf("runs %v after it, want the one begun after", got)
	}
}

func TestFilePutBackIsTakenAgain(t *testing.T) {
	j := fresh(t)
	check(t, os.Rename(j.path, j.path+".moved"))
	refusesWork(t, j, "put it back")
	check(t, os.Rename(j.path+".moved", j.path))
	begin(t, j, 1, 1)
}

func TestFullDiskRefusesAndGoesOn(t *testing.T) {
	j := fresh(t)
	begin(t, j, 1, 1)
	full(t, j, true)
	err := j.Do(&store.Change{Run: 1, Epoch: 1, Events: chain(1, 1, 100, nil)})
	if !errors.Is(err, patterns.ErrJournal) || !strings.Contains(err.Error(), "no space is left") {
		t.Errorf("an append to a full file: %v, want %v: no space", err, patterns.ErrJournal)
	}
	if n := len(recordOf(t, j, 1)); n != 0 {
		t.Errorf("%d events of it stayed, want none", n)
	}
	full(t, j, false)
	begin(t, j, 2, 1)
	if err := j.Do(&store.Change{Run: 2, Epoch: 1, Events: chain(2, 1, 100, nil)}); err != nil {
		t.Errorf("with space again: %v", err)
	}
	check(t, j.Check())
}

// TestDamagedPageIsFoundByCheck: SQLite opens such a file, and reads of it may be short without an error.
func TestDamagedPageIsFoundByCheck(t *testing.T) {
	j := fresh(t)
	begin(t, j, 1, 1)
	check(t, j.Do(&store.Change{Run: 1, Epoch: 1, Events: chain(1, 1, 400, nil)}))
	check(t, j.Check())
	j.Close()
	b, err := os.ReadFile(j.path)
	check(t, err)
	page := len(b) / 4096 / 2 * 4096
	copy(b[page:page+64], strings.Repeat("\xEE", 64))
	check(t, os.WriteFile(j.path, b, 0o600))
	j = openAt(t, j.path)
	if err := j.Check(); !errors.Is(err, patterns.ErrJournal) || !strings.Contains(err.Error(), j.path) {
		t.Errorf("check: %v, want %v with the path", err, patterns.ErrJournal)
	}
}

// TestCutLogKeepsWhatWasSynced cuts the log at many lengths behind a synced change and puts garbage after, as a power cut
// may: the change is there, the chain holds, and the file takes more.
func TestCutLogKeepsWhatWasSynced(t *testing.T) {
	t.Parallel()
	j := fresh(t)
	begin(t, j, 1, 1)
	events := chain(1, 1, 20, nil)
	var synced int64
	for i := range events {
		check(t, j.Do(&store.Change{Run: 1, Epoch: 1, Events: events[i : i+1], Durable: i == 9}))
		if i == 9 {
			info, err := os.Stat(j.path + "-wal")
			check(t, err)
			synced = info.Size()
		}
	}
	file, err := os.ReadFile(j.path)
	check(t, err)
	log, err := os.ReadFile(j.path + "-wal")
	check(t, err)
	cuts := 0
	for cut := synced; cut <= int64(len(log)); cut += 1361 {
		for _, tail := range []string{"", strings.Repeat("garbage from another life", 200)} {
			path := filepath.Join(t.TempDir(), "state.db")
			check(t, os.WriteFile(path, file, 0o600))
			check(t, os.WriteFile(path+"-wal", append(log[:cut:cut], tail...), 0o600))
			after := openAt(t, path)
			got := recordOf(t, after, 1)
			if len(got) < 10 {
				t.Fatalf("log cut at %d of %d: %d events, want the 10 that were synced", cut, len(log), len(got))
			}
			next := chain(1, int64(len(got)+1), 1, got[len(got)-1].Hash)
			check(t, after.Do(&store.Change{Run: 1, Epoch: 1, Events: next, Durable: true}))
			after.Close()
			cuts++
		}
	}
	if cuts < 20 {
		t.Errorf("%d cuts, want many", cuts)
	}
}

func TestBackupIsAStateFile(t *testing.T) {
	j := fresh(t)
	begin(t, j, 1, 1)
	check(t, j.Do(&store.Change{Run: 1, Epoch: 1, Events: chain(1, 1, 30, nil)}))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // it is in use meanwhile
		defer close(stopped)
		for run := int64(2); ; run++ {
			select {
			case <-stop:
				return
			default:
				if err := j.alter(insertRun(run, 1, "running")); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	file := filepath.Join(t.TempDir(), "copy.db")
	err := j.Backup(t.Context(), file)
	close(stop)
	<-stopped
	check(t, err)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the copy: %v, %v, want it for its owner alone", info.Mode(), err)
	}
	copied := openAt(t, file)
	check(t, copied.Check())
	if n := len(recordOf(t, copied, 1)); n != 30 {
		t.Errorf("the copy has %d events, want 30", n)
	}
	begin(t, copied, -1, 1)
}

func TestBackupLeavesNoHalfCopyAndTakesNoFile(t *testing.T) {
	j := fresh(t)
	begin(t, j, 1, 1)
	dir := t.TempDir()
	file := filepath.Join(dir, "copy.db")
	ended, end := context.WithCancel(t.Context())
	end()
	if err := j.Backup(ended, file); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v, want %v", err, context.Canceled)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a half copy stayed: %v", err)
	}
	check(t, os.WriteFile(file, []byte("mine"), 0o600))
	for _, taken := range []string{file, j.path, dir} {
		if err := j.Backup(t.Context(), taken); !errors.Is(err, fs.ErrExist) {
			t.Errorf("over %s: %v, want %v", taken, err, fs.ErrExist)
		}
	}
	if b, err := os.ReadFile(file); string(b) != "mine" {
		t.Errorf("the file holds %q, %v, want it as it was", b, err)
	}
	if err := j.Backup(t.Context(), filepath.Join(dir, "missing", "copy.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into a missing directory: %v, want %v", err, fs.ErrNotExist)
	}
}

// TestDeletedValuesAreGone: what was redacted is not in the file after its run ended.
func TestDeletedValuesAreGone(t *testing.T) {
	const secret = "4111-1111-1111-1111"
	j := fresh(t)
	value := []byte(strings.Repeat(secret, 300)) // more than a page
	for _, v := range [][]byte{value, []byte(secret)} {
		check(t, j.alter(func(s *session) error {
			_, err := s.Exec("INSERT INTO redacted (n, hash, value) VALUES (1, ?, ?)", v[:5:5], v)
			if err == nil {
				_, err = s.Exec("UPDATE redacted SET hash = ? WHERE n = 1", []byte{byte(len(v))})
			}
			return err
		}))
		check(t, j.alter(func(s *session) error { _, err := s.Exec("DELETE FROM redacted WHERE n = 1"); return err }))
	}
	j.Close()
	b, err := os.ReadFile(j.path)
	check(t, err)
	if strings.Contains(string(b), secret[:9]) {
		t.Error("the file still holds the value")
	}
}
