package tools

import (
	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// redactRoots are the first words that a redact pointer can have. True means that something must follow.
var redactRoots = map[string]bool{"args": true, "result": true, "input": true, "answer": false}

const redactWant = wantPointer

// RedactKey returns the key of a list of pointers to values that a record holds only as salted hashes (spec/config.md
// section 2).
func RedactKey(name string, target *[]string) grammar.Key {
	return pointersKey(name, listOfPointers, target, faultOfRedact)
}

// toolRedactKey returns the same key for one tool, which has only arguments and results.
func toolRedactKey(name string, target *[]string) grammar.Key {
	return pointersKey(name, listOfToolPointers, target, func(n *yamldoc.Node) yamldoc.Fault {
		f := faultOfRedact(n)
		if f.Reason != "" {
			return f
		}
		if first := ijson.Pointer(n.Text).Tokens()[0]; first != "args" && first != "result" {
			return yamldoc.Fault{Reason: otherRoot, Got: yamldoc.Quoted(n.Text), Want: wantToolRoot}
		}
		return yamldoc.Fault{}
	})
}

func pointersKey(name, takes string, target *[]string, wrong func(*yamldoc.Node) yamldoc.Fault) grammar.Key {
	return grammar.Key{
		Name: name, Takes: takes, Form: func() map[string]any { return grammar.ListForm(grammar.TextForm) },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.List {
				r.Wrong(n, path, wantList)
				return
			}
			list := make([]string, 0, len(n.Items))
			for i, item := range n.Items {
				switch f := wrong(item); {
				case item.Kind == yamldoc.Unreadable:
				case f.Reason != "":
					r.Faults.Add(item.At, path.Item(i), f)
				default:
					list = append(list, item.Text)
				}
			}
			*target = list
		},
		Show: func() any { return *target },
	}
}

func faultOfRedact(n *yamldoc.Node) yamldoc.Fault {
	if n.Kind != yamldoc.Text {
		return yamldoc.Fault{Reason: wrongType, Got: n.Shown(), Want: redactWant}
	}
	tokens := ijson.Pointer(n.Text).Tokens()
	if len(tokens) == 0 {
		return yamldoc.Fault{Reason: notPointer, Got: yamldoc.Quoted(n.Text), Want: redactWant}
	}
	below, known := redactRoots[tokens[0]]
	switch {
	case !known:
		return yamldoc.Fault{Reason: otherRoot, Got: yamldoc.Quoted(n.Text), Want: wantRoot}
	case below && len(tokens) == 1:
		return yamldoc.Fault{Reason: nothingBelow(n.Text), Got: yamldoc.Quoted(n.Text), Want: wantMember(n.Text, n.Text)}
	case !below && len(tokens) > 1:
		return yamldoc.Fault{Reason: answerIsText, Got: yamldoc.Quoted(n.Text), Want: "write /" + tokens[0]}
	}
	return yamldoc.Fault{}
}
