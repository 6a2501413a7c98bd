package gateway

import (
	"errors"
	"regexp"

	"patterngate/ijson"
)

// onceKey is what a business key may be (spec/config.md section 6).
var onceKey = regexp.MustCompile(`^[A-Za-z0-9._~:-]{1,128}$`)

var errNoKey = errors.New("gateway: the business key could not be made")

const onceWanted = "arguments of which a business key can be made: 1 to 128 of A-Z a-z 0-9 . _ ~ : -"

// key makes the call's business key of its whole arguments. False: none can be made; got is what was, as a problem shows it.
func (c *judged) key() (got any, ok bool) {
	if c.tool.Once == nil {
		return nil, true
	}
	key, err := c.made()
	switch {
	case err != nil:
		return Missing, false
	case !onceKey.MatchString(key):
		return ijson.Cut(key, maxNamed), false
	}
	c.once = key
	return nil, true
}

// made asks the tool's declaration; its panic is as good as an error.
func (c *judged) made() (key string, err error) {
	defer func() {
		if r := recover(); r != nil {
			key, err = "", errNoKey
		}
	}()
	return c.tool.Once(owned(c.args))
}
