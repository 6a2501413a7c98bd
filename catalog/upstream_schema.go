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

// These are the bounds of a schema that comes from a server.
const (
	maxUpstream      = 256 << 10 // bytes
	maxUpstreamNodes = 20_000    // values in it
	maxJudging       = 1_000_000 // schemas tried on one value; with more, the value does not fit
	workOfOne        = 50        // characters that one step of a pattern reads, for the cost of one schema
	maxExpressions   = 100_000   // steps of all its patterns; the server checks the others
)

// CompileUpstream returns the schema of a tool that a server declares. If the schema is absent or null, any object
// fits. The schema must be one object of limited size that refers to nothing outside itself; otherwise it may contain
// anything. It is compiled when a value first needs it, and the time to check a value is limited.
//
// The server itself must check patterns that Go's regular expressions (RE2) do not support. Bounds of 64 bits become
// doubles; no integer beyond 2^53-1 fits anyway. [Schema.Compiles] reports whether the schema is valid. Nothing fits an
// invalid schema.
func CompileUpstream(raw json.RawMessage) (*Schema, error) {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	if len(raw) > maxUpstream {
		return nil, fmt.Errorf(schemaBytes, len(raw), maxUpstream)
	}
	raw = ijson.Rounded(raw)
	decoded, err := ijson.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if _, ok := decoded.(map[string]any); !ok {
		return nil, errors.New(schemaNotObject)
	}
	if n := valuesIn(decoded); n > maxUpstreamNodes {
		return nil, fmt.Errorf(schemaValues, n, maxUpstreamNodes)
	}
	s := newSchema(compacted(raw), nil)
	s.fromUpstream()
	return s, nil
}

// Compiles returns why nothing fits the schema, or nil if the schema is valid. It compiles the schema if that is not
// done yet.
func (s *Schema) Compiles() error {
	if s == nil || s.root().plain {
		return nil
	}
	if _, err := s.judge(); err != nil {
		return fmt.Errorf("schema: %s", oneLine(err.Error()))
	}
	return s.bounds.Compiles()
}

// fromUpstream marks the schema as one from outside, with limits on the work of a check.
func (s *Schema) fromUpstream() {
	s.tally = &tally{}
	s.judgeBy(compileUpstream(s.tally))
}

// compileUpstream returns a function that compiles such a schema. Checks against the schema are counted in count.
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

// tally counts the schemas that are tried on one value. References can make these many more than the schema contains.
// One goroutine at a time uses it.
type tally struct{ n int }

// errTooLong stops a check that takes too long.
var errTooLong = errors.New("catalog: too many schemas to try")

// Validate implements [santhosh.SchemaExt].
func (t *tally) Validate(*santhosh.ValidatorContext, any) { t.add(1) }

// add counts as much work as n schemas take.
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

// compile compiles a pattern. A pattern that RE2 does not support, or that is too large, matches every text.
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

// text compiles a pattern without changes, or returns an error.
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

// countedText is a pattern whose work is counted. The work grows with the text and the pattern, and a server may
// declare a large pattern.
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

// steps returns an estimate of the size of a compiled pattern.
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

// anyText is a pattern that the server must check. It matches every text.
type anyText string

// MatchString implements [santhosh.Regexp].
func (anyText) MatchString(string) bool { return true }

// String implements [santhosh.Regexp].
func (p anyText) String() string { return string(p) }

// valuesIn returns the number of values in a decoded value, including the value itself.
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
