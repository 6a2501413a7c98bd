package cli

import (
	"os"
	"os/user"
	"strconv"
	"strings"

	"patterngate/patterns"
)

// people names who stands in a record, for a person who reads it: "local:0" is shown as "local:0 (root)". Records, JSON and
// signatures keep the id alone.
type people func(id string) string

// systemPeople asks this system for the name of its user. An id of another kind, or of a user that it does not know, stays as it is.
func systemPeople(id string) string {
	digits, local := strings.CutPrefix(id, "local:")
	uid, err := strconv.Atoi(digits)
	if !local || err != nil || strconv.Itoa(uid) != digits {
		return id
	}
	u, err := user.LookupId(digits)
	if uid == os.Getuid() {
		u, err = user.Current()
	}
	if err != nil || u.Username == "" {
		return id
	}
	return id + " (" + u.Username + ")"
}

// named is an id as people are told it.
func (a *app) named(id string) string {
	if a.people == nil {
		return id
	}
	return a.people(id)
}

// namedQuestion is a question as people are told it.
func (a *app) namedQuestion(asked patterns.Asked) patterns.Asked {
	asked.Principal = a.named(asked.Principal)
	if asked.Given != nil {
		given := *asked.Given
		given.By = a.named(given.By)
		asked.Given = &given
	}
	return asked
}
