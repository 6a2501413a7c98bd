package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"

	"patterngate/ijson"
)

// Bounds of a schema that comes from somebody's server.
const (
	maxUpstream      = 256 << 10 // bytes
	maxUpstreamNodes = 20_000    // values in it
	maxJudging       = 1_000_000 // schemas tried on one value, before it counts as unfit
	workOfOne        = 50        // characters that one step of a pattern reads, for the work of one schema
	maxExpressions   = 100_000   // steps of all its patterns; the rest are left to the server
)

// CompileUpstream takes the schema of a tool that somebody's server declares; absent or null it says nothing but that an
// object is wanted. It may hold anything: it must be one object of bounded size that refers to nothing outside itself, and is
// judged whole when a value first needs it, with bounds on how long that may take. Patterns that this program's expressions
// (RE2) do not have are left to the server, and bounds of 64 bits stand as doubles: no integer beyond 2^53-1 fits anyway.
// Whether it is a schema at all [Schema.Compiles] says: else nothing fits it.
func CompileUpstream(raw json.RawMessage) (*Schema, error) {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	if len(raw) > maxUpstream {
		return nil, fmt.Errorf("schema: %d bytes; at most %d", len(raw), maxUpstream)
	}
	raw = ijson.Rounded(raw)
	decoded, err := ijson.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if _, ok := decoded.(map[string]any); !ok {
		return nil, errors.New("schema: a JSON object is wanted")
	}
	if n := valuesIn(decoded); n > maxUpstreamNodes {
		return nil, fmt.Errorf("schema: %d values; at most %d", n, maxUpstreamNodes)
	}
	s := newSchema(compacted(raw), nil)
	s.fromUpstream()
	return s, nil
}

// Compiles says why nothing fits the schema; nil: it is in order. It compiles it, if nothing did before.
func (s *Schema) Compiles() error {
	if s == nil || s.root().plain {
		return nil
	}
	if _, err := s.judge(); err != nil {
		return fmt.Errorf("schema: %s", oneLine(err.Error()))
	}
	return s.bounds.Compiles()
}

// fromUpstream has the schema judged as one that nobody here wrote.
func (s *Schema) fromUpstream() {
	s.tally = &tally{}
	s.judgeBy(compileUpstream(s.tally))
}

// compileUpstream compiles such a schema, what judging it takes to be counted there.
func compileUpstream(count *tally) func(raw []byte) (*santhosh.Schema, error) {
	return func(raw []byte) (*santhosh.Schema, error) {
		return compileBy(raw, func(c *santhosh.Compiler) {
			c.UseRegexpEngine((&expressions{left: maxExpressions, tally: count}).compile)
			c.RegisterVocabulary(&santhosh.Vocabulary{URL: "mem:///tally", Compile: func(*santhosh.CompilerContext, map[string]any) (santhosh.SchemaExt, error) {
				return count, nil
			}})
		})
	}
}

// tally counts the schemas that are tried on one value: references may make these many more than there are. It is used by one
// goroutine at a time.
type tally struct{ n int }

// errTooLong ends a judgment that takes too long.
var errTooLong = errors.New("catalog: too many schemas to try")

// Validate implements [santhosh.SchemaExt].
func (t *tally) Validate(*santhosh.ValidatorContext, any) { t.add(1) }

// add counts as much work as so many schemas are.
func (t *tally) add(n int) {
	if t.n += n; t.n > maxJudging {
		panic(errTooLong)
	}
}

// expressions compiles the patterns of one schema.
type expressions struct {
	left  int // steps
	tally *tally
}

// compile takes a pattern; one that these expressions do not have, or that is too large, takes every text.
func (e *expressions) compile(pattern string) (santhosh.Regexp, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return anyText(pattern), nil
	}
	if e.left -= steps(tree); e.left < 0 {
		e.left = 0
		return anyText(pattern), nil
	}
	counted, err := e.tally.text(pattern)
	if err != nil {
		return anyText(pattern), nil
	}
	return counted, nil
}

// text takes a pattern as it is written, or not at all.
func (t *tally) text(pattern string) (santhosh.Regexp, error) {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	return countedText{compiled, len(program.Inst), t}, nil
}

// countedText is a pattern whose work counts: it grows with the text and with the pattern, and a server may declare a large one.
type countedText struct {
	*regexp.Regexp
	size  int
	tally *tally
}

// MatchString implements [santhosh.Regexp].
func (c countedText) MatchString(text string) bool {
	c.tally.add(c.size * (len(text) / workOfOne))
	return c.Regexp.MatchString(text)
}

// steps is about how large a pattern becomes when it is compiled.
func steps(tree *syntax.Regexp) int {
	n := 1 + len(tree.Rune)
	for _, sub := range tree.Sub {
		n += steps(sub)
	}
	if tree.Op == syntax.OpRepeat {
		n *= max(tree.Min, tree.Max, 1)
	}
	return min(n, 2*maxExpressions)
}

// anyText is a pattern that is left to others.
type anyText string

// MatchString implements [santhosh.Regexp].
func (anyText) MatchString(string) bool { return true }

// String implements [santhosh.Regexp].
func (p anyText) String() string { return string(p) }

// valuesIn counts the values in a decoded one, itself included.
func valuesIn(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			n += valuesIn(element)
		}
	case map[string]any:
		for _, element := range v {
			n += valuesIn(element)
		}
	}
	return n
}
