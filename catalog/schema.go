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

// Schema is a JSON Schema of draft 2020-12, unless it names another draft. It is compiled when a value first needs it.
// A Schema is immutable and safe for concurrent use. A nil Schema describes any value.
type Schema struct {
	raw       json.RawMessage
	spellings map[string]string // by property; not in the text
	// root returns the schema as a node, parsed at the first call.
	root func() *node
	// judge returns the schema compiled at the first call, which decides about every value. root().fits is the fast way
	// to accept one.
	judge func() (*santhosh.Schema, error)
	hash  func() string
	// For schemas from outside: checks against one are counted, and one goroutine at a time runs them.
	tally   *tally
	judging sync.Mutex
	within  map[string]string // the directories to which the configuration limits properties
	bounds  *Schema           // the schema of the properties that the configuration bounds, see Bounded
	silent  bool              // closed, and the server does not name its properties: see Closed
}

// SchemaOf returns the schema of a Go type. The schema has no references and no $schema, and rejects unknown members.
// Every member is required unless it is tagged omitempty or omitzero. A recursive type is an error: model it as a flat
// list. SchemaOf does not test the tags. To test them, compile the schema's text in a test.
//
// Tags are those of github.com/invopop/jsonschema. Patterngate adds one: jsonschema_extras:"x-spelling=YYYY-MM" tells
// how to spell a text. It appears in [Property.Spelling] and [Tool.Signature]. It checks nothing and is not in
// [Schema.JSON].
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

// reflected caches the schemas of types: a type does not change, and reflecting one takes long.
var reflected sync.Map // reflect.Type to *Schema

func reflectSchema(t reflect.Type) (*Schema, error) {
	if err := recursion(t, nil); err != nil {
		return nil, fmt.Errorf(schemaOfType, t, err)
	}
	r := &invopop.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true}
	made := r.ReflectFromType(t)
	made.Version = "" // MCP means 2020-12 anyway, and some clients fail on the member
	spellings := takeSpellings(made)
	raw, err := json.Marshal(made)
	if err != nil {
		return nil, fmt.Errorf(schemaOfType, t, err)
	}
	return newSchema(raw, spellings), nil
}

// CompileSchema compiles a schema from JSON text. The schema must be an object that refers to nothing outside itself.
// It never loads anything from a file or the network.
func CompileSchema(raw []byte) (*Schema, error) {
	decoded, err := ijson.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if _, ok := decoded.(map[string]any); !ok {
		return nil, errors.New(schemaNotObject)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s := newSchema(compact.Bytes(), nil)
	if s.root().plain { // valid as it is; the library is used only to describe what is wrong with a value
		return s, nil
	}
	if _, err := s.judge(); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return s, nil
}

// newSchema returns a schema with this text. spellings are the spellings of properties, by name.
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

// judgeBy sets the function that compiles the schema.
func (s *Schema) judgeBy(compiled func(raw []byte) (*santhosh.Schema, error)) {
	s.judge = sync.OnceValues(func() (*santhosh.Schema, error) { return compiled(s.raw) })
}

// remarks are the library's names for the standard vocabularies that do not restrict values. Once a program registers
// its own vocabulary, the library checks the form of these keywords only if they are named too.
var remarks = []string{"meta-data", "format", "format-annotation", "content"}

func nothing(*santhosh.CompilerContext, map[string]any) (santhosh.SchemaExt, error) { return nil, nil }

const place = "mem:///schema.json"

func compile(raw []byte) (*santhosh.Schema, error) {
	return compileBy(raw, func(*santhosh.Compiler) {})
}

// compileBy compiles a schema. with can add to the compiler before that.
func compileBy(raw []byte, with func(*santhosh.Compiler)) (*santhosh.Schema, error) {
	doc, err := santhosh.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := santhosh.NewCompiler()
	c.UseLoader(noLoader{})
	c.AssertFormat() // without it, draft 2020-12 does not check "format"
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

// noLoader prevents schemas from reading files or the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf(schemaRefers, url)
}

// JSON returns the schema's text. The caller must not change it.
func (s *Schema) JSON() json.RawMessage {
	if s == nil {
		return json.RawMessage(`{}`)
	}
	return s.raw
}

// Without returns the schema without some properties of its root, for readers that do not set them. It also removes
// const, enum, default, examples, minProperties and maxProperties of the root, which depend on these properties. It
// ignores names that the schema does not have.
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

// withoutProperties returns a root schema without some properties, with all other members in their order.
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

// takeSpellings removes our own keyword from the root's properties and returns its values.
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

// recursion returns an error if a type contains itself, because inlining it would never end.
func recursion(t reflect.Type, inside []reflect.Type) error {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		if t.Name() != "" && slices.Contains(inside, t) {
			return fmt.Errorf(schemaInItself, t)
		}
		return recursion(t.Elem(), append(slices.Clip(inside), t))
	case reflect.Struct:
		if slices.Contains(inside, t) {
			return fmt.Errorf(schemaInItself, t)
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
