package patterns

import (
	"encoding/json"
	"slices"
)

// Aggregate is the joined result of an orchestrator's tasks (spec/patterns.md sections 0 and 3).
type Aggregate struct {
	Health  string         `json:"health"`
	Fields  map[string]any `json:"fields"`  // what the pattern's expressions made of the results
	Missing []string       `json:"missing"` // names without a value
	// Errors says which expressions of the configuration had no value.
	Errors []JoinError `json:"errors,omitempty"`
	// Report is what results and the final question show instead of Fields, Missing, Health and Errors; nil: those four.
	Report Report `json:"-"`
}

// JoinError says which expression of an aggregate had no value: fields.NAME, health.N.when.
type JoinError struct {
	Member string `json:"member"`
	Reason string `json:"reason"`
}

// Report is an aggregate that has a shape of its own. Its JSON is that shape. It holds the results of the tasks, so a final text
// needs nothing else. A Report does not change.
type Report interface {
	// Payload returns the report as decoded values, for the final question.
	Payload() map[string]any
	// Cut returns a shorter copy for results that are too large.
	Cut(Cut) Report
}

// Cut says how a [Report] becomes shorter. All fields must be set.
type Cut struct {
	Rows    int                                 // of a list, at most
	Text    func(string) string                 // shortens a text
	Members func(map[string]any) map[string]any // shortens the members of an object
}

// Shown returns a struct with the members that results show, for writing.
func (a Aggregate) Shown() any {
	if a.Report != nil {
		return a.Report
	}
	return struct {
		Fields  map[string]any `json:"fields"`
		Missing []string       `json:"missing"`
		Health  string         `json:"health"`
		Errors  []JoinError    `json:"errors,omitempty"`
	}{a.Fields, append([]string{}, a.Missing...), a.Health, a.Errors}
}

// MarshalJSON writes the struct that Shown returns.
func (a Aggregate) MarshalJSON() ([]byte, error) { return json.Marshal(a.Shown()) }

// Joined returns the aggregate of workers for which the configuration names no aggregate (spec/config.md section 7, aggregate). It has
// no fields. Its health is green if every worker has a result; otherwise it is unknown, and the workers without a result are missing.
func Joined(_ Inputs, ended []TaskRow) Aggregate {
	a := Aggregate{Fields: map[string]any{}, Missing: []string{}, Health: "green"}
	for _, row := range ended {
		done := slices.ContainsFunc(ended, func(o TaskRow) bool { return o.Worker == row.Worker && o.Done() })
		if !done && !slices.Contains(a.Missing, row.Worker) {
			a.Missing, a.Health = append(a.Missing, row.Worker), "unknown"
		}
	}
	return a
}

// Payload returns the aggregate as decoded values, for the final question.
func (a Aggregate) Payload() map[string]any {
	if a.Report != nil {
		return a.Report.Payload()
	}
	payload := map[string]any{"fields": a.Fields, "missing": TextValues(a.Missing), "health": a.Health}
	if len(a.Errors) > 0 {
		rows := make([]any, len(a.Errors))
		for i, e := range a.Errors {
			rows[i] = map[string]any{"member": e.Member, "reason": e.Reason}
		}
		payload["errors"] = rows
	}
	return payload
}
