package execution

import (
	"testing"

	"patterngate/patterns/store"
)

// A call takes over an act in doubt only where its plan began one, that may be repeated, with the same arguments, and the run that
// has the key is over: else two runs might make it at one time.
func TestWhatMayTakeOverAnAct(t *testing.T) {
	args, body := []byte(`{"n":1}`), []byte(`{"state":"ok"}`)
	for name, tt := range map[string]struct {
		change func(*business, *firstAct)
		want   standing
	}{
		"all holds":            {func(*business, *firstAct) {}, keyLeft},
		"its run is not over":  {func(_ *business, f *firstAct) { f.Over = false }, keyTaken},
		"it is an act anew":    {func(c *business, _ *firstAct) { c.again = false }, keyTaken},
		"with other arguments": {func(c *business, _ *firstAct) { c.args = []byte(`{"n":2}`) }, keyTaken},
		"it is done":           {func(_ *business, f *firstAct) { f.Body = body }, keyDone},
		"it is this run's":     {func(c *business, _ *firstAct) { c.run = 1 }, keyMine},
	} {
		c := business{run: 2, act: "a#1/own#1", args: args, again: true}
		f := &firstAct{Act: store.Act{Args: sealedArgs(args), Run: 1, Act: "a#1/own#1", Effect: "a#1/own#1", Over: true}}
		tt.change(&c, f)
		if got := c.stands(f); got != tt.want {
			t.Errorf("%s: it stands %d, want %d", name, got, tt.want)
		}
	}
}
