package server

import (
	"context"

	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/outcome"
)

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
		s.logFault(ctx, switchesUnread(err))
		return switchesUnknown
	case len(on) == 0:
		return ""
	}
	return switchesOn(outcome.SwitchWords(patterns.WidestFirst(on)[0]), len(on)-1)
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
