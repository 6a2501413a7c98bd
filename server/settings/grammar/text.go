package grammar

import (
	"slices"
	"strings"
	"unicode/utf8"

	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/server/settings/yamldoc"
)

// Text is any text for which check returns no fault. The fault never repeats the text.
func Text(name string, target *string, check func(string) yamldoc.Fault) Key {
	return Key{
		Name: name, Takes: "text", Form: func() map[string]any { return TextForm },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Text {
				r.Wrong(n, path, wantQuoted)
				return
			}
			if f := check(n.Text); f.Reason != "" {
				r.Faults.Add(n.At, path, f)
				return
			}
			*target = n.Text
		},
		Show: func() any { return *target },
	}
}

// OptionalText is a [Text] that may be unset; that is the empty text and is shown as null.
func OptionalText(name string, target *string, check func(string) yamldoc.Fault) Key {
	key := Text(name, target, check)
	key.Show = func() any {
		if *target == "" {
			return nil
		}
		return *target
	}
	return key
}

// Short is an optional line for people, of at most so many characters.
func Short(name string, target *string, most int) Key {
	return shortText(name, target, most, func(string) yamldoc.Fault { return yamldoc.Fault{} })
}

// shortText is a [Short] with one more check.
func shortText(name string, target *string, most int, also func(string) yamldoc.Fault) Key {
	key := OptionalText(name, target, func(text string) yamldoc.Fault {
		switch {
		case ijson.Blank(text):
			return yamldoc.Fault{Reason: "blank", Want: wantTextOrNone}
		case utf8.RuneCountInString(text) > most:
			return yamldoc.Fault{Reason: tooLong, Got: yamldoc.NumberText(float64(utf8.RuneCountInString(text))) + " characters", Want: wantAtMost(yamldoc.NumberText(float64(most)))}
		}
		return also(text)
	})
	key.Takes = textUpTo(yamldoc.NumberText(float64(most)))
	return key.as(map[string]any{"type": "string", "minLength": 1.0, "maxLength": float64(most)})
}

// Line is a [Short] that refuses control and bidi characters, except those in also.
func Line(name string, target *string, most int, also string) Key {
	return shortText(name, target, most, func(text string) yamldoc.Fault { return FaultOfCharacters(text, also) })
}

// FaultOfCharacters refuses characters that are invisible or that reverse the reading direction, except those in also. It
// returns the zero Fault if there are none.
func FaultOfCharacters(text, also string) yamldoc.Fault {
	for _, c := range text {
		if strings.ContainsRune(also, c) || printable.Text(string(c)) == string(c) {
			continue
		}
		return yamldoc.Fault{Reason: hiddenCharacter(c), Want: wantRemoved}
	}
	return yamldoc.Fault{}
}

// Spelled is an optional text that follows a rule.
func Spelled(name string, target *string, rule NameRule) Key {
	key := OptionalText(name, target, func(text string) yamldoc.Fault {
		if !rule.Fits.MatchString(text) {
			return yamldoc.Fault{Reason: notName, Got: yamldoc.Quoted(text), Want: rule.Want}
		}
		return yamldoc.Fault{}
	})
	key.Takes = "name"
	return key.as(map[string]any{"type": "string", "pattern": rule.Fits.String()})
}

// OneTool is the optional name of a tool. It does not check whether there is such a tool.
func OneTool(name string, target *string) Key {
	key := OptionalText(name, target, func(text string) yamldoc.Fault {
		if !ToolName.MatchString(text) {
			return yamldoc.Fault{Reason: notName, Got: yamldoc.Quoted(text), Want: ToolNames.Want}
		}
		return yamldoc.Fault{}
	})
	key.Takes = "tool"
	return key.as(NameForm)
}

// ToolList is a list of names of tools. It does not check whether there are such tools.
func ToolList(name string, target *[]string) Key {
	return Key{
		Name: name, Takes: listOfNames, Form: func() map[string]any { return ListForm(NameForm) },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind == yamldoc.Text && ToolName.MatchString(n.Text) {
				r.Wrong(n, path, wantListOf(n.Text))
				return
			}
			names := []string{}
			ok := r.List(n, path, func(item *yamldoc.Node, at *yamldoc.Path) {
				if item.Kind != yamldoc.Text || !ToolName.MatchString(item.Text) {
					r.Faults.Add(item.At, at, yamldoc.Fault{Reason: notName, Got: item.Shown(), Want: ToolNames.Want})
					return
				}
				names = append(names, item.Text)
			})
			if ok {
				*target = names
			}
		},
		Show: func() any { return *target },
	}
}

// ToolName is how the name of a tool is spelled.
var ToolName = Lazily(`^[a-zA-Z0-9_-]{1,64}$`)

// Word is one of some words. The zero value of the target means unset and is shown as null.
func Word[T ~string](name string, target *T, words ...T) Key {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	return Key{
		Name: name, Takes: yamldoc.Alternatives(names), Form: func() map[string]any { return map[string]any{"enum": TextValues(names)} },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if word, ok := r.Word(n, path, names); ok {
				*target = T(word)
			}
		},
		Show: func() any {
			if *target == "" {
				return nil
			}
			return string(*target)
		},
	}
}

// Word reads one of some words. It returns false, and records a fault, for anything else.
func (r *Reader) Word(n *yamldoc.Node, path *yamldoc.Path, words []string) (string, bool) {
	if n.Kind != yamldoc.Text {
		r.Wrong(n, path, "write "+yamldoc.Alternatives(words))
		return "", false
	}
	if !slices.Contains(words, n.Text) {
		r.Faults.Add(n.At, path, yamldoc.Fault{
			Reason: unknownWord, Got: yamldoc.Quoted(n.Text), Want: "write " + yamldoc.Alternatives(words), DidYouMean: catalog.NearTyped(n.Text, words),
		})
		return "", false
	}
	return n.Text, true
}

// Fixed returns the key of a value that the file can repeat but not change.
func Fixed(name, value string) Key {
	return Key{
		Name: name, Takes: value, Form: func() map[string]any { return map[string]any{"const": value} },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Text || n.Text != value {
				r.Faults.Add(n.At, path, yamldoc.Fault{Reason: fixedValue, Got: n.Shown(), Want: wantValueOrNone(value)})
			}
		},
		Show: func() any { return value },
	}
}

// Bool is true or false.
func Bool(name string, target *bool) Key {
	return Key{
		Name: name, Takes: "boolean", Form: func() map[string]any { return map[string]any{"type": "boolean"} },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Bool {
				r.Wrong(n, path, BoolWords(n))
				return
			}
			*target = n.Flag
		},
		Show: func() any { return *target },
	}
}

// BoolWords says what to write in the place of a value that is no boolean. For yes, no, on and off it is the boolean that they mean.
func BoolWords(n *yamldoc.Node) string {
	switch strings.ToLower(n.Text) {
	case "yes", "on", "y", "true":
		return wantTrue
	case "no", "off", "n", "false":
		return wantFalse
	}
	return wantBool
}
