package cli

import (
	"os"
	"os/user"
	"strconv"
	"strings"

	"patterngate/patterns"
)

// people returns the name under which texts show an id, such as "local:0 (root)" for "local:0". Records, JSON and signatures contain
// only the id.
type people func(id string) string

// systemPeople asks the operating system for the name of a user. It returns other ids, and ids of unknown users, unchanged.
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

// named returns an id as texts show it, with the name of the user.
func (a *app) named(id string) string {
	if a.people == nil {
		return id
	}
	return a.people(id)
}

// namedQuestion returns a question with the names of users beside their ids.
func (a *app) namedQuestion(asked patterns.Asked) patterns.Asked {
	asked.Principal = a.named(asked.Principal)
	if asked.Given != nil {
		given := *asked.Given
		given.By = a.named(given.By)
		asked.Given = &given
	}
	return asked
}
