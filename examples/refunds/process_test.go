package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"sync"
)

// process is a child that is killed in the end. The holder of the story's lock kills it.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.ReadCloser
	err *words
}

// words is what a process says on standard error.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// start starts the test program as one of the story's.
func (s *story) start(as string, args ...string) *process {
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	p := &process{cmd: exec.CommandContext(s.ctx, self, args...), err: &words{}}
	p.cmd.Env = []string{
		asProgram + "=" + as, "PAY_TOKEN=story-secret", "HOME=" + s.dir, "LOCALAPPDATA=" + s.dir, "TMPDIR=" + s.dir, "SystemRoot=" + os.Getenv("SystemRoot"),
	}
	p.cmd.Stderr = p.err
	in, fault := p.cmd.StdinPipe()
	out, unread := p.cmd.StdoutPipe()
	for _, err := range []error{fault, unread, p.cmd.Start()} {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	p.in, p.out = in, out
	return p
}

// end kills it, without time for anything.
func (p *process) end() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()         // killed
}

func (p *process) said() string {
	p.err.mu.Lock()
	defer p.err.mu.Unlock()
	return p.err.text.String()
}
