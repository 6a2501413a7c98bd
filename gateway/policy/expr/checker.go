package expr

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/containers"
	"cel.dev/cel-go/common/decls"
)

// Checker checks texts against variables and their types. It is for packages that look into an expression; others use [Scope].
type Checker struct {
	*environment
	provider  *provider
	check     *checker.Env
	variables []Variable
}

// NewChecker makes a checker that knows these variables.
func NewChecker(variables ...Variable) (*Checker, error) {
	env, err := shared()
	if err != nil {
		return nil, err
	}
	empty := &Checker{environment: env, provider: newProvider(env.cel.CELTypeProvider()), check: env.checker}
	return empty.With(variables...)
}

// With returns a checker that also knows other variables: faults list them first. Both checkers must not be used at the same time.
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

// Checked is a text that means something.
type Checked struct {
	AST  *ast.AST
	Type Type // of its value

	checker *Checker
	want    Type
}

// Expression makes an expression that is evaluated from decoded values.
func (c *Checked) Expression() *Expression {
	return newExpression(c.checker.environment, c.AST, c.checker.variables, c.want)
}

// Part is a part of the expression by itself. Its type is dyn.
func (c *Checked) Part(e ast.Expr) *Checked {
	return &Checked{AST: ast.NewCheckedAST(ast.NewAST(e, c.AST.SourceInfo()), c.AST.TypeMap(), c.AST.ReferenceMap()), checker: c.checker}
}

// Check reads a text and checks it against the types of the variables and of what is wanted. The result is nil where a fault is more
// than a warning. refuse tells why an expression must not read a member of a variable; nil: it may read all.
func (c *Checker) Check(text string, want Type, refuse func(variable, member string) (reasons []string)) (checked *Checked, faults []Fault) {
	defer func() {
		if p := recover(); p != nil { // a text must not be able to stop the program, whatever the library makes of it
			checked, faults = nil, []Fault{{Line: 1, Column: 1, Reason: fmt.Sprintf("not an expression: %.100v", p)}}
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

// refused are the members in an expression that must not be read.
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

// Parse reads a text without looking at what it names. The tree is nil where there are faults.
func (c *Checker) Parse(text string) (*ast.AST, []Fault) {
	_, tree, faults := c.parse(text)
	return tree, faults
}

func (c *Checker) parse(text string) (common.Source, *ast.AST, []Fault) {
	if !utf8.ValidString(text) {
		return nil, nil, []Fault{{Line: 1, Column: 1, Reason: "not UTF-8"}}
	}
	source := common.NewTextSource(text)
	if len(text) > MaxText && utf8.RuneCountInString(text) > MaxText {
		return nil, nil, []Fault{placed(Fault{Reason: fmt.Sprintf("more than %d characters", MaxText)}, source, 1, 0)}
	}
	parsed, wrong := c.parser.Parse(source)
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
	for _, child := range Children(e) {
		if deep(child, left-1) {
			return true
		}
	}
	return false
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
