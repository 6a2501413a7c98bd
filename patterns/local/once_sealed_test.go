package local_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// What a state file keeps of the arguments under a business key is salted: nobody finds them by a table of hashes, and two
// files with the same act differ.
func TestOnceKeepsNoHashOfArguments(t *testing.T) {
	var kept [][]byte
	for range 2 {
		path, s := newState(t), &service{}
		job := s.ownJob(t, gateway.Call, func(own *catalog.Tool) { onceOnly(own) })
		job.Arguments = nil
		e := opened(t, path, jobs{job.Spec.Name: job})
		e.Go()
		for range 2 {
			ended, err := e.Start(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			if r := over(t, e, ended.RunID).Result; r.StopReason != patterns.Success || s.calls() != 1 {
				t.Fatalf("%s after %d calls, want success after one", r.StopReason, s.calls())
			}
		}
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		var args []byte
		if err := db.QueryRowContext(t.Context(), "SELECT args FROM acted").Scan(&args); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, args)
	}
	sum := sha256.Sum256([]byte(`{"n":1}`))
	if bytes.Equal(kept[0], kept[1]) || bytes.Contains(kept[0], sum[:]) || len(kept[0]) <= len(sum) {
		t.Errorf("kept %x and %x of the same arguments, whose hash is %x", kept[0], kept[1], sum)
	}
}
