package server

import (
	"fmt"
	"math"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"slices"
	"strconv"
	"time"
)

// The number of rows that a list shows: at most, and if the caller names no limit.
const (
	maxPage      = 100
	ordinaryPage = 20
)

// clean reports whether the request has no problem so far.
func (r *request) clean() bool {
	return !slices.ContainsFunc(r.faults[:], func(found []document.Problem) bool { return len(found) > 0 })
}

// text reads an optional text. It returns "" if the argument is absent, blank or not a text. A value that is not a text
// is a problem.
func (r *request) text(name string) string {
	v := r.Arguments[name]
	text, isText := v.(string)
	if v != nil && !isText {
		r.wrong(argument{name: name}, v, "string")
	}
	if ijson.Blank(text) {
		return ""
	}
	return text
}

// list reads an optional array, or a text that holds one as JSON. It also returns the argument's pointer.
func (r *request) list(name string) ([]any, ijson.Pointer) {
	at := ijson.Pointer("").Member(name)
	a := argument{name: name, shape: shapeList}
	v := r.Arguments[name]
	if text, isText := v.(string); isText && ijson.Blank(text) {
		return nil, at
	}
	if v != nil {
		r.readIntent(a, v)
	}
	list, _ := r.Intents[name].([]any)
	return list, at
}

func readLimit(r *request) int {
	v := r.Arguments["limit"]
	if v == nil {
		return ordinaryPage
	}
	const name = "limit"
	want := fmt.Sprintf("a whole number from 1 to %d", maxPage)
	n, isWhole := ijson.Integer(v)
	switch {
	case !isWhole:
		p := r.add(classType, name, v, want)
		p.Fix = document.Retype("integer", p.Pointer, v)
	case n < 1 || n > maxPage:
		r.add(classLimit, name, v, want)
	}
	return int(n)
}

// asked holds the arguments of the tools about runs other than the run itself.
type asked struct {
	Step         string
	Since, Until time.Time
	Limit        int
}

// readTime reads a time (RFC 3339).
func (r *request) readTime(a argument, v any) {
	text, isText := v.(string)
	at, err := time.Parse(time.RFC3339, text)
	if !isText || err != nil {
		r.add(classType, a.name, v, a.shape.want())
		return
	}
	if a.name == "since" {
		r.Since = at
	} else {
		r.Until = at
	}
}

// readStep reads the name of a step.
func (r *request) readStep(a argument, v any) {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= ijson.MaxInteger {
			r.Step = strconv.FormatFloat(v, 'f', -1, 64)
			return
		}
	case string:
		if len(v) > a.most {
			r.add(classTooLarge, a.name, v, "at most "+strconv.Itoa(a.most)+" bytes")
			return
		}
		r.Step = ijson.Trim(v)
		return
	}
	r.add(classType, a.name, v, a.shape.want())
}
