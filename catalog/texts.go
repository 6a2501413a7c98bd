package catalog

import "fmt"

// This file has the texts of the package that people read: what a value, a bound or a schema must be, and what is wrong with a tool.

// What a value must be.

func oneOfNames(names string) string {
	return fmt.Sprintf("one of %s", names)
}

func textThatMatches(pattern string) string {
	return fmt.Sprintf("a text that matches %s", pattern)
}

func atLeastCharacters(n int) string {
	return fmt.Sprintf("at least %d characters", n)
}

func atMostCharacters(n int) string {
	return fmt.Sprintf("at most %d characters", n)
}

func atLeastItems(n int) string {
	return fmt.Sprintf("at least %d items", n)
}

func atMostItems(n int) string {
	return fmt.Sprintf("at most %d items", n)
}

const (
	differentItems = "items that are all different"
	oneOfForms     = "one of the forms that the schema allows"
	notThis        = "not this"
)

func atLeast(n string) string {
	return fmt.Sprintf("at least %s", n)
}

func atMost(n string) string {
	return fmt.Sprintf("at most %s", n)
}

func moreThan(n string) string {
	return fmt.Sprintf("more than %s", n)
}

func lessThan(n string) string {
	return fmt.Sprintf("less than %s", n)
}

func multipleOf(n string) string {
	return fmt.Sprintf("a multiple of %s", n)
}

const (
	noSuchMember = "no member of that name"
)

func schemaThatCompiles(why string) string {
	return fmt.Sprintf("a schema that compiles: %s", why)
}

const (
	judgeableValue = "a value that can be checked in reasonable time"
	fittingValue   = "a value that fits the schema"
)

// Bounds and directories.

const (
	noArgument  = "no such argument"
	wantNoBound = "no bound: the tool takes no arguments"
)

func withinForPaths(kind string) string {
	return fmt.Sprintf("within works for paths only, and this argument has the type %s", kind)
}

const (
	wantWithoutWithin    = "a bound without within"
	otherType            = "another type than the tool's"
	notBoundingDirectory = "not a directory that can bound a path"
	wantDirectory        = "an absolute directory such as /srv/orders, without .., backslashes and % codes"
)

func pathInside(dir, but string) string {
	return fmt.Sprintf("A path inside %s, absolute or relative to it%s", dir, but)
}

const (
	withoutDots = ", without .., backslashes and % codes"
)

func wantWithin(name, dir string) string {
	return fmt.Sprintf("bound: {%s: {within: %s}} instead", name, dir)
}

func wantAbsoluteWithin(name, dir string) string {
	return fmt.Sprintf("bound: {%s: {within: DIR}} instead, where DIR is the absolute path of %s", name, dir)
}

func patternEscapes(dir string) string {
	return fmt.Sprintf("a path that fits this pattern can leave its directory: %s/../x fits it", dir)
}

// Schemas in the configuration.

func schemasBytes(n int) string {
	return fmt.Sprintf("%d bytes of schemas", n)
}

func atMostBytes(n int) string {
	return fmt.Sprintf("at most %d bytes", n)
}

const (
	schemasByName    = "an object of schemas by name"
	notObject        = "not an object"
	badArgumentName  = "a name that clients do not accept"
	argumentNameForm = "1 to 64 of a-z A-Z 0-9 _ . -"
	notSchema        = "not a schema"
	schemaForm       = "an object such as {type: string}"
	notBoolean       = "not a boolean"
	aBoolean         = "true or false"
	defaultMisfits   = "the default does not fit its own schema"
	tooManySchemas   = "too many schemas, or too deep"
)

func atMostSchemas(n, depth int) string {
	return fmt.Sprintf("at most %d, %d deep", n, depth)
}

const (
	noProperties      = "an object without properties takes no member"
	wantProperties    = "properties, or additionalProperties: true"
	keywordForbidden  = "not allowed here"
	wantPlainSchema   = "one schema without oneOf, anyOf, allOf, not, if and $ref"
	withinOnlyInBound = "allowed only in bound, beside the argument's type"
	wantBoundWithin   = "bound: {ARGUMENT: {within: DIR}} at a server's tool"
	optionalInObject  = "not allowed for a member of an object"
	wantRequiredList  = "optional beside the argument's type; inside an object the list required"
	unknownKeyword    = "unknown keyword"
)

