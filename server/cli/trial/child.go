package trial

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"patterngate/catalog/demo/ledger"
	"patterngate/catalog/upstream"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/cli/call"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/settings/machine"
)

// provedWait is how long a call of prove waits for its run, in seconds. If another process continues the run, the call is
// repeated.
const provedWait = 0.5

// provedLife is the input of a child process on standard input.
type provedLife struct {
	Runs  []provedRun `json:"runs"`
	DieAt int64       `json:"die_at"` // the boundary at which it kills itself; 0: never
}

// provedResult is one line of a child's output: how a run ended or, on the last line, how many boundaries the child passed.
type provedResult struct {
	Name     string          `json:"name,omitempty"`
	Envelope json.RawMessage `json:"envelope,omitempty"`
	Passed   int64           `json:"passed,omitempty"`
}

// ProveLife returns the command of a child process that prove kills: a server and its caller in one process.
func (a *Commands) ProveLife() *cobra.Command {
	return &cobra.Command{
		Use: "prove-life", Short: lifeShort, Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var told provedLife
			if err := json.NewDecoder(a.In).Decode(&told); err != nil {
				return console.Fault("prove-life", err)
			}
			l := &life{trial: a, told: told}
			if err := l.live(cmd.Context()); err != nil {
				return console.Fault("prove-life", err)
			}
			return nil
		},
	}
}

// life calls the runs and follows each to its end.
type life struct {
	trial  *Commands
	told   provedLife
	passed atomic.Int64
	client *upstream.Client
	engine *local.Engine // of the server that client calls
	book   ledger.Client
	say    sync.Mutex
}

// pass is called at every boundary of the journal. At the chosen one it kills the process.
func (l *life) pass(string) {
	if l.passed.Add(1) == l.told.DieAt {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill() // this cannot fail
		}
		select {}
	}
}

// live executes all runs at once.
func (l *life) live(ctx context.Context) error {
	var err error
	if l.book, err = ledger.Parse(machine.Lookup(l.trial.Environ, settings.LedgerVariable)); err != nil {
		return err
	}
	var server call.Server
	server, l.engine, err = l.trial.Open(l.trial.Err, l.pass)
	if err != nil {
		return err
	}
	server.CarryOn()
	client, ended, err := server.Connect(ctx)
	if err != nil {
		return err
	}
	l.client = client
	faults := make([]error, len(l.told.Runs))
	var all sync.WaitGroup
	for i, r := range l.told.Runs {
		all.Go(func() { faults[i] = l.run(ctx, r) })
	}
	all.Wait()
	_ = client.Close() // an error of the server's end does not change the results
	ended()
	return errors.Join(append(faults, l.print(provedResult{Passed: l.passed.Load()}))...)
}

// provedState is the part of an envelope that says how to continue.
type provedState struct {
	Status     string `json:"status"`
	StopReason string `json:"stop_reason"`
	RunID      string `json:"run_id"`
	WaitingFor struct {
		Kind   string `json:"kind"`
		Turn   int    `json:"turn"`
		Effect string `json:"effect"`
		ID     string `json:"approval_id"`
	} `json:"waiting_for"`
}

// run begins or joins a run, gives it what it waits for, and prints how it ended.
func (l *life) run(ctx context.Context, r provedRun) error {
	tool, args := r.Tool, r.call()
	for {
		text, err := json.Marshal(args)
		if err != nil {
			return err
		}
		result, err := l.client.CallRaw(ctx, tool, text, nil)
		if err != nil {
			return runFailed(r.Name, err)
		}
		var state provedState
		if err := json.Unmarshal(result.Structured, &state); err != nil {
			return runFailed(r.Name, err)
		}
		if state.Status == "ok" || state.Status == "stopped" && state.RunID != "" {
			return l.print(provedResult{Name: r.Name, Envelope: result.Structured})
		}
		tool, args = "run_wait", map[string]any{"run_id": state.RunID, "max_wait_seconds": provedWait}
		switch {
		case state.RunID == "":
			return notBegun(r.Name, result.Structured)
		case state.WaitingFor.Kind == "caller":
			tool = r.Tool
			args, err = r.turn(state.RunID, state.WaitingFor.Turn)
		case state.WaitingFor.Kind == "settlement":
			err = l.settle(ctx, state.RunID, state.WaitingFor.Effect)
		case state.WaitingFor.Kind == "approval":
			err = l.decide(state.WaitingFor.ID, r.Edit)
		}
		if err != nil {
			return err
		}
	}
}

// settle decides an unknown outcome, like a person with access to the ledger: the call happened if its key is there.
func (l *life) settle(ctx context.Context, runID, effect string) error {
	operator := l.engine.Operator()
	events, _, err := operator.Record(runID)
	if err != nil {
		return err
	}
	key := ""
	for _, e := range events {
		var intent struct {
			Key string `json:"idempotency_key"`
		}
		if e.Key == effect && e.Kind == patterns.IntentEvent && json.Unmarshal(e.Body, &intent) == nil {
			key = intent.Key
		}
	}
	if key == "" {
		return noKey(effect)
	}
	entries, err := l.book.List(ctx)
	if err != nil {
		return err
	}
	said := local.Settlement{Comment: "from the ledger"}
	for _, e := range entries {
		if e.Key == key {
			said.Happened, said.Result = true, e.Result
		}
	}
	if err := operator.Settle(runID, effect, said); !errors.Is(err, patterns.ErrNotTaken) {
		return err
	}
	return nil // another process was quicker
}

// decide approves like a person, with the changes in edit.
func (l *life) decide(id string, edit map[string]any) error {
	approvals := l.engine.Approvals()
	q, err := approvals.Approval(id)
	if err != nil {
		return err
	}
	choice, args := gateway.ChooseApprove, map[string]any(nil)
	if edit != nil {
		choice, args = gateway.ChooseEdit, maps.Clone(q.Question.Args)
		maps.Copy(args, edit)
	}
	d := patterns.Decided{Answer: gateway.Answered(id, q.Question, choice, args), Args: args, Channel: "cli"}
	d.By, d.At = "local:0", time.Now().UTC().Truncate(time.Second)
	_, err = approvals.Decide(d)
	if not, ok := errors.AsType[*patterns.NotOpen](err); ok && not.Why == patterns.WhyDecided {
		return nil // decided by an earlier process or by another one
	}
	return err
}

// print prints one line.
func (l *life) print(r provedResult) error {
	l.say.Lock()
	defer l.say.Unlock()
	return json.NewEncoder(l.trial.Out).Encode(r)
}
