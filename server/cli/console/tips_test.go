package console

import (
	"strings"
	"testing"
)

func TestNextText(t *testing.T) {
	plain := func(s string) string { return s }
	steps := []Step{{"runs show run_1", "see it"}, {"doctor", "check the clients"}, {"", "Restart it."}}
	want := `Next:
  patterngate runs show run_1 --config pg.yaml   # see it
  patterngate doctor --config pg.yaml            # check the clients
  Restart it.
`
	if got := nextText(steps, " --config pg.yaml", plain); got != want {
		t.Errorf("the next steps are\n%swant\n%s", got, want)
	}
}

// A program that reads the output gets no tip.
func TestNoTipWithoutATerminal(t *testing.T) {
	var out, errs strings.Builder
	(&Console{Out: &out, Err: &errs}).Next(AfterValidate...)
	if out.String()+errs.String() != "" {
		t.Errorf("without a terminal the tip is %q", out.String()+errs.String())
	}
}
