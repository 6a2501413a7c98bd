package web

import (
	"context"
	"time"

	"patterngate/patterns"
	"patterngate/server/web/wording"
)

// switched is the notice above the lists while a kill switch is on. The zero value shows nothing.
type switched struct {
	Unknown bool // whether one is on could not be read
	Rows    []switchRow
	More    int // how many have no row
}

// switchRow is one kill switch.
type switchRow struct {
	What, Reason, By, Command string
	Since                     wording.Moment
}

const maxSwitches = 10

// switched reads the kill switches that are on. If they cannot be read, the page says so and is still shown.
func (p *Pages) switched(ctx context.Context) switched {
	if p.config.Switches == nil {
		return switched{}
	}
	on, err := p.config.Switches()
	if err != nil {
		p.config.Log.ErrorContext(ctx, "inbox", "cause", err)
		return switched{Unknown: true}
	}
	shown := switched{More: max(0, len(on)-maxSwitches)}
	for _, s := range patterns.WidestFirst(on)[:len(on)-shown.More] {
		s.By = p.named(s.By)
		shown.Rows = append(shown.Rows, switchRowOf(s, p.now()))
	}
	return shown
}

func switchRowOf(s patterns.Switch, now time.Time) switchRow {
	row := switchRow{What: wording.SwitchAll, Command: "patterngate kill-switch off", Reason: wording.Clip(s.Reason, maxPhrase), By: wording.Name(s.By)}
	switch {
	case s.Tool != "":
		row.What = wording.SwitchTool(s.Tool)
		row.Command += " --tool " + shellName(s.Tool)
	case s.Pattern != "":
		row.What = wording.SwitchPattern(s.Pattern)
		row.Command += " --pattern " + shellName(s.Pattern)
	}
	if !s.At.IsZero() {
		row.Since = wording.MomentOf(s.At, now)
	}
	return row
}

// shellName returns the name of a tool or pattern as a word of a command. For a text that is not a plain name it
// returns NAME, which a person replaces.
func shellName(given string) string {
	for _, c := range []byte(given) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return "NAME"
		}
	}
	return given
}
