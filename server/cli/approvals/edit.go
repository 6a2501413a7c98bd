package approvals

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/cli/console"
	"patterngate/server/cli/toolargs"
)

// editOf returns the approved call: unchanged, or with all arguments of an edit. It reports all faults at once, before
// the person types a passphrase. The store checks the decision again.
func editOf(what string, asked patterns.Asked, words []string) (gateway.Choice, map[string]any, error) {
	if len(words) == 0 {
		return gateway.ChooseApprove, nil, nil
	}
	if _, whole := asked.Plan(); whole {
		return "", nil, console.Usage(what+" --edit", errors.New("a changed plan needs a new approval, which a replan asks for"), "without --edit, to approve the plan unchanged")
	}
	args := maps.Clone(asked.Question.Args)
	if args == nil {
		args = map[string]any{}
	}
	known := namesOf(asked)
	var faults []error
	given := map[string]bool{}
	for _, word := range words {
		name, v, err := edited(word, asked.Schema, known)
		if err == nil && given[name] {
			err = fmt.Errorf("%s: given twice", console.Typed(name))
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		given[name], args[name] = true, v
	}
	if err := errors.Join(faults...); err != nil {
		return "", nil, console.Usage(what+" --edit", err, "--edit NAME=VALUE or NAME:=JSON")
	}
	if ijson.Equal(args, asked.Question.Args) {
		return "", nil, console.Usage(what+" --edit", errors.New("it changes nothing"), "without --edit, to approve the call unchanged")
	}
	return gateway.ChooseEdit, args, faultsOfEdit(what, asked.Schema, args)
}

// namesOf returns the names of the arguments that an edit can change: those of the tool's schema and those of the call.
func namesOf(asked patterns.Asked) []string {
	names := toolargs.ReadTypes(asked.Schema).Names()
	for name := range asked.Question.Args {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// edited reads one word: NAME=VALUE, with the type from the tool's schema, or NAME:=JSON. It reads no file: "@" is an
// ordinary character.
func edited(word string, schema json.RawMessage, known []string) (name string, v any, err error) {
	name, text, found := strings.Cut(word, "=")
	name, isJSON := strings.CutSuffix(name, ":")
	switch {
	case !found || name == "":
		return "", nil, fmt.Errorf("got %s; write NAME=VALUE or NAME:=JSON", console.Typed(word))
	case !utf8.ValidString(word):
		return "", nil, fmt.Errorf("%s: not UTF-8", console.Typed(name))
	case !slices.Contains(known, name):
		return "", nil, fmt.Errorf("the tool has no argument %s. It has %s", console.Typed(name), namesText(known))
	}
	raw, err := toolargs.Key{Name: name, Text: text, JSON: isJSON}.Value(toolargs.ReadTypes(schema).Of(name))
	if err == nil {
		v, err = ijson.Decode(raw)
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", console.Typed(name), err)
	}
	return name, v, nil
}

// namesText lists names that an outsider can have chosen.
func namesText(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	const most = 20
	words := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		words = append(words, console.Typed(name))
	}
	if len(names) > most {
		words = append(words, "...")
	}
	return strings.Join(words, ", ")
}

// faultsOfEdit checks the arguments against the tool's schema. It returns an error that lists the wrong ones.
func faultsOfEdit(what string, schema json.RawMessage, args map[string]any) error {
	if schema == nil {
		return nil
	}
	s, err := catalog.CompileUpstream(schema)
	if err != nil {
		return console.Fault(what, err)
	}
	var problems []document.Problem
	for _, m := range s.Check(args) {
		problems = append(problems, document.Problem{Pointer: m.Pointer, Reason: m.Kind.String(), Want: m.Want})
	}
	if len(problems) == 0 {
		return nil
	}
	return badEdit(what, problems)
}

// badEdit returns an error with one line for each problem in the changed arguments.
func badEdit(what string, problems []document.Problem) error {
	const most = 20
	var faults []error
	for i, p := range problems {
		if i == most {
			faults = append(faults, fmt.Errorf("and %d more", len(problems)-most))
			break
		}
		faults = append(faults, faultOf(p))
	}
	return console.Usage(what+" --edit", errors.Join(faults...), otherValues)
}

// faultOf returns one problem as people read it. What a value must be needs no reason before it.
func faultOf(p document.Problem) error {
	want := console.Cut(p.Want, maxShownWant)
	if p.Reason == catalog.MismatchValue.String() {
		return errors.New(badValue(placeOf(p.Pointer), want))
	}
	return errors.New(badArgument(placeOf(p.Pointer), console.Typed(p.Reason), want))
}

// placeOf returns the place of a fault as people read it: an argument by its name, a member of an argument by its pointer.
func placeOf(at ijson.Pointer) string {
	tokens := at.Tokens()
	if len(tokens) == 1 {
		return console.Typed(tokens[0])
	}
	return console.Typed(string(at))
}

// maxShownWant is how many bytes of an expected value an error shows.
const maxShownWant = 200
