package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/local"
)

// overFile has the servers of all tests keep their runs in a state file.
const overFile = "PATTERNGATE_TEST_FILE"

// EngineFor is the engine of a test's server, which is asked later what it serves.
func EngineFor(t testing.TB, serves func() Config) *local.Engine {
	t.Helper()
	engine := &local.Engine{}
	if os.Getenv(overFile) != "" {
		var err error
		if engine, err = local.Open(local.Options{Path: filepath.Join(t.TempDir(), "state.db"), Source: served{serves}}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(engine.Close)
	return engine
}

// served makes the jobs of what a test's server serves.
type served struct{ serves func() Config }

func (s served) Job(b patterns.Begun) (patterns.Job, error) {
	c := s.serves()
	for _, p := range c.Patterns {
		if p.Spec.Name == b.Pattern {
			return JobOf(p.Spec, c.Model, c.Configured, b), nil
		}
	}
	return patterns.Job{}, &patterns.Lacking{Cause: "config_missing", Needs: []string{b.Pattern}}
}

// noRuns are the tests that take long and are about nothing that a run's store could change.
const noRuns = "^(TestPresentAlwaysFits|TestNextKeepsToTheRegistry|TestLineWithinLimit|TestJunkLeavesMemoryFlat|TestClientThatDoesNotRead)$"

// TestAllOverAFile runs the tests of this package over state files.
func TestAllOverAFile(t *testing.T) {
	switch {
	case os.Getenv("CI") == "":
		t.Skip("it runs all tests once more; set CI=true")
	case os.Getenv(overFile) != "":
		t.Skip("this is it")
	}
	cmd := exec.Command(os.Args[0], "-test.timeout=10m", "-test.skip="+noRuns)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CI=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, overFile+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
