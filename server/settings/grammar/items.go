package grammar

import (
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// CheckMost refuses what has too many members.
func CheckMost(r *Reader, n *yamldoc.Node, path *yamldoc.Path, has, most int) bool {
	if has <= most {
		return true
	}
	r.Faults.Add(n.At, path, yamldoc.Fault{Reason: "too many", Got: yamldoc.NumberText(float64(has)), Want: "write at most " + yamldoc.NumberText(float64(most))})
	return false
}

// Items are mappings of one shape in a list, each named by one of its members.
type Items[E any] struct {
	Name string // of that member
	Fits func(string) bool
	Most int
	Keys func(*E) []Key
	// value is an item as a snapshot has it.
	Value func(*E) map[string]any
	// finish sees an item that was read whole. nil: nothing is left to do.
	Finish func(r *Reader, n *yamldoc.Node, path *yamldoc.Path, item *E)
}

// Key is the list of such items.
func (of Items[E]) Key(name string, list *[]E) Key {
	return Key{
		Name: name, Takes: "a list of mappings",
		Form: func() map[string]any {
			var e E
			return ListForm(SchemaOf(of.Keys(&e)))
		},
		Below: func() []Key {
			var e E
			return of.Keys(&e)
		},
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) { *list = of.read(r, n, path) },
		Show: func() any {
			lines := make(JSONLines, len(*list))
			for i := range *list {
				lines[i] = ijson.Canonical(of.Value(&(*list)[i]))
			}
			return lines
		},
	}
}

// read keeps every item, so that an index counts as it does in the file.
func (of Items[E]) read(r *Reader, n *yamldoc.Node, path *yamldoc.Path) []E {
	if n.Kind != yamldoc.List {
		r.Wrong(n, path, "write a list, [] for none")
		return nil
	}
	if !CheckMost(r, n, path, len(n.Items), of.Most) {
		return nil
	}
	list := make([]E, len(n.Items))
	for i, item := range n.Items {
		if item.Kind == yamldoc.Unreadable {
			continue
		}
		below, keys := of.Step(item, path, i), of.Keys(&list[i])
		if r.Members(item, below, keys, UnknownKey) {
			r.Missing(item, below, keys)
			if of.Finish != nil {
				of.Finish(r, item, below, &list[i])
			}
		}
	}
	return list
}

// Step is the path of an item: by its name where it has one.
func (of Items[E]) Step(item *yamldoc.Node, path *yamldoc.Path, i int) *yamldoc.Path {
	if name := item.Member(of.Name); name != nil && name.Kind == yamldoc.Text && of.Fits(name.Text) {
		return path.Key(name.Text)
	}
	return path.Item(i)
}
