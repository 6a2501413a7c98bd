package bench

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
)

// seedConfig has the delays of the reference and needs no model server. The state file is beside it.
const seedConfig = `version: 1
llm: {provider: rules}
demo: {delay_factor: 1.0}
state: state.db
`

// seed writes the configuration of [Programs.ManyOverHTTP] into a new directory, which also holds the state file. With
// a shared state file, an equal call would join the run of another measurement.
func (p Programs) seed() (path string, err error) {
	dir, err := os.MkdirTemp(filepath.Dir(p.Config), "seed")
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "seed.yaml")
	return path, os.WriteFile(path, []byte(seedConfig), 0o600)
}

// ManyOverHTTP lets a server execute n runs at once, each call on its own connection. In an era with sessions, the
// calls share sessions that were opened before. The memory is that of the server.
func (p Programs) ManyOverHTTP(m *Model, era Era, by Proposer, n, sessions int) (got Many, err error) {
	config, err := p.seed()
	if err != nil {
		return got, err
	}
	s, err := p.ServeOurs(m, config)
	if err != nil {
		return got, err
	}
	defer func() {
		err = errors.Join(err, s.Close())
		got.CPU = processorTime(s.child.ProcessState)
	}()
	w := newWeb(s.Address, era, n)
	defer w.transport.CloseIdleConnections()
	heads := make([]http.Header, sessions)
	for i := range heads {
		session, err := w.session()
		if err != nil {
			return got, err
		}
		heads[i] = w.head("tools/call", Workloads()[1].Tool, session)
	}
	var calls atomic.Int64
	got, err = measureMany(n, func(i int) error {
		params := era.toolCall(Workloads()[1].Tool, string(by.arguments(calls.Add(1))))
		return succeeds(w.post(heads[i%sessions], request(i, "tools/call", params), nil, http.StatusOK))
	})
	if err != nil {
		return got, err
	}
	got.PeakMB, err = s.MemoryMB("VmHWM")
	return got, err
}

// succeeds returns an error if the answer is not that of a successful run.
func succeeds(answer []byte, _ http.Header, err error) error {
	if err == nil && !bytes.Contains(answer, []byte(`"stop_reason":"success"`)) {
		err = fmt.Errorf("answer: %.300s", answer)
	}
	return err
}
