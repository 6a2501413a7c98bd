package cli

import (
	"encoding/json"
	"strconv"
)

// The bounds of a file (spec/config.md section 1).
const (
	maxFileBytes = 4 << 20
	maxFileDepth = 64
	maxFileNodes = 200_000
)

// yamlKind is what a node of a file is.
type yamlKind int

// The zero kind is what could not be read; a fault was recorded where it stands.
const (
	yamlBad yamlKind = iota
	yamlNull
	yamlBool
	yamlNumber
	yamlText
	yamlList
	yamlMapping
)

// yamlNode is one value of a file with its place. Aliases share the node of their anchor, so the tree may be a DAG;
// nobody changes a node once it was read.
type yamlNode struct {
	kind    yamlKind
	at      place
	flag    bool         // of a yamlBool
	number  float64      // of a yamlNumber: finite, and exact where it is whole
	text    string       // of a yamlText; of a yamlNumber its spelling
	items   []*yamlNode  // of a yamlList
	members []yamlMember // of a yamlMapping, without repeated keys, merged ones last

	nodes int // itself and all below, keys too, each alias counted in full
	depth int // lists and mappings from here down
}

// yamlMember is one key of a mapping.
type yamlMember struct {
	key   string
	at    place
	value *yamlNode
}

// readYAML reads one document of YAML or JSON into a tree by the rules of spec/config.md section 1. Faults go to
// faults; the tree is whole but for nodes of kind yamlBad. An empty document is null.
//
//	text ──prepare──▶ LF text ──json.Valid?──▶ jsonTree ──────────────▶ yamlNode
//	                     └────scan──guard──▶ parser's AST ──yamlTree──▶ yamlNode
func readYAML(source string, text []byte, faults *configFaults) *yamlNode {
	in, ok := prepareText(source, text, faults)
	if !ok {
		return &yamlNode{at: place{source, 1, 1}}
	}
	limits := &yamlLimits{faults: faults}
	root := &yamlNode{kind: yamlNull, at: in.start(), nodes: 1}
	if json.Valid([]byte(in.text)) {
		root = readJSON(in, limits)
	} else if body, ok := parseYAML(in, faults); !ok {
		root = &yamlNode{at: in.start()}
	} else if body != nil {
		tree := yamlTree{in: in, limits: limits, anchors: map[string]*yamlNode{}}
		root = tree.node(body, nil, 1)
	}
	if limits.over {
		return &yamlNode{at: root.at}
	}
	return root
}

// yamlLimits counts what was read and stops the reading at the bounds.
type yamlLimits struct {
	faults *configFaults
	nodes  int
	over   bool
}

// take counts n more nodes; false means that the file is too large and said so.
func (l *yamlLimits) take(n int, at place, path *keyPath) bool {
	l.nodes += n
	if l.over || l.nodes <= maxFileNodes {
		return !l.over
	}
	l.over = true
	l.faults.add(at, path, Fault{Reason: "more than 200,000 values and keys, aliases counted in full", Want: "write a smaller file"})
	return false
}

// deep reports, and records, that a list or mapping lies deeper than allowed.
func (l *yamlLimits) deep(depth int, at place, path *keyPath) bool {
	if depth <= maxFileDepth || l.over {
		return l.over
	}
	l.over = true
	l.faults.add(at, path, Fault{Reason: "lists and mappings nested deeper than 64", Want: "write a flatter file"})
	return true
}

// finish sums up a list or mapping after its children were read.
func (n *yamlNode) finish() *yamlNode {
	n.nodes, n.depth = 1, 0
	for _, item := range n.items {
		n.nodes += item.nodes
		n.depth = max(n.depth, item.depth)
	}
	for _, m := range n.members {
		n.nodes += 1 + m.value.nodes
		n.depth = max(n.depth, m.value.depth)
	}
	n.depth++
	return n
}

// keyList remembers a mapping's keys, so that a repeated one is found.
type keyList map[string]place

// add reports whether key is new; a repeated one is a fault at its own place.
func (k keyList) add(key string, at place, path *keyPath, faults *configFaults) bool {
	first, again := k[key]
	if !again {
		k[key] = at
		return true
	}
	reason := "repeated key, first at line " + strconv.Itoa(first.line)
	if first.line == at.line {
		reason += ", column " + strconv.Itoa(first.column)
	}
	faults.add(at, path, Fault{Reason: reason})
	return false
}
