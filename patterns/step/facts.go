package step

import (
	"strings"

	"patterngate/gateway"
)

// facts returns what rules can read about the run now. A replay produces the same values.
func (l *Log) facts() gateway.Facts {
	f := gateway.Facts{
		RunID: l.Run.ID(), Pattern: l.Spec.Name, Kind: l.Spec.Kind, Principal: principalOf(l.Task.Principal), Client: l.Task.Client, Input: l.inputs,
		Now: l.Run.Recorded().UTC(), Steps: l.Gate.Begun(), Spent: map[string]float64{}, Remaining: map[string]float64{},
	}
	if l.Planned != nil {
		f.Plan = l.Planned()
	}
	spent := l.budget()
	for name, s := range spent {
		f.Spent[name] = s.Used
	}
	for name, s := range spent {
		f.Remaining[name] = max(0, s.Limit-s.Used)
	}
	return f
}

// principalOf reads the recorded form of a principal, such as local:1000 or token:ci.
func principalOf(id string) gateway.Principal {
	kind, name, _ := strings.Cut(id, ":")
	return gateway.Principal{ID: id, Kind: kind, Name: name}
}
