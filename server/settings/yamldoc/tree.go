package yamldoc

import (
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"patterngate/catalog"
	"patterngate/ijson"
)

// tree turns the parser's AST into nodes, by our rules for scalars, keys, anchors and merges.
type tree struct {
	in      sourceText
	limits  *limits
	anchors map[string]*Node // by name, the latest; nil while the anchored value is being read
	flow    int              // open brackets and braces
}

func (t *tree) fault(at Place, path *Path, f Fault) { t.limits.faults.Add(at, path, f) }

// node reads one value. The argument depth is that of a list or mapping here, 1 for the root.
func (t *tree) node(n ast.Node, path *Path, depth int) *Node {
	at := t.place(n)
	bad := &Node{At: at, nodes: 1}
	if !t.limits.take(1, at, path) {
		return bad
	}
	switch n := n.(type) {
	case *ast.NullNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode, *ast.MergeKeyNode, *ast.StringNode:
		return t.scalar(n.GetToken(), at, path, false)
	case *ast.LiteralNode:
		return t.block(n, at, path)
	case *ast.MappingNode:
		return t.mapping(n, at, path, depth)
	case *ast.MappingValueNode:
		return t.mapping(&ast.MappingNode{BaseNode: &ast.BaseNode{}, Start: n.Start, Values: []*ast.MappingValueNode{n}}, at, path, depth)
	case *ast.SequenceNode:
		return t.list(n, at, path, depth)
	case *ast.AnchorNode:
		return t.anchor(n, at, path, depth)
	case *ast.AliasNode:
		return t.alias(n, at, path, depth)
	case *ast.TagNode:
		t.fault(at, path, tagFault(n.Start))
		return bad
	}
	t.fault(at, path, Fault{Reason: noYAML, Want: wantValidYAML})
	return bad
}

func tagFault(tk *token.Token) Fault {
	return Fault{Reason: aTag(ijson.Cut(tk.Value, MaxQuoted)), Want: wantNoTag}
}

// place returns where a node begins. A mapping in block style begins with its first key.
func (t *tree) place(n ast.Node) Place {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return t.place(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return t.place(n.Key)
	}
	return t.in.tokenPlace(n.GetToken())
}

// scalar reads plain or quoted text.
func (t *tree) scalar(tk *token.Token, at Place, path *Path, key bool) *Node {
	text := &Node{Kind: Text, At: at, Text: tk.Value, nodes: 1}
	f := Fault{}
	switch tk.Type {
	case token.ImplicitNullType:
		return &Node{Kind: Null, At: at, nodes: 1}
	case token.SingleQuoteType, token.DoubleQuoteType:
		if !t.in.tabs[min(at.Line, len(t.in.tabs))-1] { // with tabs the place is not sure
			f = faultOfQuoted(t.in.from(at))
		}
	default:
		f = faultOfPlain(tk, t.flow > 0, key)
		if f.Reason == "" && !key {
			return Scalar(tk.Value, at, path, t.limits.faults)
		}
	}
	if f.Reason != "" {
		t.fault(at, path, f)
		text.Kind = Unreadable
	}
	return text
}

// block reads literal and folded text.
func (t *tree) block(n *ast.LiteralNode, at Place, path *Path) *Node {
	if !blockHeader.MatchString(n.Start.Value) {
		t.fault(at, path, Fault{Reason: badBlockHeader, Want: wantBlockHeader})
		return &Node{At: at, nodes: 1}
	}
	return &Node{Kind: Text, At: at, Text: n.Value.Value, nodes: 1}
}

var blockHeader = regexp.MustCompile(`^[|>](?:[1-9][-+]?|[-+][1-9]?)?$`)

func (t *tree) list(n *ast.SequenceNode, at Place, path *Path, depth int) *Node {
	list := &Node{Kind: List, At: at}
	if t.limits.deep(depth, at, path) {
		return list.Counted()
	}
	if n.IsFlowStyle {
		t.flow++
		defer func() { t.flow-- }()
	} else if t.flow > 0 {
		t.fault(at, path, Fault{Reason: blockListInBrackets, Want: wantBrackets})
	}
	for i, value := range n.Values {
		below := path.Item(i)
		item := t.node(value, below, depth+1)
		if !n.IsFlowStyle && i < len(n.Entries) {
			entry := n.Entries[i].Start
			t.indented(value, entry.Position.Column, below)
			leftOut(item, value, t.in.tokenPlace(entry))
		}
		list.Items = append(list.Items, item)
	}
	return list.Counted()
}

