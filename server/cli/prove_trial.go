package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"patterngate/server/settings"
)

// lifeTimeout bounds one life: what takes longer hangs.
const lifeTimeout = time.Minute

// prover kills processes and counts what the world saw.
//
//	prover ──▶ prove-life, killed, again ──▶ state file
//	   │            └──effects──▶ ledger (its own process)
//	   └──── asks, when all runs have ended ──┘
type prover struct {
	trial  *trialCommands
	dir    string
	config string
	ledger *ledgerProcess
	trials atomic.Int64 // each has a state file and a book of its own
}

// newProver makes a directory and starts a ledger in it.
func (a *trialCommands) newProver() (*prover, error) {
	dir, err := os.MkdirTemp("", "patterngate-prove-")
	if err != nil {
		return nil, err
	}
	p := &prover{trial: a, dir: dir, config: filepath.Join(dir, "config.yaml")}
	err = os.WriteFile(p.config, []byte(proveConfig), 0o600)
	if err == nil {
		p.ledger, err = a.startLedger(filepath.Join(dir, "ledger"))
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return p, nil
}

// close ends the ledger and takes the directory away.
func (p *prover) close() error {
	return errors.Join(p.ledger.end(), os.RemoveAll(p.dir))
}

// trial is some runs on a state file and in a book of their own.
type trial struct {
	*prover
	dir  string
	book string // as the environment has it
	runs []provedRun
}

func (p *prover) newTrial(runs []provedRun) (*trial, error) {
	n := p.trials.Add(1)
	book := p.ledger.book(fmt.Sprintf("trial-%d", n))
	book.World = runs[0].World
	t := &trial{prover: p, dir: filepath.Join(p.dir, book.Book), book: book.String(), runs: runs}
	return t, os.Mkdir(t.dir, 0o700)
}

// process is one life of a trial as a process that has not begun yet.
func (t *trial) process(dieAt int64) (*lifeProcess, error) {
	told, err := json.Marshal(provedLife{Runs: t.runs, DieAt: dieAt})
	if err != nil {
		return nil, err
	}
	config, err := t.configFile()
	if err != nil {
		return nil, err
	}
	cmd, err := t.trial.own("prove-life", "--config", config, "--state", filepath.Join(t.dir, "state.db"), "--log-level", "error")
	if err != nil {
		return nil, err
	}
	l := &lifeProcess{cmd: cmd}
	cmd.Env = append(cmd.Env, "HOME="+t.dir, settings.LedgerVariable+"="+t.book)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(told), &l.out, &l.errs
	return l, nil
}

// configFile is what the trial's processes run with.
func (t *trial) configFile() (string, error) {
	config := t.runs[0].Config
	if config == "" {
		return t.config, nil
	}
	path := filepath.Join(t.dir, "config.yaml")
	return path, os.WriteFile(path, []byte(config), 0o600)
}

// lifeProcess is a life seen from outside.
type lifeProcess struct {
	cmd       *exec.Cmd
	out, errs bytes.Buffer
}

// lifeEnd is how a life ended.
type lifeEnd struct {
	results map[string]string
	passed  int64
	killed  bool
}

// ended waits for a life and reads what it said. One that fails says why; one that did not come to its last line and has
// nothing to say was killed.
func (l *lifeProcess) ended() (lifeEnd, error) {
	failed := l.cmd.Wait()
	end := lifeEnd{results: map[string]string{}, killed: true}
	for d := json.NewDecoder(&l.out); ; {
		var r provedResult
		if err := d.Decode(&r); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // it was killed while it wrote
			break
		} else if err != nil {
			return end, fmt.Errorf("a life says: %w", err)
		}
		if r.Name == "" {
			end.passed, end.killed = r.Passed, false
			continue
		}
		result, err := comparableEnvelope(r.Envelope)
		if err != nil {
			return end, err
		}
		end.results[r.Name] = result
	}
	if text := strings.TrimSpace(l.errs.String()); text != "" {
		return end, fmt.Errorf("a life failed (%v): %s", failed, text)
	}
	return end, nil
}

// live lets one life pass, up to the boundary at which it dies.
func (t *trial) live(ctx context.Context, dieAt int64) (lifeEnd, error) {
	l, err := t.process(dieAt)
	if err != nil {
		return lifeEnd{}, err
	}
	if err := l.cmd.Start(); err != nil {
		return lifeEnd{}, err
	}
	limited, cancel := context.WithTimeout(ctx, lifeTimeout)
	defer cancel()
	stop := context.AfterFunc(limited, func() { _ = l.cmd.Process.Kill() }) // or it is over
	defer stop()
	end, err := l.ended()
	if limited.Err() != nil {
		return end, fmt.Errorf("a life took longer than %v: %w", lifeTimeout, limited.Err())
	}
	return end, err
}

// try runs the runs to their end, with a life killed at each of these boundaries before.
func (p *prover) try(ctx context.Context, runs []provedRun, kills ...int64) (verdict, error) {
	t, err := p.newTrial(runs)
	if err != nil {
		return verdict{}, err
	}
	v := verdict{results: map[string]string{}}
	for _, at := range append(kills, 0) {
		end, err := t.live(ctx, at)
		maps.Copy(v.results, end.results)
		if err != nil {
			return v, err
		}
		v.boundaries = end.passed
		if !end.killed {
			break
		}
		if at == 0 {
			return v, errors.New("a life that was to live was killed")
		}
		v.kills++
	}
	return v, t.count(ctx, &v)
}

// count asks the ledger what was done, when nobody does anything any more, and takes the trial's files away.
func (t *trial) count(ctx context.Context, v *verdict) error {
	entries, err := t.ledger.book(filepath.Base(t.dir)).List(ctx)
	if err != nil {
		return err
	}
	v.acts = actsOf(entries)
	return os.RemoveAll(t.dir)
}
