package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// pair makes two events of a usual size, as one effect's outcome and the next one's intent. Their hashes are no hashes.
func pair(seq int64) []patterns.Event {
	body := json.RawMessage(`{"text":"` + strings.Repeat("x", 280) + `"}`)
	hash := make([]byte, 32)
	return []patterns.Event{
		{Seq: seq, At: seq, Kind: patterns.OutcomeEvent, Key: "task#1/fetch#1", Body: body, Hash: hash},
		{Seq: seq + 1, At: seq, Kind: patterns.IntentEvent, Key: "task#1/fetch#2", Body: body, Hash: hash},
	}
}

// BenchmarkAppend appends two events in one transaction. An fsync of the same disk is measured beside.
func BenchmarkAppend(b *testing.B) {
	for name, bb := range map[string]struct{ sync, alone bool }{
		"unsynced/writer": {false, true},
		"synced/writer":   {true, true},
		"unsynced/do":     {false, false},
		"synced/do":       {true, false},
	} {
		b.Run(name, func(b *testing.B) {
			j := fresh(b)
			begin(b, j, 1, 1)
			seq := int64(1)
			for b.Loop() {
				c := &store.Change{Run: 1, Epoch: 1, Events: pair(seq), Durable: bb.sync}
				seq += 2
				if bb.alone {
					c.Done = func(err error) { check(b, err) }
					j.commit([]*store.Change{c})
					continue
				}
				check(b, j.Do(c))
			}
			if bb.sync {
				b.ReportMetric(float64(fsync(b).Microseconds()), "us/fsync")
			}
		})
	}
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkAppendTogether is 64 runs that append two events each.
func BenchmarkAppendTogether(b *testing.B) {
	for name, sync := range map[string]bool{"unsynced": false, "synced": true} {
		b.Run(name, func(b *testing.B) {
			j := fresh(b)
			together(b, j, 64, sync)
			if sync {
				b.ReportMetric(float64(fsync(b).Microseconds()), "us/fsync")
			}
		})
	}
}

func together(b *testing.B, j *Store, runs int64, synced bool) {
	var left atomic.Int64
	left.Store(int64(b.N))
	ids := make([]int64, runs)
	for i := range ids {
		ids[i] = rand.Int64()
		begin(b, j, ids[i], 1)
	}
	b.ResetTimer()
	var wg sync.WaitGroup
	for _, run := range ids {
		wg.Go(func() {
			for seq := int64(1); left.Add(-1) >= 0; seq += 2 {
				if err := j.Do(&store.Change{Run: run, Epoch: 1, Events: pair(seq), Durable: synced}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
}

// fsync measures one: the median of some.
func fsync(b *testing.B) time.Duration {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	check(b, err)
	defer f.Close()
	page := make([]byte, 4096)
	var times [21]time.Duration
	for i := range times {
		_, err := f.Write(page)
		check(b, err)
		begun := time.Now()
		check(b, f.Sync())
		times[i] = time.Since(begun)
	}
	return median(times[:])
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkOpen opens and closes a file with 100,000 ended runs, and one with 10,000 that wait.
func BenchmarkOpen(b *testing.B) {
	for name, state := range map[string]string{"100000ended": "ended", "10000parked": "parked"} {
		path := crowded(b, state, map[string]int{"ended": 100_000, "parked": 10_000}[state])
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				j, err := Open(path, nil)
				check(b, err)
				j.Close()
			}
		})
		b.Run(name+"/append", func(b *testing.B) { // 64 runs among them
			j := openAt(b, path)
			defer j.Close()
			together(b, j, 64, false)
		})
	}
}

// crowded is a file with so many runs of 10 events each.
func crowded(b *testing.B, state string, runs int) string {
	b.Helper()
	j := fresh(b)
	check(b, j.alter(func(s *session) error {
		return errors.Join(
			s.run(fmt.Sprintf(`WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)
				INSERT INTO runs (n, pattern, principal, config, began, state, epoch, request, newest)
				SELECT random(), 'planning_decompose', 'me', 'c', i, '%s', 1, randomblob(32), i FROM c`, runs, state)),
			s.run(`WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 10)
				INSERT INTO events (n, seq, at, kind, key, body, hash)
				SELECT n, i, i, 'intent', 'task#1/fetch#1', zeroblob(300), randomblob(32) FROM runs CROSS JOIN c`))
	}))
	j.Close()
	return j.path
}
