package yamldoc

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"

	"patterngate/ijson"
)

// maxBlockKeys is the limit of keys of one mapping in block style. The parser's time grows with their square.
const maxBlockKeys = 10_000

// parseYAML returns the body of the one document in a text, nil if it is empty. If it returns false, it recorded a fault.
func parseYAML(in sourceText, faults *Faults) (ast.Node, bool) {
	for size := 256 << 10; size < len(in.text); size *= 4 { // a hostile text is refused by its beginning
		guard := &tokenGuard{in: in}
		beginning := strings.ToValidUTF8(in.text[:size], "")
		if tokens, _ := scanYAML(beginning); !guard.admits(tokens) {
			faults.Add(guard.at, nil, guard.fault)
			return nil, false
		}
	}
	tokens, err := scanYAML(in.text)
	guard := &tokenGuard{in: in}
	if !guard.admits(tokens) {
		faults.Add(guard.at, nil, guard.fault)
		return nil, false
	}
	var file *ast.File
	if err == nil {
		file, err = parseTokens(tokens)
	}
	if err != nil {
		at := in.syntaxPlace(err)
		faults.Add(at, nil, Fault{Reason: notYAML(syntaxMessage(err)), Want: in.wantAt(at)})
		return nil, false
	}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			return doc.Body, true // the guard has seen that there is no other
		}
	}
	return nil, true
}

// expressionKey matches the key of an expression with its value to the end of the line.
var expressionKey = regexp.MustCompile(`(?:^|[ ,{])(when|once|happened|reroute): +(.*)`)

// wantAt returns what to write where a text is no YAML: quotes for an expression on that line, since most of what expressions
// need has a meaning in YAML too.
func (in sourceText) wantAt(at Place) string {
	if at.Line < 1 || at.Line > len(in.lines) {
		return wantValidYAML
	}
	found := expressionKey.FindStringSubmatch(in.lines[at.Line-1])
	switch {
	case found == nil || found[2] == "":
		return wantValidYAML
	case strings.HasPrefix(found[2], "'"):
		return wantOtherQuotes(found[1], `'`, `"`)
	case strings.HasPrefix(found[2], `"`) && strings.Count(found[2], `"`) > 2:
		return wantOtherQuotes(found[1], `"`, `'`)
	}
	return wantQuoted(found[1])
}

// scanYAML splits a text into tokens. With an error it returns the tokens up to there.
func scanYAML(text string) (tokens token.Tokens, err error) {
	defer contain(&err)
	var s scanner.Scanner
	s.Init(text)
	found, err := s.Scan()
	tokens.Add(found...)
	if bad := tokens.InvalidToken(); bad != nil {
		return tokens, &yaml.SyntaxError{Message: bad.Error, Token: bad}
	}
	return tokens, err
}

func parseTokens(tokens token.Tokens) (file *ast.File, err error) {
	defer contain(&err)
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // repeated keys are found with their paths
}

// contain turns a panic of the library into an error. A file must not end the program.
func contain(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf(parserStopped, cause)
	}
}

func syntaxMessage(err error) string {
	text := err.Error()
	if syntax, ok := errors.AsType[*yaml.SyntaxError](err); ok {
		text = syntax.Message
	}
	return strings.NewReplacer("\n", " ", "\t", `\t`).Replace(ijson.Cut(text, 2*MaxQuoted))
}

// syntaxPlace returns the place of a syntax error; of another error it is the beginning of the text.
func (in sourceText) syntaxPlace(err error) Place {
	if syntax, ok := errors.AsType[*yaml.SyntaxError](err); ok && syntax.Token != nil {
		return in.tokenPlace(syntax.Token)
	}
	return in.start()
}

// tokenPlace returns where a token begins. The scanner leaves most tabs out of its columns, so tokenPlace adds them: all tabs before
// it if the token begins there, else the nearest column at which the token's first character is.
func (in sourceText) tokenPlace(tk *token.Token) Place {
	const longLine = 4096 // a machine's, in which nobody looks for columns
	at := Place{in.source, max(tk.Position.Line, 1), max(tk.Position.Column, 1)}
	if at.Line > len(in.lines) || !in.tabs[at.Line-1] || len(in.lines[at.Line-1]) > longLine {
		return at
	}
	here, ok := in.seek(at.Line, at.Column)
	if !ok {
		return at
	}
	first, line, nearest := firstRune(tk), in.lines[at.Line-1], 0
	for c := *here; c.column-at.Column <= c.tabs; {
		if strings.HasPrefix(line[c.offset:], first) {
			if nearest == 0 {
				nearest = c.column
			}
			if c.column-at.Column == c.tabs {
				at.Column = c.column
				return at
			}
		}
		if !c.step(line) {
			break
		}
	}
	at.Column = max(at.Column, nearest)
	return at
}

