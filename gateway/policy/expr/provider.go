package expr

import (
	"strconv"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// provider tells the checker the members of a scope's objects. It is written while the scope is made and only read then.
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

// celType is a type in the checker's words.
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
		return types.NewObjectType(p.name(t.object)) // the checker lets any object be compared with null
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

func (p *provider) celContainer(t Type) *types.Type {
	item := p.celType(*t.item)
	switch {
	case t.null: // the checker knows no list that may be null
		return types.DynType
	case t.kind == ListKind:
		return types.NewListType(item)
	}
	return types.NewMapType(types.StringType, item)
}

// name enters an object. Its name is none that an expression could spell, so that no object can be made or mistaken.
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

// FindStructType knows the objects of the scope and no messages.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := p.objects[name]; !ok {
		return nil, false
	}
	return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
}

// FindStructFieldNames lists the members of an object.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	o, ok := p.objects[name]
	if !ok {
		return nil, false
	}
	return o.names(), true
}

// FindStructFieldType is the type of a member.
func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	f, ok := p.cel[name][field]
	if o := p.objects[name]; !ok && o != nil && o.open {
		return &types.FieldType{Type: types.DynType}, true
	}
	return f, ok
}

// EnumValue knows none.
func (p *provider) EnumValue(name string) ref.Val { return types.NewErr("unknown enum %q", name) }

// NewValue makes none.
func (p *provider) NewValue(name string, _ map[string]ref.Val) ref.Val {
	return types.NewErr("no object %q can be made", name)
}

// isOptional reports whether a type is what .? yields.
func isOptional(t *types.Type) bool {
	return t.Kind() == types.OpaqueKind && t.TypeName() == "optional_type"
}
