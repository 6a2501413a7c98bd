package catalog

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"patterngate/ijson"
)

// withinKeyword is Patterngate's own keyword: a text is a path inside this directory, or a list contains such paths. It
// is allowed only in a bound.
const withinKeyword = "within"

// InsideDirectory reports whether a path is in a directory. It compares texts only: it reads no file and follows no
// symbolic link. The path is absolute, or relative to the directory. It is cleaned first: "//" and "/./" count as "/".
//
// InsideDirectory also returns false for a path that servers read in more than one way:
//   - an empty path, and one with blanks around it
//   - a path with "..", a backslash, or a slash of another alphabet
//   - a path with a control or invisible character, or a % code such as %2e
//   - a path that begins with "~" or "$", or with a word and a colon ("file:", a drive)
func InsideDirectory(dir, text string) bool {
	dir, ok := cleanDirectory(dir)
	if !ok || !plainPath(text) {
		return false
	}
	if strings.HasPrefix(text, "/") || drive.MatchString(text) {
		return strings.HasPrefix(path.Clean(text)+"/", dir+"/")
	}
	first, _, _ := strings.Cut(text, "/")
	return !strings.HasPrefix(first, "~") && !strings.HasPrefix(first, "$") && !strings.Contains(first, ":")
}

var (
	drive       = regexp.MustCompile(`^[A-Za-z]:/`)
	wholeDrive  = regexp.MustCompile(`^[A-Za-z]:$`)
	percentCode = regexp.MustCompile(`%([0-9A-Fa-f]{2}|[uU])`)
)

// cleanDirectory returns the cleaned directory of a bound and reports whether it is valid. It must be absolute and not
// the root, which contains everything.
func cleanDirectory(dir string) (string, bool) {
	absolute := strings.HasPrefix(dir, "/") || drive.MatchString(dir)
	clean := path.Clean(dir)
	return clean, absolute && plainPath(dir) && clean != "/" && !wholeDrive.MatchString(clean)
}

// plainPath reports whether every server reads a path in the same way.
func plainPath(text string) bool {
	return text != "" && strings.TrimSpace(text) == text && !strings.ContainsAny(text, slashes) && !strings.ContainsFunc(text, unseen) && !percentCode.MatchString(text) &&
		!slices.ContainsFunc(strings.Split(text, "/"), leadsUp)
}

// slashes are the backslash and the characters that some systems turn into it or into a slash.
const slashes = "\\\uff0f\uff3c\ufe68\u2044\u2215\u29f8\u29f5\u2216"

// unseen reports whether a character is invisible, so that some systems drop it. These are control and format
// characters, line and paragraph separators, and variation selectors.
func unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector)
}

// leadsUp reports whether a segment is "..", or a form that some systems read as "..". Such a form has blanks, more
// dots, dots of other alphabets, or parameters after the dots (..;x).
func leadsUp(segment string) bool {
	segment, _, _ = strings.Cut(segment, ";")
	segment = strings.TrimFunc(segment, unicode.IsSpace)
	return segment != "." && segment != "" && strings.Trim(segment, ".\u2024\u2025\u2026\ufe52\uff0e\uff61\u3002 \t") == ""
}

// directory reads the keyword within: one directory that can bound a path.
func (k keyword) directory() json.RawMessage {
	if _, ok := cleanDirectory(k.text()); !ok {
		k.fault(notBoundingDirectory, wantDirectory)
	}
	return k.value
}

// splitWithin separates the directories from bounds. The rest is JSON schema; its descriptions name the directories.
func (s *Schema) splitWithin(bounds map[string]json.RawMessage) (rest map[string]json.RawMessage, within map[string]string) {
	rest, within = make(map[string]json.RawMessage, len(bounds)), map[string]string{}
	for name, bound := range bounds {
		list := membersOf(bound)
		at := slices.IndexFunc(list, func(m member) bool { return m.name == withinKeyword })
		if at < 0 {
			rest[name] = bound
			continue
		}
		within[name], _ = cleanDirectory(list[at].text())
		list = slices.Delete(list, at, at+1)
		words := memberAt(&list, "description", `""`)
		said := words.text()
		if p := s.root().properties[name]; said == "" && p != nil {
			said = p.description
		}
		words.value = ijson.Append(nil, strings.TrimSpace(withinWords(within[name], "")+". "+said))
		rest[name] = objectOf(list)
	}
	return rest, within
}

