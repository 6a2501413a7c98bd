package cli

import (
	"fmt"
	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/server/settings/yamldoc"
	"slices"
	"strings"
	"unicode/utf8"
)

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

// fixedKey may be given, and only as it is.
func fixedKey(name, value string) configKey {
	return configKey{
		name: name, takes: value, form: func() map[string]any { return map[string]any{"const": value} },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Text || n.Text != value {
				r.faults.Add(n.At, path, yamldoc.Fault{Reason: "cannot be changed", Got: n.Shown(), Want: "write " + value + " or leave it out"})
			}
		},
		show: func() any { return value },
	}
}

// wordKey is one of some words. Its zero value stands for "not said" and is shown as null.
func wordKey[T ~string](name string, target *T, words ...T) configKey {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	return configKey{
		name: name, takes: yamldoc.Alternatives(names), form: func() map[string]any { return map[string]any{"enum": textValues(names)} },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if word, ok := r.word(n, path, names); ok {
				*target = T(word)
			}
		},
		show: func() any {
			if *target == "" {
				return nil
			}
			return string(*target)
		},
	}
}

// textKey is any text that check has nothing against. The fault that check returns never repeats the text.
func textKey(name string, target *string, check func(string) yamldoc.Fault) configKey {
	return configKey{
		name: name, takes: "text", form: func() map[string]any { return textForm },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Text {
				r.wrong(n, path, "write text in quotes")
				return
			}
			if f := check(n.Text); f.Reason != "" {
				r.faults.Add(n.At, path, f)
				return
			}
			*target = n.Text
		},
		show: func() any { return *target },
	}
}

func boolKey(name string, target *bool) configKey {
	return configKey{
		name: name, takes: "true or false", form: func() map[string]any { return map[string]any{"type": "boolean"} },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Bool {
				r.wrong(n, path, boolWords(n))
				return
			}
			*target = n.Flag
		},
		show: func() any { return *target },
	}
}

// lineKey is text that people read, in which no character plays tricks; also are control characters that may stand in it.
func lineKey(name string, target *string, most int, also string) configKey {
	return shortTextKey(name, target, most, func(text string) yamldoc.Fault { return faultOfCharacters(text, also) })
}

// faultOfCharacters refuses what shows text otherwise than it is: control and bidi characters.
func faultOfCharacters(text, also string) yamldoc.Fault {
	for _, c := range text {
		if strings.ContainsRune(also, c) || printable.Text(string(c)) == string(c) {
			continue
		}
		return yamldoc.Fault{Reason: fmt.Sprintf("the character U+%04X, which is not seen or turns text around", c), Want: "leave it out"}
	}
	return yamldoc.Fault{}
}

// shortTextKey is a line for people that may be not set, of at most so many characters.
func shortTextKey(name string, target *string, most int, also func(string) yamldoc.Fault) configKey {
	key := optionalTextKey(name, target, func(text string) yamldoc.Fault {
		switch {
		case ijson.Blank(text):
			return yamldoc.Fault{Reason: "blank", Want: "write text, or leave the key out"}
		case utf8.RuneCountInString(text) > most:
			return yamldoc.Fault{Reason: "too long", Got: yamldoc.NumberText(float64(utf8.RuneCountInString(text))) + " characters", Want: "write at most " + yamldoc.NumberText(float64(most))}
		}
		return also(text)
	})
	key.takes = "text, at most " + yamldoc.NumberText(float64(most)) + " characters"
	return key.as(map[string]any{"type": "string", "minLength": 1.0, "maxLength": float64(most)})
}

// optionalTextKey is a textKey that may be not set, which is shown as null.
func optionalTextKey(name string, target *string, check func(string) yamldoc.Fault) configKey {
	key := textKey(name, target, check)
	key.show = func() any {
		if *target == "" {
			return nil
		}
		return *target
	}
	return key
}

// word reads one of some words.
func (r *configReader) word(n *yamldoc.Node, path *yamldoc.Path, words []string) (string, bool) {
	if n.Kind != yamldoc.Text {
		r.wrong(n, path, "write "+yamldoc.Alternatives(words))
		return "", false
	}
	if !slices.Contains(words, n.Text) {
		r.faults.Add(n.At, path, yamldoc.Fault{
			Reason: "unknown word", Got: yamldoc.Quoted(n.Text), Want: "write " + yamldoc.Alternatives(words), DidYouMean: catalog.Near(n.Text, words),
		})
		return "", false
	}
	return n.Text, true
}

// boolWords tells who wrote a word of YAML 1.1 which one is meant.
func boolWords(n *yamldoc.Node) string {
	switch strings.ToLower(n.Text) {
	case "yes", "on", "y", "true":
		return "write true"
	case "no", "off", "n", "false":
		return "write false"
	}
	return "write true or false"
}

var toolName = lazily(`^[a-zA-Z0-9_-]{1,64}$`)

// spelledKey is a text that is spelled by a rule.
func spelledKey(name string, target *string, rule nameRule) configKey {
	key := optionalTextKey(name, target, func(text string) yamldoc.Fault {
		if !rule.fits.MatchString(text) {
			return yamldoc.Fault{Reason: "not a name", Got: yamldoc.Quoted(text), Want: rule.want}
		}
		return yamldoc.Fault{}
	})
	key.takes = "a name"
	return key.as(map[string]any{"type": "string", "pattern": rule.fits.String()})
}

// shortKey is a line for people that may be not set.
func shortKey(name string, target *string, most int) configKey {
	key := optionalTextKey(name, target, func(text string) yamldoc.Fault {
		switch {
		case ijson.Blank(text):
			return yamldoc.Fault{Reason: "blank", Want: "write text, or leave the key out"}
		case utf8.RuneCountInString(text) > most:
			return yamldoc.Fault{Reason: "too long", Got: yamldoc.NumberText(float64(utf8.RuneCountInString(text))) + " characters", Want: "write at most " + yamldoc.NumberText(float64(most))}
		}
		return yamldoc.Fault{}
	})
	key.takes = "text, at most " + yamldoc.NumberText(float64(most)) + " characters"
	return key.as(map[string]any{"type": "string", "minLength": 1.0, "maxLength": float64(most)})
}

// oneToolKey is the name of one tool. Whether there is one is seen once the whole file was read.
func oneToolKey(name string, target *string) configKey {
	key := optionalTextKey(name, target, func(text string) yamldoc.Fault {
		if !toolName.MatchString(text) {
			return yamldoc.Fault{Reason: "not a name", Got: yamldoc.Quoted(text), Want: toolNames.want}
		}
		return yamldoc.Fault{}
	})
	key.takes = "a tool's name"
	return key.as(nameForm)
}
