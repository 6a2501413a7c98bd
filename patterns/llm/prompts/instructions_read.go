package prompts

import (
	"slices"
	"strings"
	"text/template/parse"

	"patterngate/catalog"
	"patterngate/ijson"
)

// instructionsReader judges a template's nodes and puts around each action what shows its value as data, and into each range
// what counts its turns.
type instructionsReader struct {
	inputs []string
	shows  bool
	fault  *InstructionsFault
}

func (r *instructionsReader) refuse(n parse.Node, f InstructionsFault) {
	if r.fault == nil {
		f.Offset = max(0, int(n.Position()))
		r.fault = &f
	}
}

// list judges nodes; top: the dot is all inputs.
func (r *instructionsReader) list(l *parse.ListNode, top bool) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		r.node(n, top)
	}
}

func (r *instructionsReader) node(n parse.Node, top bool) {
	switch n := n.(type) {
	case *parse.TextNode, *parse.CommentNode, *parse.BreakNode, *parse.ContinueNode:
	case *parse.ActionNode:
		r.action(n, top)
	case *parse.IfNode:
		r.pipe(n.Pipe, top)
		r.list(n.List, top)
		r.list(n.ElseList, top)
	case *parse.WithNode:
		r.pipe(n.Pipe, top)
		r.list(n.List, false)
		r.list(n.ElseList, top)
	case *parse.RangeNode:
		r.ranging(n, top)
	default:
		r.refuse(n, InstructionsFault{Reason: ijson.Cut(n.String(), maxNodeShown) + ": a template of its own", Want: "write the text itself"})
	}
}

func (r *instructionsReader) action(n *parse.ActionNode, top bool) {
	if r.pipe(n.Pipe, top); r.fault != nil || isConstant(n.Pipe) {
		return
	}
	r.shows = true
	name := inputOf(n.Pipe)
	if !slices.Contains(r.inputs, name) {
		name = "value"
	}
	n.Pipe.Cmds = append(n.Pipe.Cmds, calling(n.Pos, shownAsData, &parse.StringNode{NodeType: parse.NodeString, Pos: n.Pos, Quoted: `"` + name + `"`, Text: name}))
}

func (r *instructionsReader) ranging(n *parse.RangeNode, top bool) {
	r.pipe(n.Pipe, top)
	if r.fault == nil && isConstant(n.Pipe) {
		r.refuse(n, InstructionsFault{Reason: ijson.Cut(n.String(), maxNodeShown) + ": a range over a constant", Want: "range over an input"})
	}
	r.list(n.List, false)
	r.list(n.ElseList, top)
	count := &parse.ActionNode{NodeType: parse.NodeAction, Pos: n.Pos, Line: n.Line, Pipe: &parse.PipeNode{
		NodeType: parse.NodePipe, Pos: n.Pos, Line: n.Line, Cmds: []*parse.CommandNode{calling(n.Pos, countedTurn)},
	}}
	n.List.Nodes = append([]parse.Node{count}, n.List.Nodes...)
}

func calling(at parse.Pos, function string, args ...parse.Node) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: at, Args: append([]parse.Node{parse.NewIdentifier(function).SetPos(at)}, args...)}
}

func (r *instructionsReader) pipe(p *parse.PipeNode, top bool) {
	if len(p.Decl) > 0 {
		r.refuse(p, InstructionsFault{Reason: ijson.Cut(p.String(), maxNodeShown) + ": a variable", Want: "use {{.name}}, or {{$.name}} inside of range and with"})
		return
	}
	for _, command := range p.Cmds {
		for _, arg := range command.Args {
			r.argument(arg, top)
		}
	}
}

func (r *instructionsReader) argument(arg parse.Node, top bool) {
	switch a := arg.(type) {
	case *parse.FieldNode:
		if top {
			r.input(a, a.Ident[0])
		}
	case *parse.VariableNode: // only $, all others are declared
		if len(a.Ident) > 1 {
			r.input(a, a.Ident[1])
		} else {
			r.refuse(a, InstructionsFault{Reason: "$: all inputs at once", Want: "name one: {{$.name}}"})
		}
	case *parse.DotNode:
		if top {
			r.refuse(a, InstructionsFault{Reason: "{{.}}: all inputs at once", Want: "name one: {{.name}}"})
		}
	case *parse.IdentifierNode:
		if !slices.Contains(templateFunctions, a.Ident) {
			r.refuse(a, InstructionsFault{Reason: "no function " + a.Ident, Want: "one of " + strings.Join(templateFunctions, ", ")})
		}
	case *parse.PipeNode:
		r.pipe(a, top)
	case *parse.ChainNode:
		r.argument(a.Node, top)
	}
}

// input holds that there is an input of that name.
func (r *instructionsReader) input(n parse.Node, name string) {
	if slices.Contains(r.inputs, name) {
		return
	}
	name = ijson.Cut(name, maxNodeShown)
	f := InstructionsFault{Reason: "{{" + ijson.Cut(n.String(), maxNodeShown) + "}}: no input " + name, DidYouMean: catalog.NearTyped(name, r.inputs)}
	if f.DidYouMean == "" {
		f.DidYouMean = begun(name, r.inputs)
	}
	switch {
	case len(r.inputs) == 0:
		f.Want = "this pattern has no inputs; write the text itself"
	case f.DidYouMean == "":
		f.Want = "one of " + strings.Join(r.inputs, ", ")
	}
	r.refuse(n, f)
}

// begun is the one input whose name begins as another does; "" for none or several.
func begun(name string, inputs []string) (only string) {
	for _, input := range inputs {
		if name != "" && strings.HasPrefix(input, name+"_") {
			if only != "" {
				return ""
			}
			only = input
		}
	}
	return only
}

func isConstant(pipe *parse.PipeNode) bool {
	if len(pipe.Decl) > 0 || len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return false
	}
	switch pipe.Cmds[0].Args[0].(type) {
	case *parse.StringNode, *parse.NumberNode, *parse.BoolNode:
		return true
	}
	return false
}

// inputOf is the first input that a pipe reads; "" where it reads none.
func inputOf(pipe *parse.PipeNode) string {
	for _, command := range pipe.Cmds {
		for _, arg := range command.Args {
			switch a := arg.(type) {
			case *parse.FieldNode:
				return a.Ident[0]
			case *parse.VariableNode:
				return a.Ident[len(a.Ident)-1]
			}
		}
	}
	return ""
}
