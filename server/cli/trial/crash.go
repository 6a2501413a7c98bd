package trial

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"patterngate/catalog/demo"
	"patterngate/catalog/demo/ledger"
	"patterngate/catalog/upstream"
	"patterngate/server/settings"
)

// killed is the act that kills the server between a payment and its answer.
//
//	call ──▶ server ──pays──▶ ledger, which does not answer yet
//	           ✗ kill -9
//	call again ──▶ server ──same key──▶ ledger: paid before ──▶ result
func (s *stage) killed(ctx context.Context, dir string) (err error) {
	s.announce(6, "now kill it")
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
	server, err := s.trial.mortal(ctx, dir, book)
	if err != nil {
		return err
	}
	defer server.end()
	reply, err := server.client.Call(ctx, "supervised_refund", map[string]any{"goal": demo.RefundGoal}, s.progress)
	if err != nil {
		return err
	}
	entries, err := book.List(ctx)
	if err != nil {
		return err
	}
	result, payments := readDemoResult(reply.Structured), paymentsIn(entries)
	p := playedAct{
		Act: 6, Title: "kill -9 between payment and answer", Tool: "supervised_refund", StopReason: result.StopReason,
		Decided: "started again, the same call joined the run", Done: fmt.Sprintf("%s, %s", result.done(), times(payments)),
		Seconds: float64(time.Since(start).Milliseconds()) / 1000, AsExpected: succeeds(result) && result.Joined && result.paid() == 800 && payments == 1,
	}
	if !result.Joined {
		p.Decided = "started again, the same call began another run"
	}
	s.played = append(s.played, p)
	s.line(p)
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
		_, err := server.client.Call(ctx, "supervised_refund", map[string]any{"goal": demo.RefundGoal}, s.progress)
		answered <- err
	}()
	select {
	case <-outside.held:
		s.progress("kill -9")
		return nil
	case err := <-answered:
		return errors.Join(errors.New("the call ended before it was paid"), err)
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

// paymentsIn counts the payments in a book.
func paymentsIn(entries []ledger.Entry) int {
	n := 0
	for act, times := range ledger.Acts(entries) {
		if strings.HasPrefix(act, "issue_refund ") {
			n += times
		}
	}
	return n
}

// times returns a count in words: once, twice or 3 times.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
