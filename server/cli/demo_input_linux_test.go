package cli

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"patterngate/server/cli/console"
)

// When the program that started demo --live is gone, the demo ends with its server and its ledger, and leaves no directory.
func TestLiveDemoEndsWithItsInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := program(t, "demo", "--live", "--inbox", freeAddress(t))
	cmd.Env = append(cmd.Env, "TMPDIR="+dir, "PATH="+t.TempDir())
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines, last := bufio.NewScanner(said), ""
	var children []int
	for lines.Scan() {
		last = lines.Text()
		if strings.Contains(last, "3 You decide") { // a person is asked; now nobody is there
			if children = childrenOf(t, cmd.Process.Pid); len(children) < 2 {
				t.Errorf("%d children, want the server and the ledger", len(children))
			}
			if err := input.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if code := ended(t, cmd); code != console.ExitFault || children == nil {
		t.Errorf("the demo ends with %d, children %v: %s", code, children, last)
	}
	for _, pid := range children {
		if stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat")); err == nil && !strings.Contains(string(stat), ") Z ") {
			t.Errorf("child %d still runs: %s", pid, stat)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v (%v)", left, err)
	}
}

// childrenOf are the processes that a process started and that are there.
func childrenOf(t *testing.T, parent int) (list []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		text, _ := os.ReadFile(path) // of one that has ended there is none
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after) // its state and who started it
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pid)
	}
	return list
}
