package trial

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"patterngate/catalog/demo"
	"patterngate/catalog/demo/ledger"
	"patterngate/catalog/upstream"
	"patterngate/server/cli/story"
	"patterngate/server/settings"
)

// killed is the act that kills the server between a payment and its answer.
//
//	call ──▶ server ──pays──▶ ledger, which does not answer yet
//	           ✗ kill -9
//	call again ──▶ server ──same key──▶ ledger: paid before ──▶ result
func (s *stage) killed(ctx context.Context, dir string) (err error) {
	s.Crash()
	working := s.Spin(doingPay)
	defer working.Stop()
	start := time.Now()
	outside, err := s.trial.startLedger(filepath.Join(dir, "ledger"), "--hold", "issue_refund")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, outside.end()) }()
	book := outside.book("demo")
	if err := s.dieWhilePaying(ctx, dir, outside); err != nil {
		return err
	}
	working.Say(doingAgain)
	server, err := s.trial.mortal(ctx, dir, book)
	if err != nil {
		return err
	}
	defer server.end()
	reply, err := server.client.Call(ctx, "supervised_refund", map[string]any{"goal": demo.RefundGoal}, nil)
	if err != nil {
		return err
	}
	entries, err := book.List(ctx)
	if err != nil {
		return err
	}
	working.Stop()
	s.Survived(story.Read(reply.Structured), paymentsIn(entries), start)
	return nil
}

// dieWhilePaying makes the call and kills the server when the ledger has the payment.
func (s *stage) dieWhilePaying(ctx context.Context, dir string, outside *ledgerProcess) error {
	server, err := s.trial.mortal(ctx, dir, outside.book("demo"))
	if err != nil {
		return err
	}
	defer server.end()
	answered := make(chan error, 1)
	go func() {
		_, err := server.client.Call(ctx, "supervised_refund", map[string]any{"goal": demo.RefundGoal}, nil)
		answered <- err
	}()
	select {
	case <-outside.held:
		return nil
	case err := <-answered:
		return errors.Join(errNotPaid, err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mortalServer is a server over stdio that the demo kills.
type mortalServer struct {
	client *upstream.Client
	cmd    *exec.Cmd
}

// mortal starts this program as a server whose effects happen in a book, with a state file in dir.
func (a *Commands) mortal(ctx context.Context, dir string, book ledger.Client, more ...string) (*mortalServer, error) {
	args := append([]string{"serve", "--config", filepath.Join(dir, "config.yaml"), "--state", filepath.Join(dir, "killed.db"), "--log-level", "error"}, more...)
	cmd, err := a.own(args...)
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.Stderr = dir, a.Err
	cmd.Env = append(cmd.Env, "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, settings.LedgerVariable+"="+book.String())
	stdin, stdout, err := startPiped(cmd)
	if err != nil {
		return nil, err
	}
	server := &mortalServer{cmd: cmd}
	if server.client, err = upstream.Over(ctx, stdout, stdin, demoIdentity()); err != nil {
		server.end()
		return nil, err
	}
	return server, nil
}

// end kills the server and ignores its output.
func (s *mortalServer) end() {
	_ = s.cmd.Process.Kill()
	if s.client != nil {
		_ = s.client.Close()
	}
	_ = s.cmd.Wait()
}

// paymentsIn returns the payments in a book, in USD.
func paymentsIn(entries []ledger.Entry) []float64 {
	var payments []float64
	acts := ledger.Acts(entries)
	for _, act := range slices.Sorted(maps.Keys(acts)) {
		text, paid := strings.CutPrefix(act, "issue_refund ")
		if !paid {
			continue
		}
		var args struct {
			AmountUSD float64 `json:"amount_usd"`
		}
		_ = json.Unmarshal([]byte(text), &args) // a payment of an unknown amount counts as one of 0 USD
		for range acts[act] {
			payments = append(payments, args.AmountUSD)
		}
	}
	return payments
}
