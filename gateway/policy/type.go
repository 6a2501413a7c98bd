package policy

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"

	"patterngate/ijson"
)

// Type is what an expression may do with a value. The zero Type is dyn: anything, judged when it is evaluated; numbers in
// it are double. Types are made once and not changed.
type Type struct {
	kind   kind
	null   bool        // null stands there too
	item   *Type       // of list and map
	object *object     // of object
	values []any       // the only ones there are; nil: all
	cel    *types.Type // of computed: as the checker found it
}

// kind tells types apart. The zero kind is dyn.
type kind int

const (
	dynKind kind = iota
	intKind
	doubleKind
	stringKind
	boolKind
	timestampKind
	nullKind
	listKind
	mapKind
	objectKind
	computedKind // what only an expression makes: an optional, a duration
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
func Int() Type { return Type{kind: intKind} }

// Double is any number, 1200 among them.
func Double() Type { return Type{kind: doubleKind} }

// String is a text. With values it is one of these, and a literal outside is a fault.
func String(values ...string) Type {
	t := Type{kind: stringKind}
	for _, v := range values {
		t.values = append(t.values, v)
	}
	return t
}

// Bool is true or false.
func Bool() Type { return Type{kind: boolKind} }

// Timestamp is a time. Its values go in as time.Time or as RFC 3339 text, and come out as such text.
func Timestamp() Type { return Type{kind: timestampKind} }

// List is a list of items of one type.
func List(item Type) Type { return Type{kind: listKind, item: &item} }

// Map is an object with any names and values of one type.
func Map(value Type) Type { return Type{kind: mapKind, item: &value} }

// Object is an object with these members: an expression that names another does not compile.
func Object(fields ...Field) Type {
	return Type{kind: objectKind, object: &object{noun: "member", fields: fields}}
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
	case dynKind:
		return "dyn"
	case computedKind:
		return celWords(t.cel)
	case listKind, mapKind:
		words = map[kind]string{listKind: "list", mapKind: "map"}[t.kind] + "(" + t.item.String() + ")"
	default:
		words = map[kind]string{
			intKind: "int", doubleKind: "double", stringKind: "string", boolKind: "bool",
			timestampKind: "timestamp", nullKind: "null", objectKind: "object",
		}[t.kind]
	}
	if t.null && t.kind != nullKind {
		words += " or null"
	}
	return words
}

// signature tells types apart: two of one signature are read alike.
func (t Type) signature() string {
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

// Member is the type of an object's member; false where it has none of that name, or is no object.
func (t Type) Member(name string) (Type, bool) {
	if t.kind != objectKind {
		return Dyn(), false
	}
	f, ok := t.object.field(name)
	return f.Type, ok
}
