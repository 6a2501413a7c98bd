package policy

import (
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// lazy is an object from a record whose members are read under their types when they are asked for by their names: few of them are
// ever read, and of many calls. For all else it is the map that it stands for.
type lazy struct {
	of      reader
	members map[string]any
	made    traits.Mapper
}

var _ traits.Mapper = (*lazy)(nil)

// FindStringKey is asked for members by their names.
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

// whole is the map.
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
