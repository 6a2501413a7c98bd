package catalog

import (
	"encoding/json"
	"slices"
)

// spellingKeyword is Patterngate's own keyword for how to spell a text. Only people and planners use it.
const spellingKeyword = "x-spelling"

// node is a schema as read for showing it, for the order of its members and for the fast check. The compiled schema
// handles all other keywords.
type node struct {
	kind                                   string // the type; "" means several or any
	description, format, pattern, spelling string
	names                                  []string // the properties in the order of their declaration
	properties                             map[string]*node
	required                               []string
	closed                                 bool  // unknown members are refused
	items                                  *node // nil: any
	others                                 *node // members that are not in properties; nil: any
	enum                                   []any
	minimum                                float64
	example                                any
	hasExample                             bool
	exampleRank                            int  // of the keyword that gave the example
	elsewhere                              bool // other keywords also determine members and elements
	any                                    bool // rejects nothing
	plain                                  bool // fits alone decides: it knows all keywords
	more                                   bool // an unknown keyword is here, not only in the properties
}

func (n *node) has(name string) bool { return n.properties[name] != nil }

// parseNode reads a schema, which must be JSON. A plain schema is valid: compiling it cannot fail.
func parseNode(raw json.RawMessage) *node {
	n := &node{plain: true}
	if raw[0] != '{' { // a boolean schema
		n.any = string(raw) == "true"
		n.plain = n.any
		return n
	}
	for _, m := range membersOf(raw) {
		if !n.readStructure(m) && !n.readRemark(m) {
			n.plain = false
			n.more = n.more || n.properties == nil || m.name != "properties"
		}
	}
	n.any = n.plain && n.kind == "" && len(n.names) == 0 && len(n.required) == 0 && !n.closed && n.items == nil
	n.plain = n.plain && (n.any || slices.Contains(types, n.kind))
	return n
}

var types = []string{"object", "string", "integer", "number", "boolean", "array", "null"}

// readStructure reads a keyword that the fast check uses. False means another keyword, or a form that the check does
// not know.
func (n *node) readStructure(m member) bool {
	switch m.name {
	case "type":
		n.kind = m.text()
		return n.kind != ""
	case "properties":
		return m.value[0] == '{' && n.readProperties(membersOf(m.value))
	case "required":
		names, isList := m.decoded().([]any)
		for _, v := range names {
			name, isText := v.(string)
			if !isText || slices.Contains(n.required, name) {
				return false
			}
			n.required = append(n.required, name)
		}
		return isList
	case "additionalProperties":
		n.closed = string(m.value) == "false"
		if m.value[0] == '{' {
			n.others = parseNode(m.value)
		}
		return n.closed || string(m.value) == "true"
	case "items":
		if m.value[0] == '[' { // the tuple of older drafts
			return false
		}
		n.items = parseNode(m.value)
		return n.items.plain
	}
	return false
}

func (n *node) readProperties(properties []member) bool {
	n.properties = make(map[string]*node, len(properties))
	plain := true
	for _, p := range properties {
		child := parseNode(p.value)
		n.names = append(n.names, p.name)
		n.properties[p.name] = child
		plain = plain && child.plain
	}
	return plain
}

// readRemark reads a keyword that only informs readers. False means that the keyword restricts values, is unknown or is
// wrong.
func (n *node) readRemark(m member) bool {
	switch m.name {
	case "title", "$comment":
		return m.value[0] == '"'
	case "deprecated", "readOnly", "writeOnly":
		return string(m.value) == "true" || string(m.value) == "false"
	case "description":
		n.description = m.text()
		return m.value[0] == '"'
	case spellingKeyword:
		n.spelling = m.text()
		return true
	case "examples":
		n.exampleFrom(m, 4)
		return m.value[0] == '['
	case "default":
		n.exampleFrom(m, 2)
		return true
	}
	n.readJudging(m)
	return false
}

// readJudging reads the parts worth showing of keywords that the compiled schema checks.
func (n *node) readJudging(m member) {
	switch m.name {
	case "const":
		n.exampleFrom(m, 3)
	case "enum":
		n.enum, _ = m.decoded().([]any)
		n.exampleFrom(m, 1)
	case "format":
		n.format = m.text()
	case "pattern":
		n.pattern = m.text()
	case "minimum":
		n.minimum, _ = m.decoded().(float64)
	case "patternProperties", "prefixItems", "$ref", "$dynamicRef", "$recursiveRef":
		n.elsewhere = true
	}
}

// exampleFrom takes the value of a keyword as the example, unless a better keyword gave one. From a list of values it
// takes the first.
func (n *node) exampleFrom(m member, rank int) {
	v := m.decoded()
	if m.name == "examples" || m.name == "enum" {
		list, _ := v.([]any)
		if len(list) == 0 {
			return
		}
		v = list[0]
	}
	if rank > n.exampleRank {
		n.example, n.hasExample, n.exampleRank = v, true, rank
	}
}
