package planning

import (
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// arguments checks the arguments of catalog tools against their schemas. A reference is checked by the type of the result that it
// refers to, if the type is known.
func (p *subtaskParser) arguments() {
	p.each(func(i int, row *subtaskRow) {
		if row.Tool == CallerExecutor || row.Tool == ModelExecutor || !p.tools[row.Tool] {
			return
		}
		tool, known := p.rules.Catalog.Tool(row.Tool)
		if !known { // reported before the plan is executed
			return
		}
		wrong := p.mismatches(row, tool)
		if len(wrong) == 0 {
			return
		}
		reason := "bad_args:" + row.ID
		if p.Full() {
			p.Skip(len(wrong))
			return
		}
		for _, q := range document.ArgumentProblems(reason, tool, row.Args, p.place(i, "args"), wrong) {
			p.Take(reason, q)
		}
	})
}

// mismatches checks the arguments as they would be sent. Each reference is replaced with a sample of the type that its result will
// have. A mismatch at a sample counts only if the type is known and wrong; the rest is checked at the call.
func (p *subtaskParser) mismatches(row *subtaskRow, tool catalog.Tool) []catalog.Mismatch {
	if !row.marked {
		return tool.Check(tool.Filled(row.Args))
	}
	open := openPlaces{typed: map[ijson.Pointer]bool{}, around: map[ijson.Pointer]bool{}}
	args := rewrite(row.Args, "", func(at ijson.Pointer, text string) any {
		kind := ""
		if ref, ok := parseReference(text); ok {
			kind = p.placeOf(ref).Type
		}
		open.add(at, kind != "")
		return sample(kind)
	})
	members, _ := args.(map[string]any) // as row.Args are
	return slices.DeleteFunc(tool.Check(tool.Filled(members)), open.excuse)
}

// openPlaces are the places of references in arguments.
type openPlaces struct {
	typed  map[ijson.Pointer]bool // whether the type of the value is known
	around map[ijson.Pointer]bool // the containers around them
}

func (o openPlaces) add(at ijson.Pointer, typed bool) {
	o.typed[at] = typed
	for up := parentOf(at); !o.around[up]; up = parentOf(up) {
		o.around[up] = true
	}
}

// excuse reports whether a mismatch can be due to a sample, so that it says nothing about the values that will be sent.
func (o openPlaces) excuse(m catalog.Mismatch) bool {
	if m.Kind == catalog.MismatchValue && o.around[m.Pointer] {
		return true
	}
	if typed, here := o.typed[m.Pointer]; here {
		return m.Kind != catalog.MismatchUnknown && !(typed && m.Kind == catalog.MismatchType)
	}
	for up := m.Pointer; up != ""; {
		up = parentOf(up)
		if _, inside := o.typed[up]; inside {
			return true
		}
	}
	return false
}

// parentOf returns the place that contains this one. The parent of the whole is the whole.
func parentOf(p ijson.Pointer) ijson.Pointer {
	return p[:max(strings.LastIndexByte(string(p), '/'), 0)]
}

// sample returns a value of a JSON type; nil if the type is not known.
func sample(kind string) any {
	switch kind {
	case "string":
		return ""
	case "integer", "number":
		return 0.0
	case "boolean":
		return false
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	}
	return nil
}

// placeOf returns what is known about the value of a reference.
func (p *subtaskParser) placeOf(ref reference) catalog.Place {
	node, there := p.byID[ref.id]
	if !there {
		return catalog.Place{}
	}
	s, left := p.subtask(node)
	switch {
	case left:
		return catalog.Place{}
	case s.Tool == ModelExecutor:
		return catalog.Place{Excluded: ref.pointer != "", Type: "string"}
	}
	return p.returned(node, s).PlaceOf(ref.pointer)
}

// subtask returns the subtask of a node, and whether it is left out of the checks.
func (p *subtaskParser) subtask(node int32) (Subtask, bool) {
	if n := len(p.rules.Earlier); int(node) >= n {
		return p.rows[int(node)-n].Subtask, p.rows[int(node)-n].left
	}
	return p.rules.Earlier[node], false
}

// returned is the schema of a subtask's result; nil if it is not known.
func (p *subtaskParser) returned(node int32, s Subtask) *catalog.Schema {
	if s.Tool != CallerExecutor {
		tool, _ := p.rules.Catalog.Tool(s.Tool)
		return tool.Output
	}
	if s.Expect == nil {
		return nil
	}
	if schema, known := p.schemas[node]; known {
		return schema
	}
	if p.schemas == nil {
		p.schemas = map[int32]*catalog.Schema{}
	}
	schema, _ := compileExpect(s.Expect)
	p.schemas[node] = schema
	return schema
}

// references checks the references in the arguments.
func (p *subtaskParser) references() {
	type found struct {
		row  *subtaskRow
		at   ijson.Pointer
		text string
	}
	var all []found
	reach := newReach(&p.order, func(node int32) bool { _, left := p.subtask(node); return left })
	p.each(func(i int, row *subtaskRow) {
		if !row.marked {
			return
		}
		rewrite(row.Args, p.place(i, "args"), func(at ijson.Pointer, text string) any {
			all = append(all, found{row, at, text})
			ref, _ := parseReference(text)
			if on, there := p.byID[ref.id]; there && !p.order.waitsFor(row.node, on) {
				reach.ask(row.node, on)
			}
			return nil
		})
	})
	reach.answer()
	for _, f := range all {
		if want := p.badReference(f.row, f.text, reach); want != "" {
			p.Add("bad_reference:"+f.row.ID, f.at, f.text, want)
		}
	}
}

// badReference says what would have been right; "" if the reference is good.
func (p *subtaskParser) badReference(row *subtaskRow, text string, reach *reach) string {
	ref, ok := parseReference(text)
	if !ok {
		return referenceForm
	}
	on, there := p.byID[ref.id]
	switch {
	case !there:
		return referenceInPlan
	case on == row.node:
		return referenceToOther
	case !p.order.waitsFor(row.node, on) && !reach.may(row.node, on):
		return referenceToDependency(ref.id)
	case p.placeOf(ref).Excluded:
		return placeInResult(ref.id)
	}
	return ""
}

// waitsFor reports whether a subtask waits for another directly.
func (o *waits) waitsFor(i, on int32) bool {
	_, found := slices.BinarySearch(o.direct.of(i), on)
	return found
}
