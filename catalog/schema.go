package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	invopop "github.com/invopop/jsonschema"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"

	"patterngate/ijson"
)

// Schema is a JSON Schema (draft 2020-12 unless it names another), compiled when a value first needs it. It is immutable
// and safe for concurrent use. A nil Schema describes any value.
type Schema struct {
	raw       json.RawMessage
	spellings map[string]string // by property; no part of the text
	// root is what the schema says, read when first asked for.
	root func() *node
	// judge is the whole truth about a value, compiled when first asked for; root().fits is the quick way to its yes.
	judge func() (*santhosh.Schema, error)
	hash  func() string
	// Of schemas that nobody here wrote: judging one is counted, and done by one goroutine at a time.
	tally   *tally
	judging sync.Mutex
	within  map[string]string // the directories that a configuration bounds properties to
	bounds  *Schema           // of properties that a configuration bounds: what they must fit, see Bounded
	silent  bool              // no server says which properties there are, and it is closed: see Closed
}

// SchemaOf reflects a Go type into a self-contained schema: no references, no $schema, unknown members refused, every
// member required unless tagged omitempty or omitzero. A recursive type is an error: model it as a flat list. What the
// tags say is not tried out: a test that compiles the schema's text proves it.
//
// Tags are those of github.com/invopop/jsonschema. One is ours: jsonschema_extras:"x-spelling=YYYY-MM" says how a text
// is to be spelled; it shows in [Property.Spelling] and [Tool.Signature], checks nothing and is not in [Schema.JSON].
func SchemaOf[T any]() (*Schema, error) {
	t := reflect.TypeFor[T]()
	if known, ok := reflected.Load(t); ok {
		return known.(*Schema), nil
	}
	s, err := reflectSchema(t)
	if err == nil {
		reflected.Store(t, s)
	}
	return s, err
}

// reflected holds the schemas of the types that were asked for: a type does not change, and reflecting one takes long.
var reflected sync.Map // reflect.Type to *Schema

func reflectSchema(t reflect.Type) (*Schema, error) {
	if err := recursion(t, nil); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t, err)
	}
	r := &invopop.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true}
	made := r.ReflectFromType(t)
	made.Version = "" // 2020-12 is what MCP means anyway, and some clients stumble over the member
	spellings := takeSpellings(made)
	raw, err := json.Marshal(made)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t, err)
	}
	return newSchema(raw, spellings), nil
}

// CompileSchema compiles a schema that came as JSON text. It must be an object that refers to nothing outside itself:
// nothing is ever loaded from a file or the network.
func CompileSchema(raw []byte) (*Schema, error) {
	decoded, err := ijson.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if _, ok := decoded.(map[string]any); !ok {
		return nil, errors.New("schema: a JSON object is wanted")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s := newSchema(compact.Bytes(), nil)
	if s.root().plain { // in order as it is; the library is asked only to say what is wrong with a value
		return s, nil
	}
	if _, err := s.judge(); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return s, nil
}

// newSchema takes a schema's text and how the texts of some properties are to be spelled.
func newSchema(raw json.RawMessage, spellings map[string]string) *Schema {
	s := &Schema{raw: raw, spellings: spellings}
	s.root = sync.OnceValue(func() *node {
		root := parseNode(raw)
		for name, n := range root.properties {
			n.spelling = cmp.Or(spellings[name], n.spelling)
		}
		return root
	})
	s.judgeBy(compile)
	s.hash = sync.OnceValue(func() string { return hashOf(s.hashed()) })
	return s
}

// judgeBy has the schema compiled in that way.
func (s *Schema) judgeBy(compiled func(raw []byte) (*santhosh.Schema, error)) {
	s.judge = sync.OnceValues(func() (*santhosh.Schema, error) { return compiled(s.raw) })
}

// remarks are the library's names for the standard vocabularies that judge no value. As soon as a vocabulary of one's own
// is registered it checks the form of these keywords only if they are named too.
var remarks = []string{"meta-data", "format", "format-annotation", "content"}

func nothing(*santhosh.CompilerContext, map[string]any) (santhosh.SchemaExt, error) { return nil, nil }

const place = "mem:///schema.json"

func compile(raw []byte) (*santhosh.Schema, error) {
	return compileBy(raw, func(*santhosh.Compiler) {})
}

// compileBy compiles a schema by a compiler that has one thing more.
func compileBy(raw []byte, with func(*santhosh.Compiler)) (*santhosh.Schema, error) {
	doc, err := santhosh.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := santhosh.NewCompiler()
	c.UseLoader(noLoader{})
	c.AssertFormat() // else draft 2020-12 takes "format" for a remark
	c.RegisterVocabulary(&santhosh.Vocabulary{URL: "mem:///safe-integers", Compile: safeIntegers})
	for _, name := range remarks {
		c.RegisterVocabulary(&santhosh.Vocabulary{URL: name, Compile: nothing})
	}
	c.AssertVocabs()
	with(c)
	if err := c.AddResource(place, doc); err != nil {
		return nil, err
	}
	return c.Compile(place)
}

// noLoader keeps schemas from reading files or the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("refers to %s, but a schema must stand alone", url)
}

