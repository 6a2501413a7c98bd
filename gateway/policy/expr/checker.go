package expr

import (
	"slices"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/containers"
	"cel.dev/cel-go/common/decls"
)

// Checker checks texts against variables and their types. It is for packages that need the syntax tree of an expression. Other
// packages use [Scope]. It may be used by several goroutines, but see [Checker.With].
type Checker struct {
	*environment
	provider  *provider
	check     *checker.Env
	variables []Variable
}

// NewChecker returns a checker that knows the variables. It fails if CEL cannot be set up, or if two variables have one name.
func NewChecker(variables ...Variable) (*Checker, error) {
	env, err := shared()
	if err != nil {
		return nil, err
	}
	empty := &Checker{environment: env, provider: newProvider(env.cel.CELTypeProvider()), check: env.checker}
	return empty.With(variables...)
}

// With returns a checker that also knows the given variables. Faults list them before those of c. While With runs, no other
// goroutine may use c or a checker that was made from it.
func (c *Checker) With(variables ...Variable) (*Checker, error) {
	check, err := checker.NewEnv(containers.DefaultContainer, c.provider, checker.ValidatedDeclarations(c.check))
	if err != nil {
		return nil, err
	}
	for _, v := range variables {
		if err := check.AddIdents(decls.NewVariable(v.Name, c.provider.celType(v.Type))); err != nil {
			return nil, err
		}
	}
	return &Checker{c.environment, c.provider, check, slices.Concat(variables, c.variables)}, nil
}

// namesOf returns the names of variables.
func namesOf(variables []Variable) []string {
	names := make([]string, len(variables))
	for i, v := range variables {
		names[i] = v.Name
	}
	return names
}

// typesOf returns the types of variables by name.
func typesOf(variables []Variable) map[string]Type {
	types := make(map[string]Type, len(variables))
	for _, v := range variables {
		types[v.Name] = v.Type
	}
	return types
}

// Checked is a text that compiled.
type Checked struct {
	AST  *ast.AST
	Type Type // of the value

	checker *Checker
	want    Type
}

// Expression returns the text as an [Expression], which is evaluated from decoded values.
func (c *Checked) Expression() *Expression {
	return newExpression(c.checker.environment, c.AST, c.checker.variables, c.want)
}

// Part returns a part of the syntax tree as an expression of its own, so that it can be evaluated by itself. Its Type is dyn.
func (c *Checked) Part(e ast.Expr) *Checked {
	return &Checked{AST: ast.NewCheckedAST(ast.NewAST(e, c.AST.SourceInfo()), c.AST.TypeMap(), c.AST.ReferenceMap()), checker: c.checker}
}

// Check compiles a text that should have a value of type want. The result is nil if a fault is more than a warning.
//
// refuse, if not nil, is called for each variable.member that the text reads. It returns the reasons why the text must not read
// it.
func (c *Checker) Check(text string, want Type, refuse func(variable, member string) (reasons []string)) (checked *Checked, faults []Fault) {
	defer func() {
		if p := recover(); p != nil { // a text must not stop the program if the library panics
			checked, faults = nil, []Fault{{Line: 1, Column: 1, Reason: notParsed(p)}}
		}
	}()
	source, parsed, faults := c.parse(text)
	if faults != nil {
		return nil, faults
	}
	w := &wording{scope: c, source: source, ast: parsed, names: namesOf(c.variables), types: typesOf(c.variables)}
	if refuse != nil {
		if faults = w.refused(parsed.Expr(), refuse); len(faults) > 0 {
			return nil, faults
		}
	}
	known, errs := checker.Check(w.ast, source, c.check)
	w.ast = known
	for _, e := range errs.GetErrors() {
		faults = append(faults, w.fault(e))
	}
	if len(faults) > 0 {
		return nil, faults
	}
	faults = w.judge(want)
	if HasErrors(faults) {
		return nil, faults
	}
	return &Checked{AST: known, Type: w.computed(known.Expr()), checker: c, want: want}, faults
}

// refused returns the faults that refuse finds in an expression.
func (w *wording) refused(e ast.Expr, refuse func(variable, member string) []string) []Fault {
	var faults []Fault
	if operand, member, ok := Selection(e); ok && operand.Kind() == ast.IdentKind {
		for _, reason := range refuse(strings.TrimPrefix(operand.AsIdent(), "."), member) {
			faults = append(faults, w.atMember(e, member, Fault{Reason: reason}))
		}
	}
	for _, child := range Children(e) {
		faults = append(faults, w.refused(child, refuse)...)
	}
	return faults
}

// Parse reads the syntax of a text and checks no names or types. The tree is nil if there are faults.
func (c *Checker) Parse(text string) (*ast.AST, []Fault) {
	_, tree, faults := c.parse(text)
	return tree, faults
}

func (c *Checker) parse(text string) (common.Source, *ast.AST, []Fault) {
	if !utf8.ValidString(text) {
		return nil, nil, []Fault{{Line: 1, Column: 1, Reason: notUTF8}}
	}
	source := common.NewTextSource(text)
	if len(text) > MaxText && utf8.RuneCountInString(text) > MaxText {
		return nil, nil, []Fault{placed(Fault{Reason: tooManyCharacters(MaxText)}, source, 1, 0)}
	}
	parsed, wrong := c.parser.Parse(source)
	if len(wrong.GetErrors()) > 0 {
		return nil, nil, syntaxFaults(source, wrong)
	}
	if deep(parsed.Expr(), maxNesting) {
		return nil, nil, []Fault{placed(Fault{Reason: nestedTooDeep}, source, 1, 0)}
	}
	return source, parsed, nil
}

// maxNesting bounds the depth of an expression after its macros are expanded.
const maxNesting = 400

// deep reports whether an expression is nested deeper than left.
func deep(e ast.Expr, left int) bool {
	if left == 0 {
		return true
	}
	for _, child := range Children(e) {
		if deep(child, left-1) {
			return true
		}
	}
	return false
}

// syntaxFaults turns the errors of the parser into faults.
func syntaxFaults(source common.Source, wrong *common.Errors) []Fault {
	var faults []Fault
	for _, e := range wrong.GetErrors() {
		f := placed(Fault{Reason: syntaxWords(e.Message)}, source, e.Location.Line(), e.Location.Column())
		f.Want = syntaxHint(source.Content(), f.Offset)
		faults = append(faults, f)
	}
	return faults
}
