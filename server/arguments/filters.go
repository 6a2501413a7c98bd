package arguments

import (
	"math"
	"slices"
	"strconv"
	"time"

	"patterngate/gateway/document"
	"patterngate/ijson"
)

// The number of rows that a list shows: at most, and if the caller names no limit.
const (
	maxPage      = 100
	ordinaryPage = 20
)

// Clean reports whether the request has no problem so far.
func (r *Request) Clean() bool {
	return !slices.ContainsFunc(r.faults[:], func(found []document.Problem) bool { return len(found) > 0 })
}

// Text reads an optional text. It returns "" if the argument is absent, blank or not a text. A value that is not a text
// is a problem.
func (r *Request) Text(name string) string {
	v := r.Arguments[name]
	text, isText := v.(string)
	if v != nil && !isText {
		r.wrong(Row{Name: name}, v, "string")
	}
	if ijson.Blank(text) {
		return ""
	}
	return text
}

// List reads an optional array, or a text that holds one as JSON. It also returns the argument's pointer.
func (r *Request) List(name string) ([]any, ijson.Pointer) {
	at := ijson.Pointer("").Member(name)
	a := Row{Name: name, Shape: List}
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

// ReadLimit returns the number of rows that a call asks for, or 20 if it names none.
func ReadLimit(r *Request) int {
	v := r.Arguments["limit"]
	if v == nil {
		return ordinaryPage
	}
	const name = "limit"
	want := pageSize(maxPage)
	n, isWhole := ijson.Integer(v)
	switch {
	case !isWhole:
		p := r.Add(WrongType, name, v, want)
		p.Fix = document.Retype("integer", p.Pointer, v)
	case n < 1 || n > maxPage:
		r.Add(OutOfLimit, name, v, want)
	}
	return int(n)
}

// Filters holds the arguments of the tools about runs other than the run itself.
type Filters struct {
	Step         string
	Since, Until time.Time
	Limit        int
}

// readTime reads a time (RFC 3339).
func (r *Request) readTime(a Row, v any) {
	text, isText := v.(string)
	at, err := time.Parse(time.RFC3339, text)
	if !isText || err != nil {
		r.Add(WrongType, a.Name, v, a.Shape.want())
		return
	}
	if a.Name == "since" {
		r.Since = at
	} else {
		r.Until = at
	}
}

// readStep reads the name of a step.
func (r *Request) readStep(a Row, v any) {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= ijson.MaxInteger {
			r.Step = strconv.FormatFloat(v, 'f', -1, 64)
			return
		}
	case string:
		if len(v) > a.Most {
			r.Add(TooLarge, a.Name, v, atMostText(strconv.Itoa(a.Most)))
			return
		}
		r.Step = ijson.Trim(v)
		return
	}
	r.Add(WrongType, a.Name, v, a.Shape.want())
}
