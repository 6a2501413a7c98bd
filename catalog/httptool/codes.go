package httptool

import (
	"errors"
	"strconv"
	"strings"
)

// errCode reports that a text is not a valid status code.
var errCode = errors.New(notCode)

// codes are status codes and classes of them.
type codes struct {
	exact   map[int]bool
	classes [10]bool // by first digit
}

// has reports whether c contains a code.
func (c codes) has(code int) bool {
	return c.exact[code] || code >= 0 && code < 1000 && c.classes[code/100]
}

// codes reads codes from 200 to 599, and classes if they are allowed.
func (r *reading) codes(path string, texts []string, classes bool) codes {
	read := codes{exact: map[int]bool{}}
	want := wantCodes
	if classes {
		want += orClasses
	}
	for i, text := range texts {
		code, err := parseCode(text)
		class, isClass := strings.CutSuffix(text, "xx")
		switch {
		case err == nil:
			read.exact[code] = true
		case classes && isClass && len(class) == 1 && strings.Contains("2345", class):
			read.classes[class[0]-'0'] = true
		default:
			r.fault(Fault{Path: path + "[" + strconv.Itoa(i) + "]", Reason: notCode, Got: quoted(text), Want: want})
		}
	}
	return read
}

func parseCode(text string) (int, error) {
	code, err := strconv.Atoi(text)
	if err != nil || len(text) != 3 || code < 200 || code > 599 {
		return 0, errCode
	}
	return code, nil
}
