package grammar

import (
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// CheckMost refuses a value with too many members. It reports whether the value is allowed.
func CheckMost(r *Reader, n *yamldoc.Node, path *yamldoc.Path, has, most int) bool {
	if has <= most {
		return true
	}
	r.Faults.Add(n.At, path, yamldoc.Fault{Reason: tooMany, Got: yamldoc.NumberText(float64(has)), Want: wantAtMost(yamldoc.NumberText(float64(most)))})
	return false
}

// Items describes a list of mappings of one shape, each named by one of its members.
type Items[E any] struct {
	Name string // of that member
	Fits func(string) bool
	Most int
	// Keys returns the keys of an item. They read and show whatever the item holds at that time.
	Keys func(*E) []Key
	// Finish checks an item after all its keys were read. nil: there is nothing to do.
	Finish func(r *Reader, n *yamldoc.Node, path *yamldoc.Path, item *E)
}

// Key returns the key of a list of such items.
func (of Items[E]) Key(name string, list *[]E) Key {
	return Key{
		Name: name, Takes: listOfMappings,
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
			var item, fresh E
			lines, keys, before := make(JSONLines, len(*list)), of.Keys(&item), of.Keys(&fresh)
			for i := range *list {
				item = (*list)[i] // the keys show it
				lines[i] = ijson.Canonical(Set(keys, before))
			}
			return lines
		},
	}
}

// read keeps every item, so that an index is the same as in the file.
func (of Items[E]) read(r *Reader, n *yamldoc.Node, path *yamldoc.Path) []E {
	if n.Kind != yamldoc.List {
		r.Wrong(n, path, wantList)
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

// Step returns the path of an item: by its name if it has one, else by its index.
func (of Items[E]) Step(item *yamldoc.Node, path *yamldoc.Path, i int) *yamldoc.Path {
	if name := item.Member(of.Name); name != nil && name.Kind == yamldoc.Text && of.Fits(name.Text) {
		return path.Key(name.Text)
	}
	return path.Item(i)
}
