package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// A pageKey is one key as the page of the configuration shows it.
type pageKey struct {
	path  string // from the root of the file, with NAME for the names that the file chooses
	takes string
	value string // the default; empty if there is none
	means string
	kinds []string // the kinds of pattern that have the key; nil outside patterns
	first string   // the default for the first of them
}

// A keyPage writes docs/config.md again. A line "<!-- keys PREFIX -->" is above the list of the keys below PREFIX. A key belongs to
// the longest prefix of the page; the line without a prefix has all others. A line with two prefixes has the keys that both places have.
type keyPage struct {
	t       *testing.T
	general []pageKey
	pattern []pageKey // of patterns.NAME, with kinds
	budget  []pageKey // of patterns.NAME.budget, one row for each kind
	claimed [][]string
}

var keysMark = regexp.MustCompile(`^<!-- keys ?(.*) -->$`)

// write returns the page with new lists.
func (p *keyPage) write(page string) string {
	lines := strings.Split(page, "\n")
	for _, line := range lines {
		if m := keysMark.FindStringSubmatch(line); m != nil {
			p.claimed = append(p.claimed, strings.Fields(m[1]))
		}
	}
	var out []string
	for at := 0; at < len(lines); at++ {
		out = append(out, lines[at])
		table := p.table(lines[at])
		if table == nil {
			continue
		}
		if len(table) == 0 {
			p.t.Errorf("docs/config.md: no key is below %s", lines[at])
		}
		out = append(out, table...)
		for at+1 < len(lines) && lines[at+1] != "" {
			at++
		}
	}
	return strings.Join(out, "\n")
}

// table returns the list that belongs below this line; nil if none does.
func (p *keyPage) table(line string) []string {
	switch line {
	case "<!-- pattern -->":
		return keyTable("patterns.NAME", p.pattern, true)
	case "<!-- limits of one kind -->":
		return keyTable("patterns.NAME.budget", p.limits(false), true)
	case "<!-- limits of every kind -->":
		return p.everyLimit()
	case "<!-- built-in -->":
		return builtinTable(p.t)
	}
	m := keysMark.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	prefixes := strings.Fields(m[1])
	if len(prefixes) == 2 {
		return keyTable(prefixes[0], p.shared(prefixes), false)
	}
	var rows []pageKey
	for _, row := range p.general {
		if slices.Equal(p.owner(row.path), prefixes) {
			rows = append(rows, row)
		}
	}
	return keyTable(strings.Join(prefixes, ""), rows, false)
}

// owner returns the prefixes of the line under which a key is listed.
func (p *keyPage) owner(path string) (owner []string) {
	longest := -1
	for _, prefixes := range p.claimed {
		for _, prefix := range prefixes {
			if rest, below := strings.CutPrefix(path, prefix+"."); below && len(prefix) >= longest {
				if len(prefixes) == 2 && !p.inAll(prefixes, rest) {
					continue
				}
				if len(prefix) > longest || len(prefixes) == 2 {
					owner, longest = prefixes, len(prefix)
				}
			}
		}
	}
	return owner
}

// inAll reports whether each of the prefixes has a key of this name.
func (p *keyPage) inAll(prefixes []string, name string) bool {
	for _, prefix := range prefixes {
		if !slices.ContainsFunc(p.general, func(r pageKey) bool { return r.path == prefix+"."+name }) {
			return false
		}
	}
	return true
}

