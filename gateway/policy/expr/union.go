package expr

import "slices"

// Union returns the type of values that are of any of these object types. A member on which they agree has its type, other
// members are dyn. If one of the types is not an object, members that the others do not have are dyn too.
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
			u.object.fields[i].Type.values = nil // the type that is not known may have others
		}
	}
	return u
}

// agreed returns the type on which two types agree, else dyn. Two types that differ only in their values have the values of
// both.
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
