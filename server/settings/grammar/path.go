package grammar

import (
	"path/filepath"
	"strings"

	"patterngate/server/settings/yamldoc"
)

// Path is the path of a file. In a configuration file it starts at that file's directory.
func Path(name string, target *string) Key {
	return Key{
		Name: name, Takes: "a path; a relative one starts at the file's directory", Form: func() map[string]any { return TextForm },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Text {
				r.Wrong(n, path, "write text in quotes")
				return
			}
			*target = FilePath(r, n)
		},
		Show: func() any { return *target },
	}
}

// FilePath is where a path leads from the place at which it stands.
func FilePath(r *Reader, n *yamldoc.Node) string {
	path := n.Text
	switch {
	case path == "":
		return ""
	case strings.HasPrefix(path, "~/") && r.Home != nil:
		return r.Home(path)
	case n.At.Line == 0 || filepath.IsAbs(path): // a flag's or variable's starts where the program does
		return path
	}
	return filepath.Join(filepath.Dir(n.At.Source), path)
}

// Texts is a list of texts of one form, which want words.
func Texts(name string, target *[]string, is func(string) bool, want string) Key {
	return Key{
		Name: name, Takes: "a list, each item " + want, Form: func() map[string]any { return ListForm(TextForm) },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.List {
				r.Wrong(n, path, "write a list, [] for none")
				return
			}
			list := make([]string, 0, len(n.Items))
			for i, item := range n.Items {
				if item.Kind != yamldoc.Unreadable && (item.Kind != yamldoc.Text || !is(item.Text)) {
					r.Faults.Add(item.At, path.Item(i), yamldoc.Fault{Reason: "another form", Got: item.Shown(), Want: "write " + want})
					continue
				}
				list = append(list, item.Text)
			}
			*target = list
		},
		Show: func() any { return *target },
	}
}

const ExecMember = "exec"

const maxCommandWords = 16

const maxCommandBytes = 4 << 10 // of all words together

// ReadCommand reads a program and its arguments.
func ReadCommand(r *Reader, n *yamldoc.Node, path *yamldoc.Path) ([]string, bool) {
	if n.Kind != yamldoc.List {
		r.Wrong(n, path, "write a list: [program, argument]; no shell reads it")
		return nil, false
	}
	words, size, ok := make([]string, 0, len(n.Items)), 0, true
	for i, item := range n.Items {
		switch {
		case item.Kind == yamldoc.Unreadable:
			ok = false
		case item.Kind != yamldoc.Text || strings.Contains(item.Text, "\x00"):
			r.Faults.Add(item.At, path.Item(i), yamldoc.Fault{Reason: "not a word", Got: item.Shown(), Want: "write text in quotes"})
			ok = false
		default:
			words, size = append(words, item.Text), size+len(item.Text)
		}
	}
	if ok && (len(words) == 0 || len(words) > maxCommandWords || size > maxCommandBytes) {
		r.Faults.Add(n.At, path, yamldoc.Fault{Reason: "out of range", Got: yamldoc.NumberText(float64(len(words))) + " words of " + yamldoc.NumberText(float64(size)) + " bytes",
			Want: "write 1 to " + yamldoc.NumberText(maxCommandWords) + " words of at most " + yamldoc.NumberText(maxCommandBytes) + " bytes together"})
		return nil, false
	}
	if ok && strings.HasPrefix(words[0], "~/") && r.Home != nil {
		words[0] = r.Home(words[0])
	}
	return words, ok
}

const MaxCount = 10_000

const MaxSeconds = 86_400 // seconds

// OnePolicy is the name of a policy. Whether there is one is seen once the whole file was read.
func OnePolicy(name string, target *string) Key {
	key := Spelled(name, target, ServerNames)
	key.Takes = "a policy's name"
	return key
}

// AbsolutePath is where a path leads from the file in which it stands, whatever the present directory becomes.
func AbsolutePath(r *Reader, n *yamldoc.Node) string {
	path := FilePath(r, n)
	if path == "" || n.At.Source == "" { // of a snapshot: as it was
		return path
	}
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}
