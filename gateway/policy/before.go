package policy

import (
	"maps"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"patterngate/gateway"
)

// rowsOf are calls before the judged one. A call that was only assumed for a dry run has a result that nobody knows.
func rowsOf(shape *calls, entries []gateway.Entry, run string) ref.Val {
	r := &rowShape{shape, run}
	rows := make([]ref.Val, len(entries))
	all := make([]row, len(entries))
	for i := range entries {
		all[i] = row{of: r, e: &entries[i]}
		rows[i] = &all[i]
	}
	return types.NewRefValList(types.DefaultTypeAdapter, rows)
}

type rowShape struct {
	*calls
	run string
}

// calls are how calls before the judged one are read.
type calls struct {
	row          Type
	args, result reader
}

func newCalls(row Type) *calls {
	return &calls{row, newReader(row.memberType("args")), newReader(row.memberType("result"))}
}

// reader reads members from a record under a type.
type reader struct {
	is      Type
	inexact []Field // whose values are not read as they are
}

func newReader(t Type) reader {
	r := reader{is: t}
	if t.kind == objectKind {
		r.inexact = slices.DeleteFunc(slices.Clone(t.object.fields), func(f Field) bool { return f.Type.exact() })
	}
	return r
}

// read is [Type.soft], quicker.
func (r reader) read(v any) any {
	members, ok := v.(map[string]any)
	if !ok || r.is.kind != objectKind {
		return r.is.soft(v)
	}
	if len(r.inexact) == 0 {
		return v
	}
	taken := maps.Clone(members)
	for i := range r.inexact {
		if member, there := members[r.inexact[i].Name]; there {
			taken[r.inexact[i].Name] = r.inexact[i].Type.soft(member)
		}
	}
	return taken
}

// row is one call before the judged one.
type row struct {
	opaque
	of           *rowShape
	e            *gateway.Entry
	args, result any
}

// FindStringKey is asked for members by their names.
func (r *row) FindStringKey(name string) (any, bool) {
	e := r.e
	if e.Assumed && (name == "result" || name == "at" || e.Well == 0 && (name == "ok" || name == "counts")) {
		return unknownValue, true
	}
	switch name {
	case "key":
		return e.Key, true
	case "run_id":
		if e.RunID == "" {
			return r.of.run, true
		}
		return e.RunID, true
	case "tool":
		return e.Tool, true
	case "effect":
		return string(e.Effect), true
	case "status":
		return string(e.Status), true
	case "ok":
		return e.OK(), true
	case "counts":
		return e.Counts(), true
	case "args":
		if r.args == nil {
			r.args = checkedMembers(r.of.args, e.Args, "args")
		}
		return r.args, true
	case "result":
		if r.result == nil {
			r.result = resultOf(r.of.result, e.Observation)
		}
		return r.result, true
	case "at":
		return types.Timestamp{Time: e.At}, true
	}
	return nil, false
}

// resultOf is an observation as rules read it; none has no members.
func resultOf(r reader, observation any) any {
	switch {
	case observation == nil:
		return map[string]any{}
	case !finite(observation):
		return refused("result")
	}
	return r.read(observation)
}
