package cli

import "patterngate/server/settings/yamldoc"

// nameRule is how the names of entries are spelled.
type nameRule struct {
	fits *lazyPattern
	want string
}

var (
	toolNames   = nameRule{toolName, "write a name: 1 to 64 letters, digits, _ and -"}
	serverNames = nameRule{lazily(`^[a-z][a-z0-9_]{0,63}$`), "write a name: a small letter, then up to 63 small letters, digits and _"}
	// A server calls its tools as it likes; what does not fit here is given another name with `as`.
	upstreamNames  = nameRule{lazily(`^[\x21-\x7e]{1,256}$`), "write the tool's name as its server spells it"}
	argumentNames  = nameRule{lazily(`^[^\x00-\x1f\x7f]{1,256}$`), "write the name of an argument"}
	headerNames    = nameRule{lazily("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$"), "write a header's name: letters, digits and -"}
	variableNames  = nameRule{lazily(`^[^=\x00-\x1f\x7f]{1,256}$`), "write the name of an environment variable"}
	queryNames     = nameRule{lazily(`^[^\x00-\x1f\x7f]{1,256}$`), "write the name of a query parameter"}
	referenceNames = lazily(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// entries are values of one shape under names that the file chooses.
type entries[E any] struct {
	names nameRule
	named func(*E) string
	// fresh is an entry of which nothing was said.
	fresh func(name string, at Position) E
	keys  func(*E) []configKey
	// off reports an entry that is as if it were not declared: only what is said of it is checked. nil: none is.
	off func(*E) bool
	// finish sees an entry that was read whole. nil: nothing is left to do.
	finish func(r *configReader, n *yamldoc.Node, path *yamldoc.Path, entry *E)
}

// key is the mapping of such entries, kept in the order of the file.
func (of entries[E]) key(name string, list *[]E) configKey {
	return configKey{
		name: name, entries: true,
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) { *list = of.read(r, n, path) },
		show: func() any {
			shown := make([]configKey, len(*list))
			for i := range *list {
				e := &(*list)[i]
				shown[i] = groupKey(of.named(e), of.keys(e)...)
			}
			return shown
		},
		below: func() []configKey {
			e := of.fresh("NAME", Position{})
			return of.keys(&e)
		},
	}
}

func (of entries[E]) read(r *configReader, n *yamldoc.Node, path *yamldoc.Path) []E {
	var list []E
	r.each(n, path, of.names, func(m yamldoc.Member, below *yamldoc.Path) {
		e := of.fresh(m.Key, Position{m.At.Line, m.At.Column})
		keys := of.keys(&e)
		if !r.members(m.Value, below, keys, unknownKey) {
			return
		}
		if of.off == nil || !of.off(&e) {
			r.missing(m.Value, below, keys)
		}
		if of.finish != nil {
			of.finish(r, m.Value, below, &e)
		}
		list = append(list, e)
	})
	return list
}

// each goes through a mapping whose names the file chooses, past those that are null or could not be read.
func (r *configReader) each(n *yamldoc.Node, path *yamldoc.Path, names nameRule, do func(m yamldoc.Member, below *yamldoc.Path)) {
	if n.Kind != yamldoc.Mapping {
		r.wrong(n, path, "write a mapping of names, {} for none")
		return
	}
	for _, m := range n.Members {
		below := path.Key(m.Key)
		switch {
		case !names.fits.MatchString(m.Key):
			r.faults.Add(m.At, below, yamldoc.Fault{Reason: "not a name", Want: names.want})
		case m.Value.Kind != yamldoc.Null && m.Value.Kind != yamldoc.Unreadable:
			r.places[below.String()] = m.Value.At
			do(m, below)
		}
	}
}

// heldKey is a mapping that is there only where the file has it, and replaced whole.
func heldKey[T any](name string, target **T, fresh func() T, keys func(*T) []configKey) configKey {
	return configKey{
		name: name,
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			value := fresh()
			r.group(n, path, keys(&value), unknownKey)
			*target = &value
		},
		show: func() any {
			if *target == nil {
				return nil
			}
			return keys(*target)
		},
		below: func() []configKey {
			value := fresh()
			return keys(&value)
		},
	}
}

// list reads a list, past items that could not be read; false where it is none.
func (r *configReader) list(n *yamldoc.Node, path *yamldoc.Path, do func(item *yamldoc.Node, at *yamldoc.Path)) bool {
	if n.Kind != yamldoc.List {
		r.wrong(n, path, "write a list, [] for none")
		return false
	}
	for i, item := range n.Items {
		if item.Kind != yamldoc.Unreadable {
			do(item, path.Item(i))
		}
	}
	return true
}

// toolListKey is a list of tools. Whether there are such tools is seen once the whole file was read.
func toolListKey(name string, target *[]string) configKey {
	return configKey{
		name: name, takes: "a list of names", form: func() map[string]any { return listForm(nameForm) },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind == yamldoc.Text && toolName.MatchString(n.Text) {
				r.wrong(n, path, "write a list: ["+n.Text+"]")
				return
			}
			names := []string{}
			ok := r.list(n, path, func(item *yamldoc.Node, at *yamldoc.Path) {
				if item.Kind != yamldoc.Text || !toolName.MatchString(item.Text) {
					r.faults.Add(item.At, at, yamldoc.Fault{Reason: "not a name", Got: item.Shown(), Want: toolNames.want})
					return
				}
				names = append(names, item.Text)
			})
			if ok {
				*target = names
			}
		},
		show: func() any { return *target },
	}
}

// expressionsKey is a mapping of names to CEL; nil where nothing was said.
func expressionsKey(name string, target *[]NamedExpression, names nameRule) configKey {
	return configKey{
		name: name, takes: "a mapping of names to CEL", form: func() map[string]any { return mapForm(expressionForm) },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			list := []NamedExpression{}
			r.each(n, path, names, func(m yamldoc.Member, below *yamldoc.Path) {
				if text, ok := r.expression(m.Value, below); ok {
					list = append(list, NamedExpression{m.Key, text})
				}
			})
			*target = list
		},
		show: func() any { return objectOfTexts(*target) },
	}
}

// maxExpression is how long an expression may be, in bytes.
const maxExpression = 8 << 10

// expressionKey is CEL, as text. What it says is judged where it is compiled.
func expressionKey(name string, target *string) configKey {
	return configKey{
		name: name, takes: "CEL, as text", form: func() map[string]any { return expressionForm },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if text, ok := r.expression(n, path); ok {
				*target = text
			}
		},
		show: func() any { return orNil(*target) },
	}
}

func (r *configReader) expression(n *yamldoc.Node, path *yamldoc.Path) (string, bool) {
	switch {
	case n.Kind != yamldoc.Text:
		r.wrong(n, path, "write an expression in quotes")
	case blankText(n.Text):
		r.faults.Add(n.At, path, yamldoc.Fault{Reason: "blank", Want: "write an expression, or leave the key out"})
	case len(n.Text) > maxExpression:
		r.faults.Add(n.At, path, yamldoc.Fault{Reason: "too long", Got: yamldoc.NumberText(float64(len(n.Text))) + " bytes", Want: "write at most " + yamldoc.NumberText(maxExpression)})
	default:
		return n.Text, true
	}
	return "", false
}

// orNil is a text, or nil for none.
func orNil[T ~string](text T) any {
	if text == "" {
		return nil
	}
	return string(text)
}

// need says that the key may not be left out, and what is missing then.
func (k configKey) need(want string) configKey {
	k.required = want
	return k
}
