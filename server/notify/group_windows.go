package notify

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

const createNoWindow = 0x08000000 // CREATE_NO_WINDOW: no console flashes up

// isolate starts a program without a window.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: createNoWindow}
}

// kill ends a program and what it started: here no group is signalled, the tree is walked by the system's own tool.
func kill(p *os.Process) error {
	_ = exec.Command("taskkill.exe", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run()
	return p.Kill()
}
