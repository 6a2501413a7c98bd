package cli

import (
	"os/exec"
	"testing"
)

func init() { atTerminal = pressing }

// pressing runs a command at a terminal and presses each key as soon as its text is shown.
func pressing(t *testing.T, cmd *exec.Cmd, keys []keystroke) (said string, code int) {
	t.Helper()
	p := newPty(t)
	p.seat(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the code tells
		p.mu.Lock()
		p.closed = true // nothing more will be shown
		p.more.Broadcast()
		p.mu.Unlock()
	}()
	shown := map[string]int{}
	for _, k := range keys {
		shown[k.shown]++
		said = p.until(t, k.shown, shown[k.shown])
		p.press(t, k.press)
	}
	<-ended
	return said, cmd.ProcessState.ExitCode()
}