// firstRune returns the character with which a token begins in the text.
func firstRune(tk *token.Token) string {
	switch tk.Type {
	case token.SingleQuoteType:
		return "'"
	case token.DoubleQuoteType:
		return `"`
	}
	_, size := utf8.DecodeRuneInString(tk.Value)
	return tk.Value[:size]
}

// tokenGuard checks a file's tokens before the parser gets them. The parser's time and stack grow with depth and with the square of
// some lengths. The guard also refuses what the parser ignores: second documents and directives.
type tokenGuard struct {
	in    sourceText
	at    Place
	fault Fault

	nodes      int
	flow       int          // open brackets and braces
	blocks     []tokenBlock // open lists and mappings in block style, outermost first
	properties int          // anchors and tags in a row
	last       token.Type
	began      bool // a document's header or content was seen
	ended      bool // its end mark was seen
}

// tokenBlock is a list or mapping in block style: its column and its keys so far.
type tokenBlock struct{ column, keys int }

// admits reports whether the tokens may be parsed. If not, fault and at say what is wrong and where.
func (g *tokenGuard) admits(tokens token.Tokens) bool {
	for i, tk := range tokens {
		if tk.Type == token.CommentType || tk.Type == token.SpaceType {
			continue
		}
		key := i+1 < len(tokens) && tokens[i+1].Type == token.MappingValueType
		if f := g.judge(tk, key); f.Reason != "" {
			g.at, g.fault = g.in.tokenPlace(tk), f
			return false
		}
		g.last = tk.Type
	}
	return true
}

func (g *tokenGuard) judge(tk *token.Token, key bool) Fault {
	switch tk.Type {
	case token.DirectiveType:
		return Fault{Reason: aDirective, Want: wantNoLine}
	case token.DocumentHeaderType, token.DocumentEndType:
		return g.document(tk)
	case token.InvalidType:
		return Fault{}
	case token.MappingStartType, token.SequenceStartType:
		g.flow++
	case token.MappingEndType, token.SequenceEndType:
		g.flow = max(0, g.flow-1)
		return Fault{}
	case token.CollectEntryType:
		if g.last == token.CollectEntryType || g.last == token.SequenceStartType || g.last == token.MappingStartType {
			return Fault{Reason: emptyBeforeComma, Want: wantNoComma}
		}
		return Fault{}
	case token.MappingValueType:
		return Fault{}
	case token.SequenceEntryType, token.MappingKeyType:
		g.open(tk.Position.Column, false)
	case token.AnchorType, token.TagType:
		g.properties++
	default:
		g.nodes++
		if key {
			g.open(tk.Position.Column, true)
		}
	}
	return g.bounds(tk)
}

// document refuses a second document.
func (g *tokenGuard) document(tk *token.Token) Fault {
	header := tk.Type == token.DocumentHeaderType
	if header && g.began {
		return Fault{Reason: secondDocument, Want: wantOneDocument}
	}
	g.began, g.ended = true, g.ended || !header
	g.flow, g.blocks, g.properties = 0, nil, 0
	return Fault{}
}

// open counts a list or mapping in block style, or one more key of it.
func (g *tokenGuard) open(column int, key bool) {
	if g.flow > 0 {
		return
	}
	for len(g.blocks) > 0 && g.blocks[len(g.blocks)-1].column > column {
		g.blocks = g.blocks[:len(g.blocks)-1]
	}
	if len(g.blocks) == 0 || g.blocks[len(g.blocks)-1].column < column {
		g.blocks = append(g.blocks, tokenBlock{column: column})
	}
	if key {
		g.blocks[len(g.blocks)-1].keys++
	}
}

func (g *tokenGuard) bounds(tk *token.Token) Fault {
	if g.ended {
		return Fault{Reason: secondDocument, Want: wantOneDocument}
	}
	g.began = true
	if property := tk.Type == token.AnchorType || tk.Type == token.TagType; !property && g.last != token.AnchorType {
		g.properties = 0
	}
	switch {
	case g.flow+len(g.blocks) > maxFileDepth:
		return Fault{Reason: nestedTooDeep, Want: wantFlatterFile}
	case g.nodes > maxFileNodes:
		return Fault{Reason: tooManyValues, Want: wantSmallerFile}
	case g.properties > 2:
		return Fault{Reason: severalAnchors, Want: wantOne}
	case len(g.blocks) > 0 && g.blocks[len(g.blocks)-1].keys > maxBlockKeys:
		return Fault{Reason: tooManyKeys, Want: wantSmallerFile}
	}
	return Fault{}
}
