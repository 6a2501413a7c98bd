//go:build unix

package assembly

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endsSoon waits until the process whose number a file holds is over.
func endsSoon(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil && !zombie(pid); {
		if time.Now().After(end) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("the program's child is still there")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// zombie reports a process that has ended and that nobody has asked about.
func zombie(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(text), ") Z ")
}
