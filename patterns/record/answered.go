package record

import (
	"encoding/json"
	"strings"

	"patterngate/gateway"
	"patterngate/patterns"
)

// answered returns the member answered of a run that waits, computed from the calls in its record. It returns "" if a call was in
// doubt, because it does not read what the outcome was.
func (s *Story) answered() string {
	var calls []gateway.Entry
	for i := range s.Rows {
		r := &s.Rows[i]
		switch {
		case strings.HasPrefix(r.Key, "doubt#") || strings.Contains(r.Key, "/doubt#"):
			return ""
		case r.Kind != string(patterns.ToolEffect), r.State == Open, r.State == string(patterns.Canceled):
			continue
		}
		e := gateway.Entry{Tool: r.Name, Hash: string(r.input), Status: gateway.Failed}
		if r.State == string(patterns.OK) || r.State == string(Duplicate) {
			e.Status = gateway.Finished
			_ = json.Unmarshal(r.output, &e.Observation) // an unreadable output is a result too
		}
		calls = append(calls, e)
	}
	return gateway.ResultsOf(calls).Answered()
}
