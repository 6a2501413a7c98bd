package yamldoc

import (
	"encoding/json"
	"strconv"
)

// The bounds of a file (spec/config.md section 1).
const (
	MaxBytes     = 4 << 20
	maxFileDepth = 64
	maxFileNodes = 200_000
)

// Kind is what a node of a file is.
type Kind int

// The zero kind is what could not be read; a fault was recorded where it stands.
const (
	Unreadable Kind = iota
	Null
	Bool
	Number
	Text
	List
	Mapping
)

// Node is one value of a file with its place. Aliases share the node of their anchor, so the tree may be a DAG;
// nobody changes a node once it was read.
type Node struct {
	Kind    Kind
	At      Place
	Flag    bool     // of a yamlBool
	Number  float64  // of a yamlNumber: finite, and exact where it is whole
	Text    string   // of a yamlText; of a yamlNumber its spelling
	Items   []*Node  // of a yamlList
	Members []Member // of a yamlMapping, without repeated keys, merged ones last

	nodes int // itself and all below, keys too, each alias counted in full
	depth int // lists and mappings from here down
}

// Member is one key of a mapping.
type Member struct {
	Key   string
	At    Place
	Value *Node
}

// Read reads one document of YAML or JSON into a tree by the rules of spec/config.md section 1. Faults go to
// faults; the tree is whole but for nodes of kind yamlBad. An empty document is null.
//
//	text ──prepare──▶ LF text ──json.Valid?──▶ jsonTree ──────────────▶ yamlNode
//	                     └────scan──guard──▶ parser's AST ──yamlTree──▶ yamlNode
func Read(source string, text []byte, faults *Faults) *Node {
	in, ok := prepareText(source, text, faults)
	if !ok {
		return &Node{At: Place{source, 1, 1}}
	}
	limits := &limits{faults: faults}
	root := &Node{Kind: Null, At: in.start(), nodes: 1}
	if json.Valid([]byte(in.text)) {
		root = readJSON(in, limits)
	} else if body, ok := parseYAML(in, faults); !ok {
		root = &Node{At: in.start()}
	} else if body != nil {
		tree := tree{in: in, limits: limits, anchors: map[string]*Node{}}
		root = tree.node(body, nil, 1)
	}
	if limits.over {
		return &Node{At: root.At}
	}
	return root
}

// limits counts what was read and stops the reading at the bounds.
type limits struct {
	faults *Faults
	nodes  int
	over   bool
}

// take counts n more nodes; false means that the file is too large and said so.
func (l *limits) take(n int, at Place, path *Path) bool {
	l.nodes += n
	if l.over || l.nodes <= maxFileNodes {
		return !l.over
	}
	l.over = true
	l.faults.Add(at, path, Fault{Reason: "more than 200,000 values and keys, aliases counted in full", Want: "write a smaller file"})
	return false
}

// deep reports, and records, that a list or mapping lies deeper than allowed.
func (l *limits) deep(depth int, at Place, path *Path) bool {
	if depth <= maxFileDepth || l.over {
		return l.over
	}
	l.over = true
	l.faults.Add(at, path, Fault{Reason: "lists and mappings nested deeper than 64", Want: "write a flatter file"})
	return true
}

// Counted sums up a list or mapping after its children were read.
func (n *Node) Counted() *Node {
	n.nodes, n.depth = 1, 0
	for _, item := range n.Items {
		n.nodes += item.nodes
		n.depth = max(n.depth, item.depth)
	}
	for _, m := range n.Members {
		n.nodes += 1 + m.Value.nodes
		n.depth = max(n.depth, m.Value.depth)
	}
	n.depth++
	return n
}

// keyList remembers a mapping's keys, so that a repeated one is found.
type keyList map[string]Place

// add reports whether key is new; a repeated one is a fault at its own place.
func (k keyList) add(key string, at Place, path *Path, faults *Faults) bool {
	first, again := k[key]
	if !again {
		k[key] = at
		return true
	}
	reason := "repeated key, first at line " + strconv.Itoa(first.Line)
	if first.Line == at.Line {
		reason += ", column " + strconv.Itoa(first.Column)
	}
	faults.Add(at, path, Fault{Reason: reason})
	return false
}