// JSON returns the schema's text. The caller must not change it.
func (s *Schema) JSON() json.RawMessage {
	if s == nil {
		return json.RawMessage(`{}`)
	}
	return s.raw
}

// Without returns the schema less some properties of its root, for showing it to those who do not set them, and less what it
// says of the whole object: examples name them, counts count them. Names that it does not have are ignored.
func (s *Schema) Without(names ...string) *Schema {
	if s == nil || !slices.ContainsFunc(names, s.root().has) {
		return s
	}
	less := newSchema(withoutProperties(s.raw, names), s.spellings)
	less.within = s.within
	switch {
	case s.bounds != nil:
		less.boundIn(s.bounds.root().names)
	case s.tally != nil:
		less.fromUpstream()
	}
	return less
}

// withoutProperties writes a root schema again without some properties, keeping the order of all members.
func withoutProperties(raw json.RawMessage, names []string) json.RawMessage {
	var members []member
	for _, m := range membersOf(raw) {
		switch m.name {
		case "const", "enum", "default", "examples", "minProperties", "maxProperties":
			continue
		case "properties":
			kept := slices.DeleteFunc(membersOf(m.value), func(p member) bool { return slices.Contains(names, p.name) })
			m.value = objectOf(kept)
		case "required":
			var required []string
			if json.Unmarshal(m.value, &required) == nil {
				required = slices.DeleteFunc(required, func(name string) bool { return slices.Contains(names, name) })
				m.value, _ = json.Marshal(required) // a list of strings always marshals
			}
		}
		members = append(members, m)
	}
	return objectOf(members)
}

// takeSpellings removes our own keyword from the root's properties and returns what it said.
func takeSpellings(s *invopop.Schema) map[string]string {
	spellings := map[string]string{}
	if s.Properties == nil {
		return spellings
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		if text, ok := p.Value.Extras[spellingKeyword].(string); ok {
			spellings[p.Key] = text
			delete(p.Value.Extras, spellingKeyword)
		}
	}
	return spellings
}

// recursion reports a type that holds itself: inlining it would never end.
func recursion(t reflect.Type, inside []reflect.Type) error {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		if t.Name() != "" && slices.Contains(inside, t) {
			return fmt.Errorf("%s holds itself; use a flat list with parent ids", t)
		}
		return recursion(t.Elem(), append(slices.Clip(inside), t))
	case reflect.Struct:
		if slices.Contains(inside, t) {
			return fmt.Errorf("%s holds itself; use a flat list with parent ids", t)
		}
		inside = append(slices.Clip(inside), t)
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() || f.Anonymous {
				if err := recursion(f.Type, inside); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
