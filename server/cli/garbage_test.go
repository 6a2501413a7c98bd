package cli

import (
	"io"
	"strings"
	"testing"

	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/settings"
)

// Less garbage is collected while serve starts, and in no other command.
func TestStartGarbage(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"serve": "starts has begun ", "tools": ""} {
		told := ""
		a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Environ: []string{"HOME=" + t.TempDir()}}}}
		a.starts = func() func() {
			told += "starts "
			return func() { told += "has begun " }
		}
		root := a.root()
		root.SetArgs([]string{name, "--state", settings.MemoryState})
		if code := a.Exit(t.Context(), root.ExecuteContext(t.Context())); code != console.ExitDone || told != want {
			t.Errorf("%s ends with %d, and told %q, want %q", name, code, told, want)
		}
	}
}
