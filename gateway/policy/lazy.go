package policy

import (
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// lazy is a recorded object that converts a member to its type when an expression reads it by name. The reason is
// speed: there are many calls, and expressions read few of their members. For all other uses it is a map.
type lazy struct {
	of      reader
	members map[string]any
	made    traits.Mapper
}

var _ traits.Mapper = (*lazy)(nil)

// FindStringKey returns a member by its name.
func (l *lazy) FindStringKey(name string) (any, bool) {
	v, there := l.members[name]
	if !there {
		return nil, false
	}
	for i := range l.of.inexact {
		if l.of.inexact[i].Name == name {
			return l.of.inexact[i].Type.ConvertLoosely(v), true
		}
	}
	return v, true
}

// whole returns the object as a map.
func (l *lazy) whole() traits.Mapper {
	if l.made == nil {
		l.made = types.NewStringInterfaceMap(types.DefaultTypeAdapter, l.of.taken(l.members))
	}
	return l.made
}

// ConvertToNative implements [ref.Val].
func (l *lazy) ConvertToNative(to reflect.Type) (any, error) { return l.whole().ConvertToNative(to) }

// ConvertToType implements [ref.Val].
func (l *lazy) ConvertToType(to ref.Type) ref.Val { return l.whole().ConvertToType(to) }

// Equal implements [ref.Val].
func (l *lazy) Equal(other ref.Val) ref.Val { return l.whole().Equal(other) }

// Type implements [ref.Val].
func (l *lazy) Type() ref.Type { return types.MapType }

// Value implements [ref.Val].
func (l *lazy) Value() any { return l.whole().Value() }

// Contains implements [traits.Container].
func (l *lazy) Contains(name ref.Val) ref.Val { return l.whole().Contains(name) }

// Get implements [traits.Indexer].
func (l *lazy) Get(name ref.Val) ref.Val { return l.whole().Get(name) }

// Iterator implements [traits.Iterable].
func (l *lazy) Iterator() traits.Iterator { return l.whole().Iterator() }

// Size implements [traits.Sizer].
func (l *lazy) Size() ref.Val { return l.whole().Size() }

// Find implements [traits.Mapper].
func (l *lazy) Find(name ref.Val) (ref.Val, bool) { return l.whole().Find(name) }
