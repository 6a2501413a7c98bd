package console

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A spinner shows nothing for quick work. Then it rewrites one line with the elapsed time, and it leaves an empty line.
func TestSpinner(t *testing.T) {
	for name, tt := range map[string]struct {
		took time.Duration
		want []string // what the line shows, one after the other
	}{
		"quick":      {150 * time.Millisecond, nil},
		"a moment":   {350 * time.Millisecond, []string{"⠋ 0.2 s  paying", "⠙ 0.3 s  paying"}},
		"other text": {450 * time.Millisecond, []string{"⠋ 0.2 s  paying", "⠙ 0.3 s  paying", "⠹ 0.4 s  a\\u001bb"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var screen bytes.Buffer
				s := newSpinner(&screen, 40, "paying", func(line string) string { return line })
				time.AfterFunc(min(tt.took, 350*time.Millisecond), func() { s.Say("a\x1bb") })
				<-time.After(tt.took)
				s.Stop()
				s.Stop()
				var got []string
				for line := range strings.SplitSeq(screen.String(), "\r") {
					if strings.TrimSpace(line) != "" {
						got = append(got, line)
					}
				}
				if strings.Join(got, "|") != strings.Join(tt.want, "|") {
					t.Errorf("the line shows %q, want %q", got, tt.want)
				}
				if text := screen.String(); text != "" && !strings.HasSuffix(text, " \r") {
					t.Errorf("the line is left as %q", text)
				}
			})
		})
	}
}

// Without a terminal there is no spinner, and nothing is written.
func TestNoSpinner(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "err")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []*Console{{Err: file}, {Err: new(bytes.Buffer)}, {Err: os.Stderr, JSON: true}} {
		if s := c.Spin("work"); s != nil {
			t.Errorf("a spinner at %T", c.Err)
			s.Stop()
		}
	}
	var none *Spinner
	none.Say("more")
	none.Stop()
}

// What is printed meanwhile gets a line of its own, and the spinner comes back below it.
func TestSpinnerPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen bytes.Buffer
		s := newSpinner(&screen, 40, "paying", func(line string) string { return line })
		time.Sleep(250 * time.Millisecond)
		s.Pause(func() { screen.WriteString("found\n") })
		time.Sleep(100 * time.Millisecond)
		s.Stop()
		blank := strings.Repeat(" ", len("0 0.2 s  paying"))
		want := "\r⠋ 0.2 s  paying\r" + blank + "\rfound\n\r⠙ 0.3 s  paying\r" + blank + "\r"
		if got := screen.String(); got != want {
			t.Errorf("the screen gets\n%q, want\n%q", got, want)
		}
	})
	said := false
	var none *Spinner
	if none.Pause(func() { said = true }); !said {
		t.Error("without a spinner, Pause does not print")
	}
}
