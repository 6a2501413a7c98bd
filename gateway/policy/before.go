package policy

import (
	"maps"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
)

// rowsOf returns the calls before the judged one, as rules read them. For a dry run, a call may be assumed only; its
// result is then unknown.
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

// calls says how rules read the calls before the judged one.
type calls struct {
	row          expr.Type
	args, result reader
}

func newCalls(row expr.Type) *calls {
	return &calls{row, newReader(row.MemberType("args")), newReader(row.MemberType("result"))}
}

// reader reads the members of a recorded object with their types.
type reader struct {
	is      expr.Type
	inexact []expr.Field // fields whose values must be converted
}

func newReader(t expr.Type) reader {
	r := reader{is: t}
	if t.Kind() == expr.ObjectKind {
		r.inexact = slices.DeleteFunc(slices.Clone(t.Fields()), func(f expr.Field) bool { return f.Type.Verbatim() })
	}
	return r
}

// read does the same as [expr.Type.ConvertLoosely], but faster.
func (r reader) read(v any) any {
	members, ok := v.(map[string]any)
	if !ok || r.is.Kind() != expr.ObjectKind {
		return r.is.ConvertLoosely(v)
	}
	if len(r.inexact) == 0 {
		return v
	}
	return &lazy{of: r, members: members}
}

// taken returns members converted to their types.
func (r reader) taken(members map[string]any) map[string]any {
	taken := maps.Clone(members)
	for i := range r.inexact {
		if member, there := members[r.inexact[i].Name]; there {
			taken[r.inexact[i].Name] = r.inexact[i].Type.ConvertLoosely(member)
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

// FindStringKey returns a member by its name.
func (r *row) FindStringKey(name string) (any, bool) {
	e := r.e
	if e.Assumed && (name == "result" || name == "at" || e.Well == 0 && (name == "ok" || name == "counts")) {
		return unknownValue, true
	}
	switch name {
	case "key":
		return types.String(e.Key), true
	case "run_id":
		if e.RunID == "" {
			return types.String(r.of.run), true
		}
		return types.String(e.RunID), true
	case "tool":
		return types.String(e.Tool), true
	case "effect":
		return ready(string(e.Effect)), true
	case "status":
		return ready(string(e.Status)), true
	case "ok":
		return types.Bool(e.OK()), true
	case "counts":
		return types.Bool(e.Counts()), true
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

// words are the effects and states as values that are ready to read.
var words = func() map[string]ref.Val {
	all := map[string]ref.Val{}
	for _, word := range []string{
		string(catalog.Read), string(catalog.Write), string(catalog.Destructive),
		string(gateway.Reserved), string(gateway.Finished), string(gateway.Failed), string(gateway.InDoubt),
	} {
		all[word] = types.String(word)
	}
	return all
}()

// ready returns a word as a value.
func ready(word string) ref.Val {
	if made := words[word]; made != nil {
		return made
	}
	return types.String(word)
}

// resultOf returns an observation as rules read it. A missing observation is an object without members.
func resultOf(r reader, observation any) any {
	switch {
	case observation == nil:
		return map[string]any{}
	case !finite(observation):
		return refused("result")
	}
	return r.read(observation)
}
