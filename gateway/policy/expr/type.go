package expr

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"

	"patterngate/ijson"
)

// Type is the type of a value that an expression reads or has. The zero Type is dyn: any value, checked when it is evaluated;
// numbers in it are double. A Type does not change after it is made.
type Type struct {
	kind   Kind
	null   bool        // null is a value too
	item   *Type       // of a list or map
	object *object     // of an object
	values []any       // the only values; nil: all
	cel    *types.Type // of ComputedKind: the type that the checker found
}

// Kind is the sort of a [Type]. The zero Kind is dyn.
type Kind int

const (
	DynKind Kind = iota
	IntKind
	DoubleKind
	StringKind
	BoolKind
	TimestampKind
	NullKind
	ListKind
	MapKind
	ObjectKind
	ComputedKind // a type that only an expression has: an optional, a duration
)

// object is what a type of ObjectKind knows about its members.
type object struct {
	tool   string // the tool that takes or returns it; "": faults name it as the text does
	noun   string // the word for a member in faults: argument, member
	fields []Field
	open   bool // it may have other members, which are dyn
	lazy   bool // only its members can be read; see MembersOnly
}

// Field is one member of an object.
type Field struct {
	Name string
	Type Type
	// Optional says that the member may be absent: to read it without has() or .? is a warning.
	Optional bool
}

func (o *object) field(name string) (Field, bool) {
	i := slices.IndexFunc(o.fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return o.fields[i], true
}

func (o *object) names() []string {
	names := make([]string, len(o.fields))
	for i, f := range o.fields {
		names[i] = f.Name
	}
	return names
}

// Dyn is the zero [Type]: any value.
func Dyn() Type { return Type{} }

// Int is a whole number. In JSON it is a number without a fraction.
func Int() Type { return Type{kind: IntKind} }

// Double is any number, also a whole one such as 1200.
func Double() Type { return Type{kind: DoubleKind} }

// String is a text. With values it is one of them, and to compare it with another literal is a fault.
func String(values ...string) Type {
	t := Type{kind: StringKind}
	for _, v := range values {
		t.values = append(t.values, v)
	}
	return t
}

// Bool is true or false.
func Bool() Type { return Type{kind: BoolKind} }

// Timestamp is a time. Its values are given as time.Time or RFC 3339 text, and returned as such text.
func Timestamp() Type { return Type{kind: TimestampKind} }

// List is a list whose items have one type.
func List(item Type) Type { return Type{kind: ListKind, item: &item} }

// Map is an object with any names, whose values have one type.
func Map(value Type) Type { return Type{kind: MapKind, item: &value} }

// Object is an object with these members. To read another member is a fault.
func Object(fields ...Field) Type {
	return ObjectOf("member", fields...)
}

// ObjectOf is [Object] with another word for a member in faults: worker, field.
func ObjectOf(noun string, fields ...Field) Type {
	return Type{kind: ObjectKind, object: &object{noun: noun, fields: fields}}
}

// Arguments is the type of the arguments of a tool. Faults name the tool: "refund_charge has no argument x".
func Arguments(tool string, fields ...Field) Type {
	return Type{kind: ObjectKind, object: &object{tool: tool, noun: "argument", fields: fields}}
}

// MembersOnly is an object whose members can be read. To compare the object itself is a fault: its values are made when their
// members are read, and cannot be compared.
func MembersOnly(fields ...Field) Type {
	return Type{kind: ObjectKind, object: &object{noun: "member", fields: fields, lazy: true}}
}

// Nullable is a type or null.
func Nullable(t Type) Type {
	t.null = true
	return t
}

// String returns the type as people write it: int, list(string), map(double), object.
func (t Type) String() string {
	words := ""
	switch t.kind {
	case DynKind:
		return "dyn"
	case ComputedKind:
		return celWords(t.cel)
	case ListKind, MapKind:
		words = map[Kind]string{ListKind: "list", MapKind: "map"}[t.kind] + "(" + t.item.String() + ")"
	default:
		words = map[Kind]string{
			IntKind: "int", DoubleKind: "double", StringKind: "string", BoolKind: "bool",
			TimestampKind: "timestamp", NullKind: "null", ObjectKind: "object",
		}[t.kind]
	}
	if t.null && t.kind != NullKind {
		words += " or null"
	}
	return words
}

// Signature tells types apart: expressions read two types of one signature in the same way.
func (t Type) Signature() string {
	var b strings.Builder
	t.sign(&b)
	return b.String()
}

func (t Type) sign(b *strings.Builder) {
	b.WriteByte(byte('a' + t.kind))
	if t.null {
		b.WriteByte('?')
	}
	if t.values != nil {
		b.Write(ijson.Canonical(t.values))
	}
	switch {
	case t.item != nil:
		t.item.sign(b)
	case t.cel != nil:
		b.WriteString(t.cel.String())
	case t.object != nil:
		b.WriteByte('{')
		if t.object.open {
			b.WriteByte('*')
		}
		for _, f := range t.object.fields {
			b.Write(ijson.Canonical(f.Name))
			if f.Optional {
				b.WriteByte('?')
			}
			f.Type.sign(b)
		}
		b.WriteByte('}')
	}
}

// Variable is a name that an expression may read, and its type.
type Variable struct {
	Name string
	Type Type
}

// Kind returns the sort of the type.
func (t Type) Kind() Kind { return t.kind }

// Item returns the type of the items of a list or the values of a map; dyn for other types.
func (t Type) Item() Type {
	if t.item == nil {
		return Dyn()
	}
	return *t.item
}

// Values returns the only values of the type; nil if it is not limited to some. The caller must not change them.
func (t Type) Values() []any { return t.values }

// Fields returns the members of an object; nil for other types. The caller must not change them.
func (t Type) Fields() []Field {
	if t.kind != ObjectKind {
		return nil
	}
	return t.object.fields
}

// Field returns the member of that name; false if there is none, or the type is not an object.
func (t Type) Field(name string) (Field, bool) {
	if t.kind != ObjectKind {
		return Field{}, false
	}
	return t.object.field(name)
}

// Names returns the names of the members of an object; nil for other types.
func (t Type) Names() []string {
	if t.kind != ObjectKind {
		return nil
	}
	return t.object.names()
}

// MemberType returns the type of a member of an object or map; dyn if it is not known.
func (t Type) MemberType(name string) Type {
	switch t.kind {
	case MapKind:
		return *t.item
	case ObjectKind:
		f, _ := t.object.field(name)
		return f.Type
	}
	return Dyn()
}

// Decoded returns the type of a value after it was written as JSON and decoded. A duration is text then; other types of
// [ComputedKind] are dyn.
func (t Type) Decoded() Type {
	switch {
	case t.kind == ComputedKind && t.cel.Kind() == types.DurationKind:
		return String()
	case t.kind == ComputedKind:
		return Dyn()
	case t.item != nil:
		item := t.item.Decoded()
		t.item = &item
	}
	return t
}
