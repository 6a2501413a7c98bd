package trial

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

// lifeTimeout is the time limit of one child process.
const lifeTimeout = time.Minute

// prover kills processes and counts the effects that happened.
//
//	prover ──▶ prove-life, killed, again ──▶ state file
//	   │            └──effects──▶ ledger (its own process)
//	   └──── asks, when all runs have ended ──┘
type prover struct {
	trial  *Commands
	dir    string
	config string
	ledger *ledgerProcess
	trials atomic.Int64 // each has its own state file and book
}

// newProver makes a directory and starts a ledger in it.
func (a *Commands) newProver() (*prover, error) {
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

// close ends the ledger and removes the directory.
func (p *prover) close() error {
	return errors.Join(p.ledger.end(), os.RemoveAll(p.dir))
}

// trial is a set of runs with their own state file and book.
type trial struct {
	*prover
	dir  string
	book string // as the environment names it
	runs []provedRun
}

func (p *prover) newTrial(runs []provedRun) (*trial, error) {
	n := p.trials.Add(1)
	book := p.ledger.book(fmt.Sprintf("trial-%d", n))
	book.World = runs[0].World
	t := &trial{prover: p, dir: filepath.Join(p.dir, book.Book), book: book.String(), runs: runs}
	return t, os.Mkdir(t.dir, 0o700)
}

// process returns a child process of a trial that is not started yet. It kills itself at boundary dieAt; 0: never.
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

// configFile returns the configuration file of the trial's processes.
func (t *trial) configFile() (string, error) {
	config := t.runs[0].Config
	if config == "" {
		return t.config, nil
	}
	path := filepath.Join(t.dir, "config.yaml")
	return path, os.WriteFile(path, []byte(config), 0o600)
}

// lifeProcess is a child process with its output.
type lifeProcess struct {
	cmd       *exec.Cmd
	out, errs bytes.Buffer
}

// lifeEnd is how a child process ended.
type lifeEnd struct {
	results map[string]string
	passed  int64
	killed  bool
}

// ended waits for a child process and reads its output. A failed child gives its error. A child without a last line and
// without an error was killed.
func (l *lifeProcess) ended() (lifeEnd, error) {
	failed := l.cmd.Wait()
	end := lifeEnd{results: map[string]string{}, killed: true}
	for d := json.NewDecoder(&l.out); ; {
		var r provedResult
		if err := d.Decode(&r); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // the child was killed while it wrote
			break
		} else if err != nil {
			return end, unreadChild(err)
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
		return end, childFailed(failed, text)
	}
	return end, nil
}

// live runs one child process, up to the boundary at which it kills itself.
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
	stop := context.AfterFunc(limited, func() { _ = l.cmd.Process.Kill() }) // it can already have ended
	defer stop()
	end, err := l.ended()
	if limited.Err() != nil {
		return end, childSlow(limited.Err())
	}
	return end, err
}

// try executes the runs to their end. Before that, it kills one child process at each of these boundaries.
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
			return v, errKilledAnyway
		}
		v.kills++
	}
	return v, t.count(ctx, &v)
}

// count reads the effects from the ledger after all processes have ended, and removes the trial's files.
func (t *trial) count(ctx context.Context, v *verdict) error {
	entries, err := t.ledger.book(filepath.Base(t.dir)).List(ctx)
	if err != nil {
		return err
	}
	v.acts = actsOf(entries)
	return os.RemoveAll(t.dir)
}
