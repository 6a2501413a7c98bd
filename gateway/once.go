package gateway

import (
	"regexp"

	"patterngate/gateway/document"
	"patterngate/ijson"
)

// onceKey is the form of a business key (spec/config.md section 6).
var onceKey = regexp.MustCompile(`^[A-Za-z0-9._~:-]{1,128}$`)

const onceWanted = "arguments of which a business key can be made: 1 to 128 of A-Z a-z 0-9 . _ ~ : -"

// key makes the call's business key from all its arguments. It returns false if no valid key can be made. got is then
// what was made, as a problem shows it.
func (c *judged) key() (got any, ok bool) {
	if c.tool.Once == nil {
		return nil, true
	}
	key, err := c.made()
	switch {
	case err != nil:
		return document.Missing, false
	case !onceKey.MatchString(key):
		return ijson.Cut(key, document.MaxNamed), false
	}
	c.once = key
	return nil, true
}
