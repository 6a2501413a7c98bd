package httptool

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
)

// payload makes the body of a request. The zero payload has no body.
type payload struct {
	all     bool            // all arguments except those in used
	used    map[string]bool // arguments that are in URL or query
	mapping map[string]any  // a decoded object with a [template] for each text; nil: none
	form    bool
}

// body reads the configuration of the request's body.
func (r *reading) body() payload {
	b := r.config.Body
	read := payload{all: b.Args, used: r.used, form: r.config.Form}
	if !b.Args && b.Mapping == nil {
		return read
	}
	if r.config.Method == http.MethodGet || r.config.Method == http.MethodHead {
		r.fault(Fault{Path: "request.body", Reason: noBodyFor(r.config.Method), Want: wantNoBody})
	}
	if b.Args && b.Mapping != nil {
		r.fault(Fault{Path: "request.body", Reason: argsAndMapping, Want: wantOne})
	}
	if b.Mapping == nil {
		return read
	}
	decoded, err := ijson.Of(b.Mapping)
	if err != nil {
		r.fault(Fault{Path: "request.body", Reason: notJSON(err.Error()), Want: wantJSON})
	}
	mapping, _ := decoded.(map[string]any)
	read.mapping = map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(mapping)) {
		read.mapping[name] = r.mapped("request.body."+name, mapping[name], 1)
	}
	return read
}

// formMember describes the values that a form's member may have.
const formMember = formMembers

// mapped reads one value of a mapping. depth is its depth below the body.
func (r *reading) mapped(path string, v any, depth int) any {
	switch v := v.(type) {
	case string:
		t := r.template(path, v)
		_, alone := t.alone()
		for _, name := range t.arguments() {
			r.argument(path, name, place{words: aText, whole: alone && !r.config.Form, list: alone && depth == 1})
		}
		return t
	case map[string]any:
		if r.config.Form {
			r.fault(Fault{Path: path, Reason: anObject, Want: formMember})
		}
		read := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			read[name] = r.mapped(path+"."+name, v[name], depth+1)
		}
		return read
	case []any:
		if r.config.Form && depth > 1 {
			r.fault(Fault{Path: path, Reason: listInList, Want: formMember})
		}
		read := make([]any, len(v))
		for i, element := range v {
			read[i] = r.mapped(path+"["+strconv.Itoa(i)+"]", element, depth+1)
		}
		return read
	}
	return v
}

// make inserts arguments into the body. It returns the text and its content type, both empty if the request has no
// body. Mismatches name the arguments that cannot be sent.
func (p payload) make(args map[string]any) (text []byte, contentType string, bad []catalog.Mismatch) {
	refuse := func(name, want string) {
		bad = append(bad, catalog.Mismatch{Pointer: ijson.Pointer("").Member(name), Kind: catalog.MismatchValue, Want: want})
	}
	var object map[string]any
	switch {
	case p.mapping != nil:
		object, _ = laid(p.mapping, args, refuse).(map[string]any)
	case p.all:
		object = maps.Clone(args)
		maps.DeleteFunc(object, func(name string, _ any) bool { return p.used[name] })
		if object == nil {
			object = map[string]any{}
		}
	default:
		return nil, "", nil
	}
	if p.form {
		text, contentType = []byte(formOf(object, refuse)), "application/x-www-form-urlencoded"
	} else if len(bad) == 0 {
		text, contentType = ijson.Canonical(object), "application/json"
	}
	return text, contentType, bad
}

// leftOut replaces a value that has an absent argument.
type leftOut struct{}

// laid inserts arguments into a value of a mapping. It leaves out members and elements with an absent argument.
func laid(v any, args map[string]any, refuse func(name, want string)) any {
	switch v := v.(type) {
	case template:
		if name, alone := v.alone(); alone {
			if whole, ok := args[name]; ok {
				return whole
			}
			return leftOut{}
		}
		text, got, name := v.fill(args, plain)
		switch got {
		case absent:
			return leftOut{}
		case unusual:
			refuse(name, wordInText)
		}
		return text
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			if value := laid(member, args, refuse); value != (leftOut{}) {
				object[name] = value
			}
		}
		return object
	case []any:
		list := make([]any, 0, len(v))
		for _, element := range v {
			if value := laid(element, args, refuse); value != (leftOut{}) {
				list = append(list, value)
			}
		}
		return list
	}
	return v
}

// formOf returns an object as a form, sorted by name. A list repeats its name; null is left out.
func formOf(object map[string]any, refuse func(name, want string)) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(object)) {
		values, isList := object[name].([]any)
		if !isList {
			values = []any{object[name]}
		}
		texts, refused := listed(name, values)
		if refused != "" {
			refuse(name, wordsInForm)
		}
		for _, text := range texts {
			if b.Len() > 0 {
				b.WriteByte('&')
			}
			b.WriteString(encode(name) + "=" + text)
		}
	}
	return b.String()
}
