package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// pty is a terminal of which the test is the other end: the keyboard and the screen.
type pty struct {
	master, slave *os.File
	mu            sync.Mutex
	screen        strings.Builder
	more          *sync.Cond
	closed        bool
}

// newPty opens one. A machine without them has no terminals at all.
func newPty(t *testing.T) *pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine makes no terminals: %v", err)
	}
	var locked, n int32
	ioctl(t, master, syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	ioctl(t, master, syscall.TIOCGPTN, unsafe.Pointer(&n))
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pty{master: master, slave: slave}
	p.more = sync.NewCond(&p.mu)
	t.Cleanup(func() { _ = slave.Close(); _ = master.Close() }) // nobody is there any more
	go p.watch()
	return p
}

func ioctl(t *testing.T, f *os.File, request uintptr, at unsafe.Pointer) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(at)); errno != 0 {
		t.Fatal(errno)
	}
}

// watch keeps what stands on the screen.
func (p *pty) watch() {
	buffer := make([]byte, 4096)
	for {
		n, err := p.master.Read(buffer)
		p.mu.Lock()
		p.screen.Write(buffer[:n])
		p.closed = err != nil
		p.more.Broadcast()
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// until waits for the n-th time that a text stands on the screen, and returns all of it.
func (p *pty) until(t *testing.T, text string, n int) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for strings.Count(p.screen.String(), text) < n {
		if p.closed {
			t.Fatalf("the screen has no %q:\n%s", text, p.screen.String())
		}
		p.more.Wait()
	}
	return p.screen.String()
}

func (p *pty) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// echoes says whether the terminal shows what is typed.
func (p *pty) echoes(t *testing.T) bool {
	t.Helper()
	var state syscall.Termios
	ioctl(t, p.slave, syscall.TCGETS, unsafe.Pointer(&state))
	return state.Lflag&syscall.ECHO != 0
}

// seat has a program run with this as its terminal, in a session of its own.
func (p *pty) seat(cmd *exec.Cmd) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.slave, p.slave, p.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
}
