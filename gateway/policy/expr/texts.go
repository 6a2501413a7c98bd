package expr

import "fmt"

// This file has the texts of the package that people read: what is wrong with an expression, and errors while it is evaluated.

// The text of an expression.

const (
	notUTF8 = "not UTF-8"
)

func tooManyCharacters(most int) string {
	return fmt.Sprintf("more than %d characters", most)
}

const (
	nestedTooDeep = "nested too deep"
)

func notParsed(why any) string {
	return fmt.Sprintf("not an expression: %.100v", why)
}

func notExpression(why string) string {
	return fmt.Sprintf("not an expression: %s", why)
}

const (
	endsTooEarly = "it ends too early"
)

// endsBefore says that a bracket is not closed. Outside quotes a YAML file ends an expression at a comma.
func endsBefore(bracket string) string {
	return fmt.Sprintf("it ends without %s; if it has a comma, put all of it in quotes", bracket)
}

func noExpressions(why string) string {
	return fmt.Sprintf("no expressions here: %s", why)
}

func didYouMean(reason, name string) string {
	return fmt.Sprintf("%s; did you mean %s?", reason, name)
}

const (
	noneThere = "there is none"
)

// Limits.

const (
	costsTooMuch     = "the expression costs more than 1000000 units"
	tooManyValues    = "more than %d values in one"
	tooManyItems     = "more than %d items in a list"
	tooManyCompared  = "more than %d items to compare with each other"
	tooLargeCompared = "items that are too large to compare with each other"
	textTooLong      = "a text of more than %d bytes"
)

// Values and their types.

const (
	valueMisfits  = "a value does not fit its type"
	wrongResult   = "the result does not have the needed type"
	noValueAtAll  = "the expression has no value"
	valueMissing  = "%w: there is none"
	valueNotGiven = "%w: %s is not given"
	typeNeeded    = "%w: %s is needed"
	typeNeededAt  = "%w: %s must be %s"
	intForDouble  = "an int, but a double is needed"
	doubleForInt  = "a double, but an int is needed; decide how to round it, because int() drops the fraction"
)

func noJSONForm(name string) string {
	return fmt.Sprintf("%s has no form in JSON", name)
}

func stringNeeded(name string) string {
	return fmt.Sprintf("%s, but string is needed", name)
}

func otherNeeded(name, needed string) string {
	return fmt.Sprintf("%s, but %s is needed", name, needed)
}

const (
	notAmongValues = " is not one of the values"
)

func notFormOf(kind, example string) string {
	return fmt.Sprintf("not a %s: write one like %s", kind, example)
}

func neverIs(name, what string) string {
	return fmt.Sprintf("%s is never %s", name, what)
}

const (
	errorIn          = "%w, in %s"
	tooLarge         = "%w: too large"
	integerRange     = "%w: an integer out of range"
	valueNoJSONForm  = "%w: %s has no form in JSON"
	notFinite        = "%w: not a finite number"
	wholeNumberRange = "%w: a whole number out of range"
	valueNotUTF8     = "%w: not UTF-8"
	nameNotText      = "%w: the name of a member is not text"
)

// Functions.

const (
	sumNotInt       = "sum: an item is not an int"
	sumOverflow     = "sum: integer overflow"
	sumNotDouble    = "sum: an item is not a double"
	roundNotFinite  = "round: not a finite number"
	roundDigits     = "round: digits from %d to %d"
	roundRange      = "round: out of range"
	roundNotNumber  = "round: not a number"
	pathNotAbsolute = "path_within: %.100q is not an absolute path"
	pathZeroByte    = "path_within: a zero byte in a path"
)

func notRegexp(why string) string {
	return fmt.Sprintf("not a regular expression: %s", why)
}

const (
	sumOfUnknown     = "sum of dyn: the type must be known to be int or double"
	wantSumOfDoubles = "sum(x.map(e, double(e)))"
)

func functionDoesNotTake(name, types string) string {
	return fmt.Sprintf("%s does not take (%s)", name, types)
}

// Operators.

func onlyMembersCompared(name string) string {
	return fmt.Sprintf("%s cannot be compared, only its members can", name)
}

const (
	wantKeysCompared = "x.key == y.key"
	wantKeysMapped   = "x.map(e, e.key)"
)

func doesNotGoWith(name, a, b string) string {
	return fmt.Sprintf("%s does not work with %s and %s", name, a, b)
}

// typesOfTwo adds which of the two values has which type.
func typesOfTwo(reason, x, a, y, b string) string {
	return fmt.Sprintf("%s: %s is %s, %s is %s", reason, x, a, y, b)
}

// Words of other languages.

func insteadOf(want, got string) string { return fmt.Sprintf("%s instead of %s", want, got) }

const notBefore = "! instead of not"

func writtenBehind(function string) string { return fmt.Sprintf("x.%s(y)", function) }

func sizeOf(text string) string { return fmt.Sprintf("size(%s)", text) }

func doesNotGoWithAll(name, types string) string {
	return fmt.Sprintf("%s does not work with %s", name, types)
}

func doubleInIntList(name string) string {
	return fmt.Sprintf("%s is double and never in a list of int", name)
}

func intAndDouble(a, b string) string {
	return fmt.Sprintf("%s is int and %s is double; they cannot be mixed", a, b)
}

func wantDoubles(list string) string {
	return fmt.Sprintf("%s.map(e, double(e))", list)
}

// Members, variables and objects.

const (
	messagesUnsupported = "objects of a named type are not supported"
	wantMap             = "{\"name\": value}"
	unknownEnum         = "unknown enum %q"
	noObjectOf          = "no object %q can be made"
)

func orDefault(object, name, value string) string {
	return fmt.Sprintf(" before it, or %s?%s.orValue(%s)", object, name, value)
}

func noMemberIn(name, kind string) string {
	return fmt.Sprintf("no member %s in %s", name, kind)
}

const (
	noSuchMember = "no such member"
)

func noMember(name string) string {
	return fmt.Sprintf("no member %s", name)
}

func hasNo(owner, noun string) string {
	return fmt.Sprintf("%s has no %s", owner, noun)
}

func resultOf(tool string) string {
	return fmt.Sprintf("the result of %s", tool)
}

const (
	theObject = "the object"
)

func noFunction(name string) string {
	return fmt.Sprintf("no function %s", name)
}

const (
	noVariable = "no variable"
)