// withinWords describes the paths that are allowed.
func withinWords(dir, but string) string {
	return pathInside(dir, but)
}

// outsideDirectories returns a mismatch for each path outside of the directory of its bound. It checks each item of a
// list.
func (s *Schema) outsideDirectories(v any) (wrong []Mismatch) {
	object, _ := v.(map[string]any)
	for _, name := range s.root().names {
		dir, bounded := s.within[name]
		value, given := object[name]
		if !bounded || !given {
			continue
		}
		wrong = append(wrong, pathsOutside(ijson.Pointer("").Member(name), dir, value)...)
	}
	return wrong
}

// pathsOutside checks one argument.
func pathsOutside(at ijson.Pointer, dir string, v any) (wrong []Mismatch) {
	items, isList := v.([]any)
	if !isList {
		return outsideDirectory(at, dir, v)
	}
	for i, item := range items {
		wrong = append(wrong, outsideDirectory(at.Index(i), dir, item)...)
	}
	return wrong
}

func outsideDirectory(at ijson.Pointer, dir string, v any) []Mismatch {
	text, isText := v.(string)
	if isText && InsideDirectory(dir, text) {
		return nil
	}
	want := "a" + withinWords(dir, withoutDots)[1:]
	return []Mismatch{{Pointer: at, Kind: MismatchValue, Want: oneLine(want)}}
}

// pathNames matches names of arguments that contain paths.
var pathNames = regexp.MustCompile(`(?i)(path|file|dir|folder|root)`)

// EscapingBounds returns warnings for bounds that should keep a path inside a directory and do not, with a bound to use
// instead. The text is one that [CompileBounds] accepts.
func EscapingBounds(text json.RawMessage) []SchemaFault {
	w := &writing{}
	for _, a := range (&writing{}).arguments(text) {
		w.escapes(ijson.Pointer("").Member(a.name), a.name, member{a.name, a.schema})
	}
	return w.list()
}

// escapes warns of a pattern that restricts only the beginning of a path: "/../" leads out of the directory again.
func (w *writing) escapes(at ijson.Pointer, name string, bound member) {
	for _, m := range membersOf(bound.value) { // none if the bound is not a schema
		switch {
		case m.name == "items" && m.value[0] == '{':
			w.escapes(at.Member(m.name), name, m)
		case m.name == "pattern":
			if dir := directoryOf(name, m.text()); dir != "" {
				want := wantWithin(name, dir)
				if !strings.HasPrefix(dir, "/") {
					want = wantAbsoluteWithin(name, dir)
				}
				w.warn(at.Member(m.name), m.value, patternEscapes(dir), want)
			}
		}
	}
}

// directoryOf returns the directory at the beginning of a pattern if a path that leaves the directory fits the pattern
// too. Otherwise it returns "".
func directoryOf(name, pattern string) string {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return ""
	}
	literal := strings.TrimPrefix(strings.TrimPrefix(pattern, "^"), `\A`)
	begins, err := regexp.Compile(literal)
	if err != nil {
		return ""
	}
	prefix, _ := begins.LiteralPrefix()
	absolute := strings.HasPrefix(prefix, "/") && strings.LastIndexByte(prefix, '/') > 0
	if !absolute && !(pathNames.MatchString(name) && strings.Contains(prefix, "/")) {
		return ""
	}
	dir := prefix[:strings.LastIndexByte(prefix, '/')]
	if compiled.MatchString(prefix+"/../x") && wordEnd.MatchString(prefix) {
		dir = prefix
	}
	ends := []string{"", "x"}
	if m := ending.FindStringSubmatch(pattern); m != nil {
		ends = append(ends, "x."+m[1])
	}
	for _, end := range ends {
		if compiled.MatchString(prefix+"../"+end) || compiled.MatchString(dir+"/../"+end) {
			return dir
		}
	}
	return ""
}

var (
	wordEnd = regexp.MustCompile(`[A-Za-z0-9]$`)
	ending  = regexp.MustCompile(`(?:\\\.|\[\.\])([A-Za-z0-9]+)\)?\$$`)
)