// shared returns the keys that two places have, once each. Where they differ, the row says both: first the first place's.
func (p *keyPage) shared(prefixes []string) []pageKey {
	var rows []pageKey
	for _, row := range p.general {
		name, below := strings.CutPrefix(row.path, prefixes[0]+".")
		if !below || !slices.Equal(p.owner(row.path), prefixes) {
			continue
		}
		for _, other := range p.general {
			if other.path != prefixes[1]+"."+name {
				continue
			}
			if other.value != row.value {
				row.value = cellOr(row.value, "not set") + "; HTTP: " + cellOr(other.value, "not set")
			}
			if !strings.HasPrefix(row.means, other.means) {
				row.means += " HTTP: " + strings.TrimPrefix(other.means, sentencesBoth(row.means, other.means))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// sentencesBoth returns the whole sentences with which both texts begin.
func sentencesBoth(a, b string) string {
	same := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == ' ' && a[i-1] == '.' {
			same = i + 1
		}
	}
	return b[:same]
}

func cellOr(text, empty string) string {
	if text == "" {
		return empty
	}
	return text
}

// limits returns the limits that every kind has, once each, or those that only some have.
func (p *keyPage) limits(ofAll bool) []pageKey {
	kinds := map[string]int{}
	for _, row := range p.budget {
		kinds[row.path]++
	}
	var rows []pageKey
	for _, row := range p.budget {
		switch all := kinds[row.path] == len(OwnKinds); {
		case all != ofAll:
		case !all || row.kinds[0] == OwnKinds[0]:
			rows = append(rows, row)
		}
	}
	return rows
}

// everyLimit lists the limits that every kind has, with the default of each kind.
func (p *keyPage) everyLimit() []string {
	var rows []string
	for _, limit := range p.limits(true) {
		var values []string // in the order of kinds, each once
		kinds := map[string][]string{}
		for _, kind := range OwnKinds {
			for _, of := range p.budget {
				if of.path != limit.path || of.kinds[0] != kind {
					continue
				}
				if kinds[of.value] == nil {
					values = append(values, of.value)
				}
				kinds[of.value] = append(kinds[of.value], kind)
			}
		}
		// The most common value is first, without its kinds.
		slices.SortStableFunc(values, func(a, b string) int { return len(kinds[b]) - len(kinds[a]) })
		for i, value := range values {
			if i > 0 {
				values[i] = strings.Join(kinds[value], ", ") + ": " + value
			}
		}
		limit.value = strings.Join(values, "; ")
		rows = append(rows, limit.item("patterns.NAME.budget", false))
	}
	return rows
}

// keyTable lists keys, which are named from the prefix on.
func keyTable(prefix string, keys []pageKey, kinds bool) []string {
	var rows []string
	for _, k := range keys {
		rows = append(rows, k.item(prefix, kinds))
	}
	return rows
}

// item is the line of a key: its name, what it takes, its default and what it does.
func (k pageKey) item(prefix string, kinds bool) string {
	var about []string
	if words := kindWords(k.kinds); kinds && words != "" {
		about = append(about, words)
	}
	about = append(about, k.takes)
	switch {
	case k.value == "":
	case strings.HasPrefix(k.value, "required"):
		about = append(about, k.value)
	default:
		about = append(about, "default "+k.value)
	}
	return fmt.Sprintf("- `%s` (%s): %s", strings.TrimPrefix(strings.TrimPrefix(k.path, prefix), "."), strings.Join(about, "; "), k.means)
}

// rowsOf returns a row for each key below a path.
func rowsOf(t *testing.T, above *yamldoc.Path, keys []grammar.Key) (rows []pageKey) {
	for _, k := range keys {
		path := above.Key(k.Name)
		if group, isGroup := k.Show().([]grammar.Key); isGroup && k.Meaning == "" && k.Below == nil {
			rows = append(rows, rowsOf(t, path, group)...)
			continue
		}
		row := pageKey{path: path.String(), takes: k.Takes, value: strings.TrimPrefix(defaultWords(k), "not set"), means: strings.TrimSuffix(k.Meaning, " Required.")}
		if strings.Contains(row.value, "not set") { // a mapping without a member
			row.value = ""
		}
		below := k.Below != nil && !k.Brief
		if below {
			row.value = map[bool]string{true: "required"}[k.Required != ""]
		}
		if m := notSet.FindStringSubmatchIndex(row.means); m != nil && slices.Contains([]string{"", "`[]`", "`none`"}, row.value) {
			row.value = row.means[m[2]:m[3]]
			row.means = strings.TrimSpace(row.means[:m[0]] + " " + row.means[m[1]:])
		}
		if row.means == "" || row.takes == "" || strings.ContainsAny(row.means, "|\n") {
			t.Errorf("the key %s takes %q and means %q; want a line of each: append .Means(\"...\") where its table declares it", path, k.Takes, k.Meaning)
		}
		for _, v := range variables {
			if v.Path == row.path {
				row.means += " Environment: `" + v.Name + "`."
			}
		}
		rows = append(rows, row)
		if below {
			if k.Entries {
				path = path.Key("NAME")
			}
			rows = append(rows, rowsOf(t, path, k.Below())...)
		}
	}
	return rows
}

// notSet is a sentence that says what holds if a key is not set.
var notSet = regexp.MustCompile(` ?Not set: (.*?)\.( |$)`)

// patternRows returns the keys of patterns of every kind, once each, and the limits of each kind.
func patternRows(t *testing.T) (keys, budget []pageKey) {
	above := (*yamldoc.Path)(nil).Key("patterns").Key("NAME")
	for _, kind := range OwnKinds {
		own := newPattern("NAME", gateway.Kind(kind), grammar.Position{})
		at := 0
		for _, row := range rowsOf(t, above, own.Keys(nil)) {
			row.kinds, row.first = []string{kind}, row.value
			switch i := slices.IndexFunc(keys, func(k pageKey) bool { return k.path == row.path }); {
			case strings.HasPrefix(row.path, "patterns.NAME.budget."):
				budget = append(budget, row)
			case row.path == "patterns.NAME.kind":
			case i < 0: // behind the key that stands before it in this kind
				keys = slices.Insert(keys, at, row)
				at++
			default:
				keys[i].join(row)
				at = i + 1
			}
		}
	}
	return keys, budget
}

// join adds a kind to a row, with what is otherwise in it.
func (k *pageKey) join(other pageKey) {
	kind := other.kinds[0]
	k.kinds = append(k.kinds, kind)
	if k.first != other.value {
		k.value += "; " + kind + ": " + cellOr(other.value, "not set")
	}
	if !strings.HasPrefix(k.means, other.means) {
		k.means += " Kind " + kind + ": " + other.means
	}
}

// builtinTable lists the defaults of each built-in pattern that differ from those of its kind.
func builtinTable(t *testing.T) []string {
	var rows []string
	c := embedded(t)
	for i := range c.Patterns {
		p := &c.Patterns[i]
		own := newPattern("NAME", p.Kind, grammar.Position{})
		of := map[string]string{}
		above := (*yamldoc.Path)(nil)
		for _, row := range rowsOf(t, above, own.Keys(nil)) {
			of[row.path] = row.value
		}
		var words []string
		for _, row := range rowsOf(t, above, p.Keys(nil)) {
			switch row.path {
			case "description", "allow.policy", "allow.execution":
				continue
			}
			if value := cellOr(row.value, "not set"); row.value != of[row.path] {
				words = append(words, "`"+row.path+"`: "+value)
			}
		}
		if inputs := inputNames(p); len(inputs) > 0 {
			words = append(words, "`input`: `"+strings.Join(inputs, "`, `")+"`")
		}
		rows = append(rows, fmt.Sprintf("- `%s`, of kind %s: %s", p.Name, p.Kind, strings.Join(words, "; ")))
	}
	return rows
}

// inputNames returns the names of a pattern's own arguments.
func inputNames(p *Pattern) (names []string) {
	for _, k := range p.Keys(nil) {
		text, _ := k.Show().(json.RawMessage)
		if arguments, ok := grammar.RawValue(text).(map[string]any); ok && k.Name == "input" {
			names = slices.Sorted(maps.Keys(arguments))
		}
	}
	return names
}

// readPage returns a page of docs.
func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// kindWords says which kinds have a key: "only A, B" or "not C"; empty if all have it.
func kindWords(some []string) string {
	missing := slices.DeleteFunc(slices.Clone(OwnKinds), func(k string) bool { return slices.Contains(some, k) })
	switch {
	case len(missing) == 0:
		return ""
	case len(missing) < 3:
		return "not " + strings.Join(missing, ", ")
	}
	return "only " + strings.Join(some, ", ")
}
