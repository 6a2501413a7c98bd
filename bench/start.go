package bench

import (
	"fmt"
	"time"
)

// Start is what one start of a server took, from the beginning of the process.
type Start struct {
	Initialized, ToolsListed, FirstRun time.Duration
	IdleMB                             float64 // resident after tools/list and a rest
}

// rest is how long a server is left alone before its memory is read.
const rest = 300 * time.Millisecond

// MeasureStart starts a server, lists its tools and carries out a workload. With idle the server rests before the
// run, and its memory is read; then FirstRun is not measured.
func MeasureStart(m *Model, start func(*Model) (*Session, error), w Workload, idle bool) (Start, error) {
	began := time.Now()
	s, err := start(m)
	if err != nil {
		return Start{}, err
	}
	defer s.Close()
	var got Start
	if err := s.Initialize(); err != nil {
		return got, err
	}
	got.Initialized = time.Since(began)
	if _, err := s.Request("tools/list", []byte(`{}`)); err != nil {
		return got, err
	}
	got.ToolsListed = time.Since(began)
	if idle {
		time.Sleep(rest)
		if got.IdleMB, err = s.ResidentMB(); err != nil {
			return got, err
		}
		return got, s.Close()
	}
	if _, err := s.Run(w); err != nil {
		return got, fmt.Errorf("first run: %w", err)
	}
	got.FirstRun = time.Since(began)
	return got, s.Close()
}
