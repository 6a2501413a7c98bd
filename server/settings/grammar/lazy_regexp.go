package grammar

import (
	"regexp"
	"sync"
)

// LazyRegexp is a regular expression that is compiled when it is first asked: one that counts to 256 takes longer than all
// else that is made before main.
type LazyRegexp struct {
	text     string
	compiled func() *regexp.Regexp
}

func Lazily(text string) *LazyRegexp {
	return &LazyRegexp{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString reports whether a text is spelled so.
func (s *LazyRegexp) MatchString(text string) bool { return s.compiled().MatchString(text) }

// String is the expression.
func (s *LazyRegexp) String() string { return s.text }
