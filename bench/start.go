package bench

import (
	"fmt"
	"time"
)

// Start holds the times of one start of a server, each from the start of the process.
type Start struct {
	Initialized, ToolsListed, FirstRun time.Duration
	IdleMB                             float64 // resident memory after tools/list and a pause
}

// rest is the length of the pause before the memory is read.
const rest = 300 * time.Millisecond

// MeasureStart starts a server, lists its tools and executes a workload. If idle is set, it pauses and reads the memory
// instead, and does not measure FirstRun.
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
