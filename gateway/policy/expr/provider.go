package expr

import (
	"strconv"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// provider tells the checker the members of the objects of a scope. It is written while a scope is made, and only read
// afterwards.
type provider struct {
	types.Provider // the standard types
	objects        map[string]*object
	names          map[*object]string
	cel            map[string]map[string]*types.FieldType
}

func newProvider(standard types.Provider) *provider {
	return &provider{
		Provider: standard, objects: map[string]*object{}, names: map[*object]string{},
		cel: map[string]map[string]*types.FieldType{},
	}
}

// celType returns a type as the checker knows it.
func (p *provider) celType(t Type) *types.Type {
	var plain *types.Type
	switch t.kind {
	case IntKind:
		plain = types.IntType
	case DoubleKind:
		plain = types.DoubleType
	case StringKind:
		plain = types.StringType
	case BoolKind:
		plain = types.BoolType
	case TimestampKind:
		return types.TimestampType
	case NullKind:
		return types.NullType
	case ComputedKind:
		return t.cel
	case ObjectKind:
		return types.NewObjectType(p.name(t.object)) // the checker allows to compare any object with null
	case ListKind, MapKind:
		return p.celContainer(t)
	default:
		return types.DynType
	}
	if t.null {
		return types.NewNullableType(plain)
	}
	return plain
}

// celContainer is celType for lists and maps.
func (p *provider) celContainer(t Type) *types.Type {
	item := p.celType(*t.item)
	switch {
	case t.null: // the checker has no type for a list or null
		return types.DynType
	case t.kind == ListKind:
		return types.NewListType(item)
	}
	return types.NewMapType(types.StringType, item)
}

// name registers an object. No text can spell its name, so no text can make such an object.
func (p *provider) name(o *object) string {
	if name, ok := p.names[o]; ok {
		return name
	}
	name := "object:" + strconv.Itoa(len(p.names))
	p.names[o], p.objects[name] = name, o
	fields := make(map[string]*types.FieldType, len(o.fields))
	for _, f := range o.fields {
		fields[f.Name] = &types.FieldType{Type: p.celType(f.Type)}
	}
	p.cel[name] = fields
	return name
}

// FindStructType finds the objects of the scope. There are no protobuf messages.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := p.objects[name]; !ok {
		return nil, false
	}
	return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
}

// FindStructFieldNames returns the names of the members of an object.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	o, ok := p.objects[name]
	if !ok {
		return nil, false
	}
	return o.names(), true
}

// FindStructFieldType returns the type of a member.
func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	f, ok := p.cel[name][field]
	if o := p.objects[name]; !ok && o != nil && o.open {
		return &types.FieldType{Type: types.DynType}, true
	}
	return f, ok
}

// EnumValue always fails: there are no enums.
func (p *provider) EnumValue(name string) ref.Val { return types.NewErr(unknownEnum, name) }

// NewValue always fails: a text cannot make objects of the scope.
func (p *provider) NewValue(name string, _ map[string]ref.Val) ref.Val {
	return types.NewErr(noObjectOf, name)
}

// isOptional reports whether a type is optional, as the value of a.?b is.
func isOptional(t *types.Type) bool {
	return t.Kind() == types.OpaqueKind && t.TypeName() == "optional_type"
}
