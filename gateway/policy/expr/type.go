package expr

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"

	"patterngate/ijson"
)

// Type is what an expression may do with a value. The zero Type is dyn: anything, judged when it is evaluated; numbers in
// it are double. Types are made once and not changed.
type Type struct {
	kind   Kind
	null   bool        // null stands there too
	item   *Type       // of list and map
	object *object     // of object
	values []any       // the only ones there are; nil: all
	cel    *types.Type // of computed: as the checker found it
}

// kind tells types apart. The zero kind is dyn.
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
	ComputedKind // what only an expression makes: an optional, a duration
)

// object is a type with members of its own, and no others.
type object struct {
	tool   string // whose arguments or result it is; "": the expression's own words name it
	noun   string // what its members are called: argument, member
	fields []Field
	open   bool // there may be others, which are dyn
	lazy   bool // only its members can be read: it is compared with nothing
}

// Field is one member of an [Object].
type Field struct {
	Name string
	Type Type
	// Optional members may be absent: to read one without has() or .? is a warning.
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

// Dyn is the zero [Type].
func Dyn() Type { return Type{} }

// Int is a whole number, in JSON one without a fraction.
func Int() Type { return Type{kind: IntKind} }

// Double is any number, 1200 among them.
func Double() Type { return Type{kind: DoubleKind} }

// String is a text. With values it is one of these, and a literal outside is a fault.
func String(values ...string) Type {
	t := Type{kind: StringKind}
	for _, v := range values {
		t.values = append(t.values, v)
	}
	return t
}

// Bool is true or false.
func Bool() Type { return Type{kind: BoolKind} }

// Timestamp is a time. Its values go in as time.Time or as RFC 3339 text, and come out as such text.
func Timestamp() Type { return Type{kind: TimestampKind} }

// List is a list of items of one type.
func List(item Type) Type { return Type{kind: ListKind, item: &item} }

// Map is an object with any names and values of one type.
func Map(value Type) Type { return Type{kind: MapKind, item: &value} }

// Object is an object with these members: an expression that names another does not compile.
func Object(fields ...Field) Type {
	return ObjectOf("member", fields...)
}

// ObjectOf is [Object] with another word for its members in faults: worker, field.
func ObjectOf(noun string, fields ...Field) Type {
	return Type{kind: ObjectKind, object: &object{noun: noun, fields: fields}}
}

// Arguments is the type of a tool's arguments; faults name the tool.
func Arguments(tool string, fields ...Field) Type {
	return Type{kind: ObjectKind, object: &object{tool: tool, noun: "argument", fields: fields}}
}

// MembersOnly is an object whose members can be read. To compare the object itself is a fault.
func MembersOnly(fields ...Field) Type {
	return Type{kind: ObjectKind, object: &object{noun: "member", fields: fields, lazy: true}}
}

// Nullable is a type or null.
func Nullable(t Type) Type {
	t.null = true
	return t
}

// String words the type for people: int, list(string), map(double), object.
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

// signature tells types apart: two of one signature are read alike.
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

// Variable is a name that an expression may read, and what stands there.
type Variable struct {
	Name string
	Type Type
}

// Kind is what sort of value the type is of.
func (t Type) Kind() Kind { return t.kind }

// Item is the type of a list's items and of a map's values; dyn for other types.
func (t Type) Item() Type {
	if t.item == nil {
		return Dyn()
	}
	return *t.item
}

// Values are the only values that the type has; nil: it is not limited to some. They must not be changed.
func (t Type) Values() []any { return t.values }

// Fields are the members of an object; nil for other types. They must not be changed.
func (t Type) Fields() []Field {
	if t.kind != ObjectKind {
		return nil
	}
	return t.object.fields
}

// Field is the member of that name of an object; false where there is none, and for other types.
func (t Type) Field(name string) (Field, bool) {
	if t.kind != ObjectKind {
		return Field{}, false
	}
	return t.object.field(name)
}

// Names are the names of an object's members; nil for other types.
func (t Type) Names() []string {
	if t.kind != ObjectKind {
		return nil
	}
	return t.object.names()
}

// memberType is the type of a member, dyn where none is known.
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

// Decoded is the type of a value once it was written as JSON: a duration becomes text, other computed values dyn.
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
