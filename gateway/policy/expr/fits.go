package expr

import "cel.dev/cel-go/common/types"

// misfit returns the fault of an expression whose type is not the wanted one.
func misfit(got *types.Type, want Type, text string) (Fault, bool) {
	inner := got
	if isOptional(got) && len(got.Parameters()) == 1 {
		inner = got.Parameters()[0]
	}
	name := celWords(inner)
	switch fits := celFits(inner, want); {
	case fits:
		return Fault{}, false
	case want.kind == DoubleKind && inner.Kind() == types.IntKind:
		return Fault{Reason: intForDouble, Want: asDouble(text)}, true
	case want.kind == IntKind && inner.Kind() == types.DoubleKind:
		return Fault{Reason: doubleForInt}, true
	case want.kind == DynKind:
		return Fault{Reason: noJSONForm(name), Want: "string(" + shorten(text) + ")"}, true
	case want.kind == StringKind && (inner.Kind() == types.IntKind || inner.Kind() == types.DoubleKind || inner.Kind() == types.BytesKind):
		return Fault{Reason: stringNeeded(name), Want: "string(" + shorten(text) + ")"}, true
	}
	return Fault{Reason: otherNeeded(name, want.String())}, true
}

// celFits reports whether a value of a type may be of the wanted type. Types that are not known pass: Eval checks their values.
func celFits(got *types.Type, want Type) bool {
	switch got.Kind() {
	case types.DynKind, types.AnyKind, types.TypeParamKind, types.ErrorKind:
		return true
	case types.BytesKind, types.TypeKind, types.OpaqueKind:
		return false
	case types.NullTypeKind:
		return want.kind == DynKind || want.null
	}
	if want.kind == DynKind {
		return celHasForm(got)
	}
	if len(got.Parameters()) == 0 && got.IsAssignableType(types.NullType) && got.Kind() != types.StructKind && !want.null {
		return got.Kind() == celKind(want) // a null value is an error of the evaluation
	}
	if got.Kind() == types.ListKind && want.kind == ListKind {
		return celFits(got.Parameters()[0], *want.item)
	}
	if got.Kind() == types.MapKind && want.kind == MapKind {
		return celFits(got.Parameters()[1], *want.item)
	}
	if got.Kind() == types.MapKind && want.kind == ObjectKind || got.Kind() == types.StructKind && want.kind == MapKind {
		return true
	}
	return got.Kind() == celKind(want)
}

// celHasForm reports whether values of a type can be written as JSON.
func celHasForm(t *types.Type) bool {
	switch t.Kind() {
	case types.BytesKind, types.TypeKind, types.OpaqueKind:
		return false
	case types.ListKind:
		return celHasForm(t.Parameters()[0])
	case types.MapKind:
		return celHasForm(t.Parameters()[1])
	}
	return true
}

// celKind returns the kind of the library for a type.
func celKind(t Type) types.Kind {
	switch t.kind {
	case IntKind:
		return types.IntKind
	case DoubleKind:
		return types.DoubleKind
	case StringKind:
		return types.StringKind
	case BoolKind:
		return types.BoolKind
	case TimestampKind:
		return types.TimestampKind
	case NullKind:
		return types.NullTypeKind
	case ListKind:
		return types.ListKind
	case MapKind:
		return types.MapKind
	case ObjectKind:
		return types.StructKind
	}
	return types.DynKind
}
