package toolargs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"patterngate/ijson"
	"patterngate/server/cli/console"
)

// maxInput is how many bytes of a file or of standard input are read: the limit of a call.
const maxInput = ijson.MaxBytes

// given holds the typed and read arguments, before the schema is known. The value of --args is valid JSON.
type given struct {
	base []Member // members of --args, with repeated ones
	keys []Key
}

// Member is one member of a JSON object, as written.
type Member struct{ Name, Value json.RawMessage }

// Key is one word: key=value, key=@file or key:=JSON.
type Key struct {
	Name string
	Text string
	JSON bool   // the value is JSON
	file string // the file of the value; "" if it was typed
}

// Read reads the words of a command line, the value of --args, and the files that they name. An empty args means that
// --args is not set. "-" names standard input, which is in.
func Read(ctx context.Context, in io.Reader, args string, words []string) (given, error) {
	keys, err := parseKeys(words)
	if err != nil {
		return given{}, console.Usage("call", err, "patterngate call --help")
	}
	g := given{keys: keys}
	read := &Input{Stdin: in}
	if args != "" {
		text, err := read.Argument(ctx, args)
		if ctx.Err() != nil {
			return given{}, ctx.Err()
		}
		if err == nil {
			g.base, err = Members(text)
		}
		if err != nil {
			return given{}, console.Usage("--args", err, `--args '{"key": "value"}', --args @file or --args -`)
		}
	}
	for i, k := range g.keys {
		if k.file == "" {
			continue
		}
		text, err := read.read(ctx, k.file)
		if ctx.Err() != nil {
			return given{}, ctx.Err()
		}
		if err != nil {
			return given{}, console.Usage("call: "+console.Typed(k.Name), err, unread(k, err))
		}
		g.keys[i].Text = string(text)
	}
	return g, nil
}

// unread returns advice for a file that does not exist, and "" for other errors.
func unread(k Key, err error) string {
	if !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return beginsWithAt(console.Typed(k.Name))
}

// parseKeys reads the words and reports all faults at once.
func parseKeys(words []string) ([]Key, error) {
	var keys []Key
	var faults []error
	named := map[string]bool{}
	for _, word := range words {
		k, err := parseKey(word)
		if err == nil && named[k.Name] {
			err = errors.New(givenTwice(console.Typed(k.Name)))
		}
		named[k.Name] = true
		faults = append(faults, err)
		keys = append(keys, k)
	}
	return keys, errors.Join(faults...)
}

// parseKey reads one word.
func parseKey(word string) (Key, error) {
	name, text, found := strings.Cut(word, "=")
	if !found {
		return Key{}, errors.New(noKeyValue(console.Typed(word)))
	}
	k := Key{Name: name, Text: text}
	k.Name, k.JSON = strings.CutSuffix(name, ":")
	switch {
	case k.Name == "":
		return Key{}, errors.New(noKeyIn(console.Typed(word)))
	case !utf8.ValidString(word):
		return Key{}, fmt.Errorf("%s: not UTF-8", console.Typed(k.Name))
	case k.JSON && !json.Valid([]byte(text)):
		return Key{}, errors.New(notJSONValue(console.Typed(k.Name), console.Typed(text), notJSON([]byte(text))))
	}
	if file, ok := strings.CutPrefix(text, "@"); ok && !k.JSON {
		if file == "" {
			return Key{}, errors.New(noFileNamed(console.Typed(k.Name)))
		}
		k.Text, k.file = "", file
	}
	return k, nil
}

// notJSON says why a text is not JSON.
func notJSON(text []byte) string {
	var v json.RawMessage
	err := json.Unmarshal(text, &v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("not JSON: %v (byte %d)", err, syntax.Offset)
	}
	return "not JSON"
}

// Input reads files. It can read standard input once.
type Input struct {
	Stdin io.Reader // standard input
	stdin bool      // standard input was read
}

// Argument returns the text of --args: the value itself, or the content of the file or standard input that it names.
func (in *Input) Argument(ctx context.Context, value string) ([]byte, error) {
	if value == "-" {
		return in.read(ctx, "-")
	}
	if file, ok := strings.CutPrefix(value, "@"); ok {
		return in.read(ctx, file)
	}
	return []byte(value), nil
}

// read reads a file, or standard input for "-".
func (in *Input) read(ctx context.Context, file string) ([]byte, error) {
	if file == "-" {
		if in.stdin {
			return nil, errors.New(readOnce)
		}
		in.stdin = true
	}
	type content struct {
		text []byte
		err  error
	}
	read := make(chan content, 1)
	go func() { // a terminal or pipe can block forever, but an interrupt must end the program
		text, err := in.bounded(file)
		read <- content{text, err}
	}()
	select {
	case got := <-read:
		return got.text, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// bounded reads at most [maxInput] bytes.
func (in *Input) bounded(file string) ([]byte, error) {
	name, from := "standard input", in.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		name, from = file, f
	}
	text, err := io.ReadAll(io.LimitReader(from, maxInput+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxInput:
		return nil, errors.New(tooManyBytes(name, maxInput))
	}
	return text, nil
}

// Members splits a JSON object into its members, as written. The server validates their values.
func Members(text []byte) ([]Member, error) {
	if !json.Valid(text) {
		return nil, errors.New(notJSON(text))
	}
	if text = bytes.TrimSpace(text); text[0] != '{' {
		return nil, errors.New(notObject(console.Typed(string(text))))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var members []Member
	for d.More() {
		from := int(d.InputOffset())
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		name := bytes.TrimLeft(text[from:d.InputOffset()], ", \t\r\n")
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		members = append(members, Member{name, value})
	}
	return members, nil
}

// named reports whether a member has this name.
func (m Member) named(name string) bool {
	var text string
	return json.Unmarshal(m.Name, &text) == nil && text == name
}

// Object returns all arguments as one JSON object: the members of --args and the keys. A key replaces a member of the
// same name. The tool's input schema gives each key its type. The error reports all faults at once.
func (g given) Object(schema json.RawMessage) (json.RawMessage, error) {
	types := ReadTypes(schema)
	var faults []error
	members := g.base
	for _, k := range g.keys {
		value, err := k.Value(types.Of(k.Name))
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", console.Typed(k.Name), err))
			continue
		}
		members = append(Without(members, k.Name), Member{ijson.Canonical(k.Name), value})
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return JoinMembers(members), nil
}

// Unknown returns the names of arguments that a tool's input schema does not know, and all that it knows. It returns none if the
// schema cannot be read.
func (g given) Unknown(schema json.RawMessage) (unknown, known []string) {
	known = ReadTypes(schema).Names()
	add := func(name string) {
		if len(known) > 0 && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	for _, m := range g.base {
		var name string
		if json.Unmarshal(m.Name, &name) == nil {
			add(name)
		}
	}
	for _, k := range g.keys {
		add(k.Name)
	}
	return unknown, known
}

// JoinMembers returns an object with these members.
func JoinMembers(members []Member) json.RawMessage {
	text := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, m.Name...), ':'), m.Value...)
	}
	return append(text, '}')
}

// Without returns the members that have another name.
func Without(members []Member, name string) []Member {
	var rest []Member
	for _, m := range members {
		if !m.named(name) {
			rest = append(rest, m)
		}
	}
	return rest
}
