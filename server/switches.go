package server

import (
	"context"
	"fmt"

	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/sentence"
)

// maxReasonShown is how much of a person's reason is repeated, in bytes.
const maxReasonShown = 120

// SwitchWords returns what a kill switch stops, with its author and reason. For example: read_order was switched off by
// local:1000 at 2026-11-21T09:30:00Z, with the words "wrong orders". A person's words are quoted and cut.
func SwitchWords(s patterns.Switch) string {
	what := "everything"
	switch {
	case s.Tool != "":
		what = printable.Name(s.Tool)
	case s.Pattern != "":
		what = "pattern " + printable.Name(s.Pattern)
	}
	words := what + " was switched off"
	if s.By != "" {
		words += " by " + printable.Name(s.By)
	}
	if !s.At.IsZero() {
		words += " at " + sentence.Time(s.At)
	}
	if s.Reason != "" {
		words += ", with the words " + printable.Text(arguments.JSONText(sentence.Short(s.Reason, maxReasonShown)))
	}
	return words
}

// SwitchCommand returns the command that ends a kill switch.
func SwitchCommand(s patterns.Switch) string {
	const off = "patterngate kill-switch off"
	switch {
	case s.Tool != "":
		return off + " --tool " + sentence.ShellWord(s.Tool)
	case s.Pattern != "":
		return off + " --pattern " + sentence.ShellWord(s.Pattern)
	}
	return off
}

// switches returns the kill switches that are on.
func (s *Server) switches() ([]patterns.Switch, error) {
	if s == nil || s.config.Switches == nil {
		return nil, nil
	}
	return s.config.Switches()
}

// switchedOff says in one sentence what is switched off now. It returns "" if nothing is. If the switches cannot be
// read, it says so, because a reader must be able to rely on the answer.
func (s *Server) switchedOff(ctx context.Context) string {
	on, err := s.switches()
	switch {
	case err != nil:
		s.logFault(ctx, fmt.Errorf("reading the kill switches: %w", err))
		return "Whether a kill switch is on could not be read."
	case len(on) == 0:
		return ""
	}
	said := "Kill switch on: " + SwitchWords(patterns.WidestFirst(on)[0])
	if more := len(on) - 1; more > 0 {
		said += fmt.Sprintf(", and %d more", more)
	}
	return said + "."
}

// switchFor returns a switch that may have stopped a call, or nil if none is known.
func (s *Server) switchFor(c arguments.Call) *patterns.Switch {
	on, err := s.switches()
	if err != nil {
		return nil
	}
	for _, one := range patterns.WidestFirst(on) {
		if c.Reaches(one.Tool, one.Pattern) {
			return &one
		}
	}
	return nil
}