// indented refuses a value that is further left than the list entry or key to which the parser gave it.
func (t *tree) indented(value ast.Node, column int, path *Path) {
	if anchored, ok := value.(*ast.AnchorNode); ok && anchored.Value != nil {
		value = anchored.Value
	}
	tk := value.GetToken()
	if tk.Type == token.ImplicitNullType || t.flow > 0 {
		return
	}
	at := t.place(value)
	if list, ok := value.(*ast.SequenceNode); ok && !list.IsFlowStyle {
		column-- // a list may stand below its key
	}
	if at.Column <= column {
		t.fault(at, path, Fault{Reason: notIndented, Want: wantIndented})
	}
}

func (t *tree) mapping(n *ast.MappingNode, at Place, path *Path, depth int) *Node {
	mapping := &Node{Kind: Mapping, At: at}
	if t.limits.deep(depth, at, path) {
		return mapping.Counted()
	}
	if n.IsFlowStyle {
		t.flow++
		defer func() { t.flow-- }()
	} else if t.flow > 0 {
		t.fault(at, path, Fault{Reason: mappingInBrackets, Want: wantBraces})
	}
	keys := keyList{}
	var merged []*Node
	for _, m := range n.Values {
		if isMerge(m.Key) {
			merged = append(merged, t.merge(m, path, keys, depth)...)
			continue
		}
		if member, fresh := t.member(m, path, keys, depth); fresh {
			mapping.Members = append(mapping.Members, member)
		}
	}
	for _, from := range merged {
		for _, m := range from.Members {
			if _, set := keys[m.Key]; !set {
				keys[m.Key] = m.At
				mapping.Members = append(mapping.Members, m)
			}
		}
	}
	return mapping.Counted()
}

// leftOut gives a value that is not written the place of its key or list entry.
func leftOut(value *Node, n ast.Node, at Place) {
	if value.Kind == Null && n.GetToken().Type == token.ImplicitNullType {
		value.At = at
	}
}

// isMerge reports whether a key is << without quotes.
func isMerge(key ast.Node) bool {
	tk := key.GetToken()
	return tk.Value == "<<" && (tk.Type == token.MergeKeyType || tk.Type == token.StringType)
}

// member reads a key and its value. It returns false if the key is repeated or unreadable; then only its faults count.
func (t *tree) member(m *ast.MappingValueNode, path *Path, keys keyList, depth int) (Member, bool) {
	at := t.place(m.Key)
	key, ok := t.key(m.Key, at, path)
	below := path.Key(key)
	if !t.limits.take(1, at, below) {
		return Member{}, false
	}
	fresh := ok && keys.add(key, at, below, t.limits.faults)
	if t.flow > 0 && !spaced(m) {
		t.fault(at, below, Fault{Reason: noSpaceAfterColon, Want: wantSpaceAfterColon})
	}
	if t.flow == 0 {
		t.indented(m.Value, at.Column, below)
	}
	value := t.node(m.Value, below, depth+1)
	leftOut(value, m.Value, at)
	return Member{key, at, value}, fresh
}

// spaced reports whether a key in braces is separate from its value: by quotes, or by a blank after the colon.
func spaced(m *ast.MappingValueNode) bool {
	switch m.Key.GetToken().Type {
	case token.SingleQuoteType, token.DoubleQuoteType:
		return true
	}
	next := m.Start.Next
	return next == nil || next.Origin == "" || strings.IndexByte(" \t\n", next.Origin[0]) >= 0
}

