//go:build unix

package processtest

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// EndsSoon waits up to 20 seconds until the process has ended whose number is the text of a file. If it has not ended by
// then, EndsSoon kills it and ends the test.
func EndsSoon(t testing.TB, file string) {
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
			t.Fatalf("process %d has not ended", pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// zombie reports whether a process has ended and its parent has not asked for its exit code.
func zombie(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(text), ") Z ")
}
