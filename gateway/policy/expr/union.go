package expr

import "slices"

// union is the type of what several tools take, or return: a member on which they agree has its type, others are dyn. While what
// one takes is not known, so are all names that the others do not have.
func Union(parts []Type) Type {
	u := Object()
	at := map[string]int{}
	for _, part := range parts {
		if part.kind != ObjectKind {
			u.object.open = true
			continue
		}
		for _, f := range part.object.fields {
			i, known := at[f.Name]
			if !known {
				at[f.Name] = len(u.object.fields)
				u.object.fields = append(u.object.fields, f)
				continue
			}
			has := &u.object.fields[i]
			has.Optional = has.Optional || f.Optional
			has.Type = agreed(has.Type, f.Type)
		}
	}
	if u.object.open {
		for i := range u.object.fields {
			u.object.fields[i].Type.values = nil // the unknown one may have others
		}
	}
	return u
}

// agreed is the type on which two agree: of texts or numbers of which only some are, all that there are in either.
func agreed(a, b Type) Type {
	if a.Signature() == b.Signature() {
		return a
	}
	values := a.values
	a.values = nil
	other := b
	other.values = nil
	if a.kind == DynKind || a.Signature() != other.Signature() {
		return Dyn()
	}
	if values != nil && b.values != nil {
		a.values = slices.Concat(values, slices.DeleteFunc(slices.Clone(b.values), func(v any) bool { return slices.Contains(values, v) }))
	}
	return a
}
