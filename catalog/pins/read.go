package pins

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"patterngate/ijson"
)

// Fault reports why a file is not a valid lock.
type Fault struct {
	File         string // "" for a text
	Line, Column int    // from 1, columns in characters
	Pointer      ijson.Pointer
	Reason       string // what is wrong and what would be right
}

// Error returns the fault as FILE:LINE:COLUMN: POINTER: REASON.
func (f *Fault) Error() string {
	text := fmt.Sprintf("%d:%d: ", f.Line, f.Column)
	if f.File != "" {
		text = f.File + ":" + text
	}
	if f.Pointer != "" {
		text += string(f.Pointer) + ": "
	}
	return text + f.Reason
}

func faultAt(text []byte, offset int, at ijson.Pointer, reason string) *Fault {
	before := text[:min(max(offset, 0), len(text))]
	line := bytes.LastIndexByte(before, '\n') + 1
	return &Fault{Line: 1 + bytes.Count(before, []byte{'\n'}), Column: 1 + utf8.RuneCount(before[line:]), Pointer: at, Reason: reason}
}

// These are the patterns of texts in a lock.
var (
	pinName   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}/`)
	hexDigits = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

const (
	maxToolName = 256
	maxWords    = 1 << 10 // bytes of a member of an acceptance
)

// reader reads a decoded lock strictly.
type reader struct {
	text  []byte
	tools map[string][]byte // the texts of the tools, found in one pass
}

// wrong returns a fault at a place.
func (r reader) wrong(at ijson.Pointer, reason string) *Fault {
	return faultAt(r.text, offsetOf(r.text, at), at, reason)
}

func (r reader) lock(v any) (*Lock, *Fault) {
	root, fault := r.members(v, "", []string{"version", "tools"}, nil)
	if fault != nil {
		return nil, fault
	}
	if n, ok := root["version"].(float64); !ok || n != 1 {
		return nil, r.wrong("/version", otherVersion(string(ijson.Canonical(root["version"]))))
	}
	tools, ok := root["tools"].(map[string]any)
	if !ok {
		return nil, r.wrong("/tools", wantTools)
	}
	if len(tools) > maxTools {
		return nil, r.wrong("/tools", tooManyTools(len(tools), maxTools))
	}
	r.tools = toolTexts(r.text, len(tools))
	lock := &Lock{tools: make(map[string]pin, len(tools))}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		p, fault := r.pin(name, tools[name])
		if fault != nil {
			return nil, fault
		}
		lock.tools[name] = p
	}
	return lock, nil
}

// pin reads one tool. Its hash must be that of its definition.
func (r reader) pin(name string, v any) (pin, *Fault) {
	at := ijson.Pointer("/tools").Member(name)
	if !pinName.MatchString(name) {
		return pin{}, r.wrong(at, wantServerTool)
	}
	row, fault := r.members(v, at, []string{"sha256", "accepted", "tool"}, nil)
	if fault != nil {
		return pin{}, fault
	}
	var p pin
	if p.accepted, fault = r.acceptance(row["accepted"], at.Member("accepted")); fault != nil {
		return pin{}, fault
	}
	if p.definition, fault = r.definition(row["tool"], at.Member("tool")); fault != nil {
		return pin{}, fault
	}
	hash, _ := row["sha256"].(string)
	switch server, tool, _ := strings.Cut(name, "/"); {
	case p.definition.Name != tool:
		return pin{}, r.wrong(at.Member("tool").Member("name"), wantSameName(tool))
	case !hexDigits.MatchString(hash):
		return pin{}, r.wrong(at.Member("sha256"), wantHash)
	case hash != p.definition.Hash():
		return pin{}, r.wrong(at.Member("sha256"), wrongHash(Word(server, tool)))
	}
	return p, nil
}

func (r reader) acceptance(v any, at ijson.Pointer) (Acceptance, *Fault) {
	row, fault := r.members(v, at, []string{"at", "by", "assurance"}, []string{"key", "nonce", "signature"})
	if fault != nil {
		return Acceptance{}, fault
	}
	text := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(row)) {
		s, ok := row[name].(string)
		if !ok || s == "" || len(s) > maxWords {
			return Acceptance{}, r.wrong(at.Member(name), wantText)
		}
		text[name] = s
	}
	when, err := time.Parse(time.RFC3339, text["at"])
	if err != nil || when.UTC().Format(time.RFC3339) != text["at"] {
		return Acceptance{}, r.wrong(at.Member("at"), wantTime)
	}
	if text["assurance"] != "user" && text["assurance"] != "signed" {
		return Acceptance{}, r.wrong(at.Member("assurance"), wantAssurance)
	}
	for _, name := range []string{"key", "nonce", "signature"} {
		if signed := text["assurance"] == "signed"; signed != (text[name] != "") {
			return Acceptance{}, r.wrong(at.Member(name), wantSignature)
		}
	}
	return Acceptance{when.UTC(), text["by"], text["assurance"], text["key"], text["nonce"], text["signature"]}, nil
}

func (r reader) definition(v any, at ijson.Pointer) (Definition, *Fault) {
	row, fault := r.members(v, at, []string{"name"}, []string{"title", "description", "inputSchema", "outputSchema"})
	if fault != nil {
		return Definition{}, fault
	}
	var d Definition
	for name, to := range map[string]*string{"name": &d.Name, "title": &d.Title, "description": &d.Description} {
		given, there := row[name]
		text, ok := given.(string)
		if there && (!ok || text == "") {
			return Definition{}, r.wrong(at.Member(name), wantText)
		}
		*to = text
	}
	if len(d.Name) > maxToolName {
		return Definition{}, r.wrong(at.Member("name"), wantShorter(maxToolName))
	}
	for name, to := range map[string]*json.RawMessage{"inputSchema": &d.Input, "outputSchema": &d.Output} {
		given, there := row[name]
		if !there {
			continue
		}
		if _, ok := given.(map[string]any); !ok {
			return Definition{}, r.wrong(at.Member(name), wantSchema)
		}
		*to = r.raw(at.Member(name))
	}
	return d, nil
}

// members reads an object that has the required members, may have the optional ones, and has no others.
func (r reader) members(v any, at ijson.Pointer, required, optional []string) (map[string]any, *Fault) {
	row, ok := v.(map[string]any)
	if !ok {
		return nil, r.wrong(at, wantMembers(strings.Join(required, ", ")))
	}
	for _, name := range slices.Sorted(maps.Keys(row)) {
		if !slices.Contains(required, name) && !slices.Contains(optional, name) {
			place := at.Member(name)
			return nil, faultAt(r.text, keyOf(r.text, place), place, unknownMember(strings.Join(slices.Concat(required, optional), ", ")))
		}
	}
	for _, name := range required {
		if _, there := row[name]; !there {
			return nil, r.wrong(at, noMember(name))
		}
	}
	return row, nil
}

// toolTexts returns the texts of the tools, by name. tools is their number.
func toolTexts(text []byte, tools int) map[string][]byte {
	texts := make(map[string][]byte, tools)
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if !enter(d, "tools") {
		return texts
	}
	if _, err := d.ReadToken(); err != nil {
		return texts
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			break
		}
		key := name.String() // before the decoder reads on
		value, err := d.ReadValue()
		if err != nil {
			break
		}
		texts[key] = bytes.Clone(value)
	}
	return texts
}

// raw returns the text of the value at a place in a tool, in the original order and without white space.
func (r reader) raw(at ijson.Pointer) json.RawMessage {
	tokens := at.Tokens() // "tools", the tool's name, and the path in the tool
	d := jsontext.NewDecoder(bytes.NewReader(r.tools[tokens[1]]))
	for _, token := range tokens[2:] {
		if !enter(d, token) {
			return nil
		}
	}
	value, err := d.ReadValue()
	if err != nil {
		return nil
	}
	return compact(json.RawMessage(bytes.Clone(value)))
}

// enter moves into the next object, up to the value of that member.
func enter(d *jsontext.Decoder, name string) bool {
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return false
		}
		if token.String() == name {
			return true
		}
		if d.SkipValue() != nil {
			return false
		}
	}
	return false
}

// offsetOf returns where the value at a place begins. If there is no value, it returns where the nearest container
// begins.
func offsetOf(text []byte, at ijson.Pointer) int {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	found := 0
	for _, token := range at.Tokens() {
		if d.PeekKind() != '{' || !enter(d, token) {
			return found
		}
		found = valueFrom(text, int(d.InputOffset()))
	}
	return valueFrom(text, found)
}

// keyOf returns where the name of an existing member begins.
func keyOf(text []byte, at ijson.Pointer) int {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	tokens := at.Tokens()
	for _, token := range tokens[:len(tokens)-1] {
		if !enter(d, token) {
			return 0
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return 0
	}
	for d.PeekKind() == '"' {
		begin := valueFrom(text, int(d.InputOffset()))
		if name, err := d.ReadToken(); err != nil || name.String() == tokens[len(tokens)-1] {
			return begin
		}
		if d.SkipValue() != nil {
			return begin
		}
	}
	return 0
}

// valueFrom returns the offset after white space, colons and commas before a value.
func valueFrom(text []byte, offset int) int {
	return offset + len(text[offset:]) - len(bytes.TrimLeft(text[offset:], " \t\r\n:,"))
}
