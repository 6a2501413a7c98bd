package facts

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"patterngate/ijson"
	"patterngate/patterns/record"
	"patterngate/server/web/wording"
)

// Called is the name that a tool's result gives to whom or what an argument of the call names.
type Called struct {
	What   string // such as user 42, or order "o-7"
	Name   string
	Source string
}

// Names returns the name of the thing that the phrase of a call names by its id. The zero Called is none. There is a name only if one id
// argument alone has the value that the phrase contains, and if all results that name this id agree. A result names it in an object that
// has the id and a text member name: {"user": {"id": 42, "name": "Anna"}} for user_id 42. The name is a tool's text, not checked.
func Names(phrase string, args map[string]any, b record.Behind) Called {
	thing, id := subject(phrase, args)
	if thing == "" {
		return Called{}
	}
	var c Called
	for _, o := range slices.Backward(b.Observed) {
		for _, text := range namesIn(o, thing, id) {
			if !plainName(text) || c.Name != "" && c.Name != text {
				return Called{}
			}
			if c.Name == "" {
				c = Called{wording.Label(thing) + " " + wording.Visible(id), text, wording.ResultOf(o.Tool)}
			}
		}
	}
	return c
}

// plainID matches a number or a short text without spaces, in canonical JSON.
var plainID = regexp.MustCompile(`^(?:-?[0-9]{1,20}|"[A-Za-z0-9_.-]{1,32}")$`)

// subject returns the one thing that a phrase names by an id argument, and the id in canonical JSON. thing is "" if there is none, or if
// two arguments have such a value.
func subject(phrase string, args map[string]any) (thing, id string) {
	words := map[string]bool{}
	for _, word := range strings.Fields(phrase) {
		words[strings.Trim(word, `"',;:.()`)] = true
	}
	found := 0
	for _, argument := range slices.Sorted(maps.Keys(args)) {
		value := string(ijson.Canonical(args[argument]))
		if !plainID.MatchString(value) || !words[strings.Trim(value, `"`)] {
			continue
		}
		found++
		if of, ok := strings.CutSuffix(argument, "_id"); ok && of != "" && len(of) <= 32 {
			thing, id = of, value
		}
	}
	if found != 1 {
		return "", ""
	}
	return thing, id
}

// maxName is the greatest length of a name on a page, in characters.
const maxName = 40

// plainName reports whether a name is short and has only letters, digits, single spaces, points, apostrophes and hyphens.
func plainName(text string) bool {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxName || strings.Join(strings.Fields(text), " ") != text || wording.Visible(text) != text {
		return false
	}
	letters := 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			letters++
		case !unicode.IsDigit(r) && !strings.ContainsRune(" .'-", r):
			return false
		}
	}
	return letters > 0
}

// maxPointer is the length of the longest pointer that is certainly whole. The record cuts long ones.
const maxPointer = 60

// namesIn returns the names that a result has for a thing with an id.
func namesIn(o record.Observed, thing, id string) (list []string) {
	for _, v := range o.Result {
		at := strings.LastIndexByte(v.Name, '/') + 1
		parent, last := v.Name[:at], v.Name[at:]
		nested, flat := last == "id" && strings.HasSuffix(parent, "/"+thing+"/"), last == thing+"_id"
		if len(v.Name) > maxPointer || string(v.Value) != id || !nested && (!flat || !alone(o, parent)) {
			continue
		}
		i := slices.IndexFunc(o.Result, func(v record.Argument) bool { return v.Name == parent+"name" })
		var text string
		if i >= 0 && o.Result[i].Value != nil && json.Unmarshal(o.Result[i].Value, &text) == nil && text != "" {
			list = append(list, text)
		}
	}
	return list
}

// alone reports whether an object of a result has one id: no own one, and one of another thing. If values are missing, it returns false.
func alone(o record.Observed, parent string) bool {
	ids := 0
	for _, v := range o.Result {
		member, inside := strings.CutPrefix(v.Name, parent)
		if member, _, _ = strings.Cut(member, "/"); !inside {
			continue
		}
		if member == "id" || len(v.Name) > maxPointer {
			return false
		}
		if isID(member) {
			ids++
		}
	}
	return ids == 1 && o.Left == 0
}
