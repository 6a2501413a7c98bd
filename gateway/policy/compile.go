package policy

import (
	"fmt"
	"sync"
	"unicode/utf8"

	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/containers"
	"cel.dev/cel-go/common/decls"
)

// Scope is what the expressions of one place may read. Making one costs more than compiling in it, so expressions about the
// same values share theirs. It is safe for concurrent use.
type Scope struct {
	variables []Variable
	made      func() (*made, error)
}

// made is a scope in the checker's form.
type made struct {
	*environment
	provider *provider
	check    *checker.Env
}

// NewScope takes the variables that may be read. Nothing is set up before the first expression is compiled.
func NewScope(variables ...Variable) *Scope {
	s := &Scope{variables: variables}
	s.made = sync.OnceValues(s.make)
	return s
}

func (s *Scope) make() (*made, error) {
	env, err := shared()
	if err != nil {
		return nil, err
	}
	m := &made{environment: env, provider: newProvider(env.cel.CELTypeProvider()), check: env.checker}
	return m.with(s.variables...)
}

// with is a scope that reads more. Both know the objects of either: they are made one after the other.
func (m *made) with(variables ...Variable) (*made, error) {
	check, err := checker.NewEnv(containers.DefaultContainer, m.provider, checker.ValidatedDeclarations(m.check))
	if err != nil {
		return nil, err
	}
	for _, v := range variables {
		if err := check.AddIdents(decls.NewVariable(v.Name, m.provider.celType(v.Type))); err != nil {
			return nil, err
		}
	}
	return &made{m.environment, m.provider, check}, nil
}

func namesOf(variables []Variable) []string {
	names := make([]string, len(variables))
	for i, v := range variables {
		names[i] = v.Name
	}
	return names
}

func typesOf(variables []Variable) map[string]Type {
	types := make(map[string]Type, len(variables))
	for _, v := range variables {
		types[v.Name] = v.Type
	}
	return types
}

// Compile is [Scope.Compile] in a scope of its own.
func Compile(text string, want Type, variables ...Variable) (*Expression, []Fault) {
	return NewScope(variables...).Compile(text, want)
}

// Compile reads a text and checks it against the types of what it reads and of what is wanted of it. The expression is nil
// where a fault is more than a warning. An expression may be wanted optional: see [Expression.Eval].
func (s *Scope) Compile(text string, want Type) (*Expression, []Fault) {
	m, err := s.made()
	if err != nil {
		return nil, []Fault{{Line: 1, Column: 1, Reason: "no expressions here: " + err.Error()}}
	}
	checked, faults := m.compile(text, want, s.variables, nil)
	if checked == nil {
		return nil, faults
	}
	return newExpression(m.environment, checked.ast, s.variables, want), faults
}

// checked is a text that means something.
type checked struct {
	ast *ast.AST
	is  Type // of what it computes
}

// compile reads a text and checks it; what look finds before that is a fault too. Nothing is made where a fault is more than a
// warning.
func (m *made) compile(text string, want Type, variables []Variable, look func(*wording) []Fault) (c *checked, faults []Fault) {
	defer func() {
		if p := recover(); p != nil { // a text must not be able to stop the program, whatever the library makes of it
			c, faults = nil, []Fault{{Line: 1, Column: 1, Reason: fmt.Sprintf("not an expression: %.100v", p)}}
		}
	}()
	source, parsed, faults := m.parse(text)
	if faults != nil {
		return nil, faults
	}
	w := &wording{scope: m, source: source, ast: parsed, names: namesOf(variables), types: typesOf(variables)}
	if look != nil {
		if faults = look(w); len(faults) > 0 {
			return nil, faults
		}
	}
	known, errs := checker.Check(w.ast, source, m.check)
	w.ast = known
	for _, e := range errs.GetErrors() {
		faults = append(faults, w.fault(e))
	}
	if len(faults) > 0 {
		return nil, faults
	}
	faults = w.judge(want)
	if failing(faults) {
		return nil, faults
	}
	return &checked{known, w.computed(known.Expr())}, faults
}

// parse reads a text without looking at what it names.
func (m *made) parse(text string) (common.Source, *ast.AST, []Fault) {
	if !utf8.ValidString(text) {
		return nil, nil, []Fault{{Line: 1, Column: 1, Reason: "not UTF-8"}}
	}
	source := common.NewTextSource(text)
	if len(text) > MaxText && utf8.RuneCountInString(text) > MaxText {
		return nil, nil, []Fault{placed(Fault{Reason: fmt.Sprintf("more than %d characters", MaxText)}, source, 1, 0)}
	}
	parsed, wrong := m.parser.Parse(source)
	if len(wrong.GetErrors()) > 0 {
		return nil, nil, syntaxFaults(source, wrong)
	}
	if deep(parsed.Expr(), maxNesting) {
		return nil, nil, []Fault{placed(Fault{Reason: "nested too deep"}, source, 1, 0)}
	}
	return source, parsed, nil
}

// maxNesting bounds how deep an expression lies after its macros were written out.
const maxNesting = 400

func deep(e ast.Expr, left int) bool {
	if left == 0 {
		return true
	}
	for _, child := range children(e) {
		if deep(child, left-1) {
			return true
		}
	}
	return false
}

// children are the expressions that an expression is made of.
func children(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() {
			return append([]ast.Expr{call.Target()}, call.Args()...)
		}
		return call.Args()
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var all []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			all = append(all, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return all
	case ast.StructKind:
		var all []ast.Expr
		for _, f := range e.AsStruct().Fields() {
			all = append(all, f.AsStructField().Value())
		}
		return all
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		return []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()}
	}
	return nil
}

// syntaxFaults words what the parser says.
func syntaxFaults(source common.Source, wrong *common.Errors) []Fault {
	var faults []Fault
	for _, e := range wrong.GetErrors() {
		f := Fault{Reason: syntaxWords(e.Message)}
		faults = append(faults, placed(f, source, e.Location.Line(), e.Location.Column()))
	}
	return faults
}