// key reads a key, which must be text on one line.
func (t *tree) key(n ast.Node, at Place, path *Path) (string, bool) {
	switch n := n.(type) {
	case *ast.MappingKeyNode: // the parser gives its value to other keys
		t.fault(at, path, Fault{Reason: markedKey, Want: wantKeyValue})
		return "", false
	case *ast.AnchorNode:
		name, ok := t.name(n.Name, at, path)
		key, isText := t.key(n.Value, at, path)
		t.anchors[name] = &Node{Kind: Text, At: at, Text: key, nodes: 1}
		return key, ok && isText
	case *ast.AliasNode:
		v := t.alias(n, at, path, 0)
		if v.Kind == Text {
			return v.Text, true
		}
		if v.Kind != Unreadable {
			t.fault(at, path, Fault{Reason: keyNotText, Want: wantKeyItself})
		}
		return "", false
	case ast.ScalarNode:
		return t.plainKey(n, at, path)
	}
	t.fault(at, path, Fault{Reason: keyNotText, Want: wantTextKey})
	return "", false
}

func (t *tree) plainKey(n ast.ScalarNode, at Place, path *Path) (string, bool) {
	tk := n.GetToken()
	switch tk.Type {
	case token.TagType:
		t.fault(at, path, tagFault(tk))
		return "", false
	case token.LiteralType, token.FoldedType, token.ImplicitNullType:
		t.fault(at, path, Fault{Reason: keyNotOneLine, Want: wantTextKey})
		return "", false
	case token.SingleQuoteType, token.DoubleQuoteType:
	default:
		if resolvePlain(tk.Value).Kind != Text {
			t.fault(at, path, Fault{Reason: keyNotText, Want: "write " + Quoted(tk.Value)})
			return "", false
		}
	}
	v := t.scalar(tk, at, path, true)
	return v.Text, v.Kind == Text
}

func (t *tree) anchor(n *ast.AnchorNode, at Place, path *Path, depth int) *Node {
	name, ok := t.name(n.Name, at, path)
	if !ok {
		return &Node{At: at, nodes: 1}
	}
	t.anchors[name] = nil
	value := t.node(n.Value, path, depth)
	if t.anchors[name] == nil { // else the same name was given again within
		t.anchors[name] = value
	}
	return value
}

// alias returns the node of the latest anchor of that name above it.
func (t *tree) alias(n *ast.AliasNode, at Place, path *Path, depth int) *Node {
	bad := &Node{At: at, nodes: 1}
	name, ok := t.name(n.Value, at, path)
	if !ok {
		return bad
	}
	value, known := t.anchors[name]
	switch {
	case !known:
		t.fault(at, path, Fault{Reason: noAnchor(name), Want: wantAnchor(name), DidYouMean: t.near(name)})
	case value == nil:
		t.fault(at, path, Fault{Reason: aliasInItself(name), Want: wantValueItself})
	case t.limits.take(value.nodes-1, at, path) && !t.limits.deep(depth+value.depth-1, at, path):
		return value
	}
	return bad
}

func (t *tree) near(name string) string {
	names := make([]string, 0, len(t.anchors))
	for n := range t.anchors {
		names = append(names, n)
	}
	return catalog.NearTyped(name, names)
}

// name reads the name of an anchor or alias.
func (t *tree) name(n ast.Node, at Place, path *Path) (string, bool) {
	if n != nil && anchorName.MatchString(n.GetToken().Value) {
		return n.GetToken().Value, true
	}
	t.fault(at, path, Fault{Reason: badAnchorName, Want: wantAnchorName})
	return "", false
}

var anchorName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// merge reads the value of <<: a mapping or a list of mappings. Earlier mappings win.
func (t *tree) merge(m *ast.MappingValueNode, path *Path, keys keyList, depth int) []*Node {
	at, below := t.place(m.Key), path.Key("<<")
	fresh := keys.add("<<", at, below, t.limits.faults)
	if strings.TrimSpace(m.Key.GetToken().Origin) != "<<" {
		t.fault(at, below, Fault{Reason: textBeforeMerge, Want: wantMergeAlone})
	}
	value := t.node(m.Value, below, depth+1)
	from := []*Node{value}
	if value.Kind == List {
		from = value.Items
	}
	var mappings []*Node
	for _, v := range from {
		switch {
		case v.Kind == Mapping && fresh:
			mappings = append(mappings, v)
		case v.Kind != Mapping && v.Kind != Unreadable:
			t.fault(v.At, below, Fault{Reason: wrongType, Got: v.Shown(), Want: wantMerged})
		}
	}
	return mappings
}