func keywordOfType(allowed, kind string) string {
	return fmt.Sprintf("belongs to type %s, but the type is %s", allowed, kind)
}

const (
	noType = "not a type"
)

func oneWord(types string) string {
	return fmt.Sprintf("one word: %s", types)
}

const (
	notText      = "not a text"
	aText        = "a text"
	notNumber    = "not a number"
	aNumber      = "a number"
	notPositive  = "not a number above 0"
	aPositive    = "a number above 0"
	notCount     = "not a count"
	aCount       = "a whole number, 0 or more"
	notValueList = "not a list of values"
)

func valueList(most int) string {
	return fmt.Sprintf("a list of 1 to %d values", most)
}

const (
	valueRepeated   = "already in the list"
	differentValues = "values that are all different"
)

func notOfType(kind string) string {
	return fmt.Sprintf("not of type %s", kind)
}

const (
	aRegexp = "a regular expression (RE2)"
)

func patternBytes(n int) string {
	return fmt.Sprintf("a pattern of %d bytes", n)
}

const (
	plainRegexp      = "a regular expression (RE2: no look-around, no back-references)"
	notFormat        = "not a format"
	formatNotChecked = "this format is shown and not checked"
)

func formatOrPattern(formats string) string {
	return fmt.Sprintf("one of %s, or a pattern", formats)
}

const (
	notList            = "not a list"
	requiredList       = "a list of the properties that must be present"
	nameRepeated       = "not a name, or a name that is already in the list"
	differentNames     = "names that are all different"
	noProperty         = "no property of this name"
	notBooleanOrSchema = "neither a boolean nor a schema"
	booleanOrSchema    = "true, false or a schema"
)

func nothingBetween(keyword string, value any) string {
	return fmt.Sprintf("allows no value below %s %s", keyword, value)
}

// Schemas of servers and Go types.

const (
	schemaOfType    = "schema of %s: %w"
	schemaNotObject = "schema: must be a JSON object"
	schemaRefers    = "refers to %s, but a schema must not refer to other documents"
	schemaInItself  = "%s contains itself; use a flat list with parent ids"
	schemaBytes     = "schema: %d bytes; at most %d"
	schemaValues    = "schema: %d values; at most %d"
)

// Secrets.

const (
	secretEmpty      = "the secret is empty"
	secretTooLong    = "the secret is longer than %d bytes"
	secretNotText    = "the secret is not text (UTF-8)"
	secretUnfinished = "reading the secret was interrupted"
)

// Tools that a Go program declares.

const (
	reconcileArgument        = "tool %q: reconcile: %s is %s, and the tool has no argument %q"
	reconcileUnknownArgument = "tool %q: reconcile: %q has no argument %q"
	reconcileNoTool          = "tool %q: reconcile: no tool %q"
	reconcileNotRead         = "tool %q: reconcile: %q has effect %s; only a read can settle an unknown outcome"
	reconcileNoArguments     = "tool %q: reconcile: the arguments of %q are missing"
	reconcileNoHappened      = "tool %q: reconcile: nothing decides from the result of %q whether it happened"
	reconcileSettle          = "tool %q: reconcile: settles after %v; 0 or more"
	toolName                 = "tool %q: a name is 1 to 64 letters, digits, _ or -"
	toolNameReserved         = "tool %q: this name is reserved"
	toolEffect               = "tool %q: effect %q; read, write or destructive"
	toolNoInput              = "tool %q: no input schema"
	toolNoCall               = "tool %q: no function to call"
	toolDeed                 = "tool %q: deed %q; write one word: paid, sent"
	toolResultBytes          = "tool %q: %d bytes of a result; 1 to %d, 0 for all of these"
	toolRetries              = "tool %q: %d retries; 0 to %d"
	toolPause                = "tool %q: a pause below zero"
	toolTimeout              = "tool %q: a time-out of %v; 0 to %v"
	toolFixedShown           = "tool %q: %s is fixed, and must not be shown"
	toolFixedDefault         = "tool %q: %s is fixed, and must not have a default"
	toolFixed                = "tool %q: the fixed arguments: %w"
	toolTwice                = "tool %q: declared twice"
	phraseLength             = "tool %q: phrase of %d characters; at most %d"
	phraseArgument           = "tool %q: phrase: %s must be an argument that is a number, boolean or enum, or has a pattern"
)
