package grammar

import (
	"path/filepath"
	"strings"

	"patterngate/server/settings/yamldoc"
)

// Path returns the key of a file path. A relative path in a configuration file starts at that file's directory.
func Path(name string, target *string) Key {
	return Key{
		Name: name, Takes: "path", Form: func() map[string]any { return TextForm },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Text {
				r.Wrong(n, path, wantQuoted)
				return
			}
			*target = filePath(r, n)
		},
		Show: func() any { return *target },
	}
}

// filePath returns the path that a node means: relative to its file's directory, with ~/ replaced.
func filePath(r *Reader, n *yamldoc.Node) string {
	path := n.Text
	switch {
	case path == "":
		return ""
	case strings.HasPrefix(path, "~/") && r.Home != nil:
		return r.Home(path)
	case n.At.Line == 0 || filepath.IsAbs(path): // a path of a flag or variable starts at the working directory
		return path
	}
	return filepath.Join(filepath.Dir(n.At.Source), path)
}

// Texts returns the key of a list of texts for which is returns true. want describes them.
func Texts(name string, target *[]string, is func(string) bool, want string) Key {
	return Key{
		Name: name, Takes: listOf(want), Form: func() map[string]any { return ListForm(TextForm) },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.List {
				r.Wrong(n, path, wantList)
				return
			}
			list := make([]string, 0, len(n.Items))
			for i, item := range n.Items {
				if item.Kind != yamldoc.Unreadable && (item.Kind != yamldoc.Text || !is(item.Text)) {
					r.Faults.Add(item.At, path.Item(i), yamldoc.Fault{Reason: otherForm, Got: item.Shown(), Want: "write " + want})
					continue
				}
				list = append(list, item.Text)
			}
			*target = list
		},
		Show: func() any { return *target },
	}
}

// ExecMember is the member of a mapping that holds a program and its arguments.
const ExecMember = "exec"

const maxCommandWords = 16

const maxCommandBytes = 4 << 10 // of all words together

// Command returns the key of a program and its arguments: 1 to 16 words.
func Command(name string, target *[]string) Key {
	return Key{
		Name: name, Takes: listOfWords, Form: func() map[string]any { return ListForm(TextForm) },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if words, ok := readCommand(r, n, path); ok {
				*target = words
			}
		},
		Show: func() any { return *target },
	}
}

func readCommand(r *Reader, n *yamldoc.Node, path *yamldoc.Path) ([]string, bool) {
	if n.Kind != yamldoc.List {
		r.Wrong(n, path, wantProgram)
		return nil, false
	}
	words, size, ok := make([]string, 0, len(n.Items)), 0, true
	for i, item := range n.Items {
		switch {
		case item.Kind == yamldoc.Unreadable:
			ok = false
		case item.Kind != yamldoc.Text || strings.Contains(item.Text, "\x00"):
			r.Faults.Add(item.At, path.Item(i), yamldoc.Fault{Reason: notWord, Got: item.Shown(), Want: wantQuoted})
			ok = false
		default:
			words, size = append(words, item.Text), size+len(item.Text)
		}
	}
	if ok && (len(words) == 0 || len(words) > maxCommandWords || size > maxCommandBytes) {
		r.Faults.Add(n.At, path, yamldoc.Fault{Reason: outOfRange, Got: wordsOfBytes(yamldoc.NumberText(float64(len(words))), yamldoc.NumberText(float64(size))),
			Want: wantWords(yamldoc.NumberText(maxCommandWords), yamldoc.NumberText(maxCommandBytes))})
		return nil, false
	}
	if ok && strings.HasPrefix(words[0], "~/") && r.Home != nil {
		words[0] = r.Home(words[0])
	}
	return words, ok
}

// MaxCount is the maximum of most counts.
const MaxCount = 10_000

// MaxSeconds is the maximum of most durations: one day.
const MaxSeconds = 86_400 // seconds

// OnePolicy returns the key of a policy's name. A later check finds out whether there is such a policy.
func OnePolicy(name string, target *string) Key {
	key := Spelled(name, target, ServerNames)
	key.Takes = "policy"
	return key
}

// AbsolutePath returns filePath as an absolute path, so that a later change of the working directory does not matter.
func AbsolutePath(r *Reader, n *yamldoc.Node) string {
	path := filePath(r, n)
	if path == "" || n.At.Source == "" { // a snapshot's path stays as it is
		return path
	}
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}
