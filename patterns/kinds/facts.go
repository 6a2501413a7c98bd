package kinds

import (
	"strings"

	"patterngate/gateway"
)

// facts are what rules know of the run as it stands: values that a replay has again.
func (l *log) facts() gateway.Facts {
	f := gateway.Facts{
		RunID: l.run.ID(), Pattern: l.spec.Name, Kind: l.spec.Kind, Principal: principalOf(l.task.Principal), Client: l.task.Client, Input: l.inputs,
		Now: l.run.Recorded().UTC(), Steps: l.gate.Begun(), Spent: map[string]float64{}, Remaining: map[string]float64{},
	}
	if l.planned != nil {
		f.Plan = l.planned()
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

// principalOf reads a principal as the record names it: local:1000, token:ci.
func principalOf(id string) gateway.Principal {
	kind, name, _ := strings.Cut(id, ":")
	return gateway.Principal{ID: id, Kind: kind, Name: name}
}
