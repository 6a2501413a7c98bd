package yamldoc

import (
	"encoding/json"
	"strconv"
)

// The bounds of a file (spec/config.md section 1).
const (
	MaxBytes     = 4 << 20 // of its text
	maxFileDepth = 64
	maxFileNodes = 200_000
)

// Kind says what a node of a document is.
type Kind int

// The kinds of nodes. The zero kind is a value that could not be read: a fault was recorded at its place.
const (
	Unreadable Kind = iota
	Null
	Bool
	Number
	Text
	List
	Mapping
)

// Node is one value of a document with its place. An alias shares the node of its anchor, so two parents may have the same child.
// A node is not changed after it was read.
type Node struct {
	Kind    Kind
	At      Place
	Flag    bool     // of a Bool
	Number  float64  // of a Number: finite, and exact where it is whole
	Text    string   // of a Text; of a Number its spelling
	Items   []*Node  // of a List
	Members []Member // of a Mapping, without repeated keys; merged ones are last

	nodes int // itself and all below, keys too; each alias is counted in full
	depth int // lists and mappings from here down
}

// Member is one key of a mapping, the place of the key, and its value.
type Member struct {
	Key   string
	At    Place
	Value *Node
}

// Read reads one document of YAML or JSON into a tree by the rules of spec/config.md section 1. The argument source names the text
// in faults. Read adds what is wrong to faults; a value that it cannot read is a node of kind [Unreadable], and the rest of the
// tree is complete. An empty document is null.
//
//	text ──prepareText──▶ LF text ──json.Valid?──▶ jsonTree ──────────▶ Node
//	                         └────scan──guard──▶ parser's AST ──tree──▶ Node
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

// take counts n more nodes. It returns false if the file is too large, and records that once.
func (l *limits) take(n int, at Place, path *Path) bool {
	l.nodes += n
	if l.over || l.nodes <= maxFileNodes {
		return !l.over
	}
	l.over = true
	l.faults.Add(at, path, Fault{Reason: tooManyValues, Want: wantSmallerFile})
	return false
}

// deep reports whether a list or mapping is nested deeper than allowed, and records that once.
func (l *limits) deep(depth int, at Place, path *Path) bool {
	if depth <= maxFileDepth || l.over {
		return l.over
	}
	l.over = true
	l.faults.Add(at, path, Fault{Reason: nestedTooDeep, Want: wantFlatterFile})
	return true
}

// Counted sets the size and depth of a list or mapping from those of its children, and returns it. It is for nodes that are made
// by hand; those that [Read] makes are counted.
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

// keyList remembers the keys of a mapping to find a repeated one.
type keyList map[string]Place

// add reports whether key is new. A repeated key is a fault at its own place.
func (k keyList) add(key string, at Place, path *Path, faults *Faults) bool {
	first, again := k[key]
	if !again {
		k[key] = at
		return true
	}
	reason := repeatedKey(strconv.Itoa(first.Line))
	if first.Line == at.Line {
		reason += ", column " + strconv.Itoa(first.Column)
	}
	faults.Add(at, path, Fault{Reason: reason})
	return false
}
