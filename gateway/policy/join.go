package policy

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/common/types"

	"patterngate/gateway/policy/expr"
	"patterngate/ijson"
)

// TaskResult is how one task ended, for [Aggregate.Join].
type TaskResult struct {
	ID, Worker     string
	Critical, Done bool
	Attempts       int
	Observation    any    // of a task that is done: a decoded value
	StopReason     string // of a task that is not done
}

// Joined is the result of an aggregate: decoded values.
type Joined struct {
	Fields  map[string]any // fields that have a value
	Missing []string       // the other fields, in their order
	Health  string         // red, yellow, green or unknown
	Errors  []JoinError    // in the order of the file; [] for none
}

// JoinError says which expression had no value. Its text does not quote what tasks returned.
type JoinError struct {
	Member string `json:"member"` // fields.NAME, health.N.when
	Reason string `json:"reason"`
}

// Join computes the fields in their order, with each worker's first task that is done. Then it takes the health of the
// first rule that is true. If no rule is true, the health is green. It is unknown instead if a field is missing or a
// rule has no value.
func (a *Aggregate) Join(input map[string]any, tasks []TaskResult) Joined {
	j := Joined{Fields: map[string]any{}, Missing: []string{}, Errors: []JoinError{}}
	fields := map[string]any{}
	given := map[string]any{"tasks": a.done(tasks), "failed": a.failures(tasks), "input": takenMembers(a.input, input), "fields": fields}
	left := maxFieldsBytes
	for _, f := range a.compute {
		v, there, err := f.EvalConverted(given)
		size := 0
		if err == nil && there {
			size = len(ijson.Canonical(v))
			if size > min(MaxField, left) {
				err = errTooLarge
			}
		}
		switch {
		case err != nil:
			j.Missing = append(j.Missing, f.name)
			j.Errors = append(j.Errors, JoinError{"fields." + f.name, f.words(err)})
		case !there:
			j.Missing = append(j.Missing, f.name)
		default:
			left -= size
			j.Fields[f.name], fields[f.name] = v, reread(a.fields[f.name], v)
		}
	}
	a.colour(&j, given)
	return j
}

// colour sets the health. A rule without a value does not stop the rules below it.
func (a *Aggregate) colour(j *Joined, given map[string]any) {
	erred := len(j.Missing) > 0
	for _, h := range a.health {
		v, _, err := h.EvalConverted(given)
		if err != nil {
			erred = true
			j.Errors = append(j.Errors, JoinError{h.name, h.words(err)})
		}
		if v == true {
			j.Health = h.is
			return
		}
	}
	if j.Health = "green"; erred {
		j.Health = HealthUnknown
	}
}

// done returns each worker's first task that is done. An observation that does not fit its schema, such as one that was
// cut, is not converted. An expression that reads it has an error.
func (a *Aggregate) done(tasks []TaskResult) map[string]any {
	all := map[string]any{}
	for _, t := range tasks {
		shape, declared := a.tasks[t.Worker]
		if _, earlier := all[t.Worker]; !declared || !t.Done || earlier {
			continue
		}
		var observation any = refused(theObservation)
		if finite(t.Observation) {
			observation = shape.ConvertLoosely(t.Observation)
		}
		all[t.Worker] = map[string]any{"id": t.ID, "observation": observation, "attempts": types.Int(t.Attempts)}
	}
	return all
}

func (a *Aggregate) failures(tasks []TaskResult) []any {
	failed := []any{}
	for _, t := range tasks {
		if !t.Done {
			failed = append(failed, map[string]any{"id": t.ID, "worker": t.Worker, "critical": t.Critical, "stop_reason": t.StopReason})
		}
	}
	return failed
}

// reread converts a computed value from JSON back to its type.
func reread(t expr.Type, v any) any {
	if taken, err := t.Convert(v, ""); err == nil {
		return taken
	}
	return t.ConvertLoosely(v)
}

// takenMembers converts members to their types. If they hold values that no expression may read, it returns an error
// value.
func takenMembers(t expr.Type, members map[string]any) any {
	if !finite(members) {
		return refused("input")
	}
	return t.ConvertLoosely(orEmpty(members))
}

var errTooLarge = fmt.Errorf(fieldTooLarge, MaxField, maxFieldsBytes)

// maxJoinReason is the maximum length of the reason of a [JoinError], in bytes.
const maxJoinReason = 300

// words says why an expression has no value. It gives a name only if the expression itself holds it, because an error
// may quote what tasks returned.
func (j joiner) words(err error) string {
	switch {
	case errors.Is(err, errTooLarge):
		return errTooLarge.Error()
	case errors.Is(err, expr.ErrCost):
		return expr.ErrCost.Error()
	case errors.Is(err, expr.ErrValue):
		return noJSONForm
	}
	if _, name, ok := strings.Cut(err.Error(), "no such key: "); ok {
		if name = strings.TrimSpace(name); name != "" && strings.Contains(j.text, name) {
			return ijson.Cut(notThere(ijson.Words(name)), maxJoinReason)
		}
		return memberAbsent
	}
	return expr.ErrEval.Error()
}
