package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
)

// heldTimer is a timer that a test lets end.
type heldTimer struct {
	begun, stopped int
	end            func()
}

func (h *heldTimer) after(_ time.Duration, do func()) func() bool {
	h.begun++
	h.end = do
	return func() bool { h.stopped++; return true }
}

// Who started the program bare is told what it waits for where no JSON comes, and only then.
func TestBareHint(t *testing.T) {
	for name, tt := range map[string]struct {
		sent string
		late bool // the time is over
		want bool
	}{
		"nothing in time":     {"", true, true},
		"white space":         {" \r\n\t\n", true, true},
		"a message":           {`{"jsonrpc":"2.0"}`, true, false},
		"a message, indented": {"\n  {", true, false},
		"a batch":             {"[{", true, false},
		"prose":               {"hello {\n", false, true},
		"still time":          {"", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var timer heldTimer
			var out bytes.Buffer
			in, stop := hinting(strings.NewReader(tt.sent), &out, timer.after)
			got, err := io.ReadAll(in)
			if err != nil || string(got) != tt.sent {
				t.Errorf("read %q, %v; want %q", got, err, tt.sent)
			}
			if tt.late {
				timer.end()
				timer.end()
			}
			want := ""
			if tt.want {
				want = bareHint
			}
			if out.String() != want {
				t.Errorf("written is %q, want %q", out.String(), want)
			}
			if stop(); timer.stopped != 1 {
				t.Error("the timer goes on")
			}
			if timer.end(); out.String() != want {
				t.Errorf("after the end %q was written", out.String())
			}
		})
	}
}

// Only the bare program hints: a client that starts "patterngate serve", or gives arguments, knows what it does.
func TestBareProgramHints(t *testing.T) {
	ownHome(t)
	for name, tt := range map[string]struct {
		args []string
		want int
	}{"bare": {nil, 1}, "serve": {[]string{"serve"}, 0}, "with a flag": {[]string{"--log-level", "info"}, 0}} {
		var out, errs bytes.Buffer
		var timer heldTimer
		a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader("hello\n"), Out: &out, Err: &errs, Environ: []string{"HOME=" + t.TempDir()}}}, after: timer.after}
		root := a.root()
		root.SetArgs(append([]string{}, tt.args...))
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if said := strings.Count(errs.String(), bareHint); timer.begun != tt.want || said != tt.want {
			t.Errorf("%s: %d timers, said %d times in %q; want %d", name, timer.begun, said, errs.String(), tt.want)
		}
	}
}

// --version prints what "patterngate version" prints, in one line.
func TestVersionFlag(t *testing.T) {
	printed := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := Main(args, strings.NewReader(""), &out, &errs); code != console.ExitDone || errs.Len() > 0 {
			t.Fatalf("%q ends with %d: %s", args, code, errs.String())
		}
		return out.String()
	}
	if flag, command := printed("--version"), printed("version"); flag != command || strings.Count(flag, "\n") != 1 || !strings.HasPrefix(flag, "patterngate ") {
		t.Errorf("--version prints %q, version %q", flag, command)
	}
}
