package cli

import (
	"regexp"
	"sync"
)

// lazyPattern is a regular expression that is compiled when it is first asked: one that counts to 256 takes longer than all
// else that is made before main.
type lazyPattern struct {
	text     string
	compiled func() *regexp.Regexp
}

func lazily(text string) *lazyPattern {
	return &lazyPattern{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString reports whether a text is spelled so.
func (s *lazyPattern) MatchString(text string) bool { return s.compiled().MatchString(text) }

// String is the expression.
func (s *lazyPattern) String() string { return s.text }
