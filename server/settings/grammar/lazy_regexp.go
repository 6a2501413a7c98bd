package grammar

import (
	"regexp"
	"sync"
)

// LazyRegexp is a regular expression that is compiled at its first use. Compiling one that counts to 256 takes longer than everything
// else that is made before main.
type LazyRegexp struct {
	text     string
	compiled func() *regexp.Regexp
}

// Lazily returns the regular expression that text spells. Its first use panics if text is none.
func Lazily(text string) *LazyRegexp {
	return &LazyRegexp{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString reports whether the expression matches in text.
func (s *LazyRegexp) MatchString(text string) bool { return s.compiled().MatchString(text) }

// String returns the text of the expression.
func (s *LazyRegexp) String() string { return s.text }
