package pins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"patterngate/ijson"
	"patterngate/ijson/printable"
)

// These are the limits of a lock file.
const (
	MaxBytes = 16 << 20
	maxTools = 10_000
)

// Lock is the content of a lock file. The zero Lock is empty. Only one goroutine may use it while it changes.
type Lock struct {
	tools map[string]pin // by server/tool
}

// pin is one accepted tool.
type pin struct {
	definition Definition
	accepted   Acceptance
}

// Acceptance records the person that accepted a definition, and the time. Key, Nonce and Signature are set only if an
// approver's key signed.
type Acceptance struct {
	At        time.Time // in whole seconds
	By        string    // local:<uid> or key:<id>
	Assurance string    // user or signed
	Key       string
	Nonce     string
	Signature string
}

// Name returns the name of a server's tool in the lock. A server's name has no slash; a tool's name may have one.
func Name(server, tool string) string { return server + "/" + tool }

// Word returns the [Name] as one word of a shell. A server can give a tool a name that a shell would run.
func Word(server, tool string) string { return printable.ShellWord(runtime.GOOS, Name(server, tool)) }

// Read reads a lock file. A missing file is an empty lock. If the file exists and is not a valid lock, the error is a
// [*Fault] with its place.
func Read(path string) (*Lock, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Lock{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	lock, err := Parse(text)
	if fault, ok := errors.AsType[*Fault](err); ok {
		fault.File = path
	}
	return lock, err
}

// Parse reads the text of a lock file. Every error is a [*Fault].
func Parse(text []byte) (*Lock, error) {
	v, err := ijson.DecodeLimit(text, MaxBytes)
	if err != nil {
		if fault, ok := errors.AsType[*ijson.Fault](err); ok {
			return nil, faultAt(text, fault.Offset, fault.Pointer, fault.Reason)
		}
		return nil, faultAt(text, 0, "", err.Error())
	}
	r := reader{text: text}
	lock, wrong := r.lock(v)
	if wrong != nil {
		return nil, wrong
	}
	return lock, nil
}

// Tool returns the accepted definition of a server's tool, and whether there is one.
func (l *Lock) Tool(server, tool string) (Definition, bool) {
	p, ok := l.tools[Name(server, tool)]
	return p.definition, ok
}

// Accepted returns the acceptance of a server's tool, and whether there is one.
func (l *Lock) Accepted(server, tool string) (Acceptance, bool) {
	p, ok := l.tools[Name(server, tool)]
	return p.accepted, ok
}

// Names returns the names of all accepted tools as server/tool, sorted.
func (l *Lock) Names() []string { return slices.Sorted(maps.Keys(l.tools)) }

// Of returns the names of a server's accepted tools, sorted.
func (l *Lock) Of(server string) []string {
	var names []string
	for _, name := range l.Names() {
		if tool, ok := strings.CutPrefix(name, server+"/"); ok {
			names = append(names, tool)
		}
	}
	return names
}

// Where returns a lock with the tools for which keep returns true. It returns the same lock if keep returns true for
// all.
func (l *Lock) Where(keep func(name string, d Definition, by Acceptance) bool) *Lock {
	kept := &Lock{tools: map[string]pin{}}
	for _, name := range l.Names() {
		if p := l.tools[name]; keep(name, p.definition, p.accepted) {
			kept.tools[name] = p
		}
	}
	if len(kept.tools) == len(l.tools) {
		return l
	}
	return kept
}

// Accept adds a definition, or replaces the accepted one. It returns an error if the definition cannot be stored.
func (l *Lock) Accept(server string, d Definition, by Acceptance) error {
	by.At = by.At.UTC().Truncate(time.Second)
	name := Name(server, d.Name)
	one := Lock{tools: map[string]pin{name: {d, by}}}
	again, err := Parse(one.text())
	if err != nil {
		return fmt.Errorf(cannotKeep, name, err)
	}
	if kept, _ := again.Tool(server, d.Name); kept.Hash() != d.Hash() {
		return fmt.Errorf(cannotKeepJSON, name)
	}
	if l.tools == nil {
		l.tools = map[string]pin{}
	}
	l.tools[name] = again.tools[name]
	return nil
}

// Remove removes server/tool and reports whether it was there.
func (l *Lock) Remove(name string) bool {
	_, there := l.tools[name]
	delete(l.tools, name)
	return there
}

// text returns the lock as written in its file: sorted, and one line for each member down to the tool, which is one
// line.
func (l *Lock) text() []byte {
	var b bytes.Buffer
	b.WriteString("{\n  \"version\": 1,\n  \"tools\": {")
	for i, name := range l.Names() {
		if i > 0 {
			b.WriteByte(',')
		}
		p := l.tools[name]
		fmt.Fprintf(&b, "\n    %s: {\n      \"sha256\": %s,\n      \"accepted\": %s,\n      \"tool\": %s\n    }",
			ijson.Canonical(name), ijson.Canonical(p.definition.Hash()), p.accepted.text(), p.definition.text())
	}
	if len(l.tools) > 0 {
		b.WriteString("\n  ")
	}
	b.WriteString("}\n}\n")
	return b.Bytes()
}

func (a Acceptance) text() []byte {
	out := []byte{'{'}
	for _, m := range []struct{ name, text string }{
		{"at", a.At.Format(time.RFC3339)}, {"by", a.By}, {"assurance", a.Assurance}, {"key", a.Key}, {"nonce", a.Nonce}, {"signature", a.Signature},
	} {
		if m.text == "" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ", "...)
		}
		out = ijson.Append(append(out, `"`+m.name+`": `...), m.text)
	}
	return append(out, '}')
}

var _ json.Marshaler = (*Lock)(nil)

// MarshalJSON implements [json.Marshaler].
func (l *Lock) MarshalJSON() ([]byte, error) { return l.text(), nil }
