package local_test

import (
	"path/filepath"
	"testing"

	"patterngate/catalog"
	"patterngate/patterns"
)

// A file that lost the newest events of a run which died while it wrote is not taken for one in which the write was never
// sent: the record is broken, and nothing is called.
func TestLostTailOfAWriteIsNoticed(t *testing.T) {
	g := newGate(t, catalog.Write)
	source := &begun{}
	p := openPort(t, newState(t), source)
	id := p.beginning(t, g.job(t, 3))
	<-g.entered // the first call was sent
	copied := filepath.Join(t.TempDir(), "state.db")
	if err := p.Backup(t.Context(), copied); err != nil { // as a power cut would leave it: its owner is dead there
		t.Fatal(err)
	}
	close(g.open)
	p.until(t, id, patterns.Over)
	for len(g.entered) > 0 {
		<-g.entered
	}

	edit(t, copied, "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)")
	later := openPort(t, copied, source)
	s := later.until(t, id, patterns.Over)
	if s.Ended.Result.StopReason != "record_broken" {
		t.Errorf("the run ended as %q, want record_broken", s.Ended.Result.StopReason)
	}
	if n := len(g.entered); n != 0 {
		t.Errorf("%d calls were made on a broken record, want none", n)
	}
}
