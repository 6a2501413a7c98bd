package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"patterngate/catalog/demo"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// slowBook is an outside in which the first refund takes until it is let go.
type slowBook struct {
	address string
	paying  chan struct{} // closed when the refund has come
	pay     chan struct{} // close it to answer
	acts    chan string   // the tools that were entered
}

func newSlowBook(t *testing.T) *slowBook {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &slowBook{l.Addr().String() + "/slow", make(chan struct{}), make(chan struct{}), make(chan string, 16)}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go b.serve(conn)
		}
	}()
	return b
}

func (b *slowBook) serve(conn net.Conn) {
	defer conn.Close()
	line, _ := bufio.NewReader(conn).ReadBytes('\n')
	var asked struct{ Enter *struct{ Tool string } }
	if json.Unmarshal(line, &asked) == nil && asked.Enter != nil {
		b.acts <- asked.Enter.Tool
		if asked.Enter.Tool == "issue_refund" {
			select {
			case <-b.paying:
			default:
				close(b.paying)
				<-b.pay
			}
		}
	}
	_, _ = io.WriteString(conn, "{}\n")
}

// runs resume that is told to stop in the middle of a payment waits until it is made and recorded, and begins nothing more.
func TestResumeStopsAfterThePayment(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no signal can be sent to a child there")
	}
	book, state := newSlowBook(t), filepath.Join(t.TempDir(), "state.db")
	run := func(args ...string) string {
		cmd := program(t, append([]string{"--state", state}, args...)...)
		cmd.Env = append(cmd.Env, settings.LedgerVariable+"="+book.address)
		said, _ := cmd.CombinedOutput()
		return string(said)
	}
	said := run("call", "supervised_refund", "goal="+demo.RefundGoal, "--quiet")
	approval := regexp.MustCompile(`ap_[0-9a-f]{16}`).FindString(said)
	shown := run("approvals", "show", approval)
	digest := regexp.MustCompile(`sha256:[0-9a-f]{64}`).FindString(shown)
	if said := run("approvals", "approve", approval, "--digest", digest); !strings.Contains(said, " approved: ") {
		t.Fatalf("approve: %s", said)
	}

	cmd := program(t, "--state", state, "runs", "resume")
	cmd.Env = append(cmd.Env, settings.LedgerVariable+"="+book.address)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	_, out := pipes(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-book.paying
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	stands, err := out.ReadString('\n') // it has heard the signal
	close(book.pay)
	if _, rest := io.ReadAll(out); err != nil || rest != nil || !strings.Contains(stands, " running") {
		t.Errorf("told to stop it prints %q, %v, %v", stands, err, rest)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != console.ExitInterrupted {
		t.Errorf("told to stop it ends with %d, want %d: %s", code, console.ExitInterrupted, errs.String())
	}
	if said := run("runs", "resume"); !strings.Contains(said, " ok success") {
		t.Errorf("again: %s", said)
	}
	close(book.acts)
	var acts []string
	for act := range book.acts {
		acts = append(acts, act)
	}
	if want := []string{"get_refund_context", "issue_refund", "send_refund_email"}; !slices.Equal(acts, want) {
		t.Errorf("done were %q, want %q: each once", acts, want)
	}
}
