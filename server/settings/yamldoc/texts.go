package yamldoc

import "fmt"

// This file has the texts of the package that people read: what is wrong with a document, and what would be right.

// A fault's line.

func suggested(name string) string {
	return fmt.Sprintf("; did you mean %s?", name)
}

func furtherFaults(n int) string {
	return fmt.Sprintf("and %d more", n)
}

// The file as a whole.

const (
	fileTooLarge    = "larger than 4 MiB"
	wantSmallerFile = "write a smaller file"
	startsWithMark  = "begins with a byte order mark"
	wantNoMark      = "save it as UTF-8 without BOM"
	notUTF8         = "not UTF-8"
)

func controlCharacter(c rune) string {
	return fmt.Sprintf("the control character %U", c)
}

const (
	wantPlainText     = "save it as plain UTF-8 text"
	tooManyOpens      = "more than 100 \"<\" in a row"
	tooManyEmptyLines = "more than 100 empty lines in a row"
	wantFewer         = "remove some"
	tooManyValues     = "more than 200,000 values and keys (each alias counts in full)"
	nestedTooDeep     = "lists and mappings nested deeper than 64"
	wantFlatterFile   = "write a flatter file"
	tooManyKeys       = "more than 10,000 keys in one mapping"
	secondDocument    = "a second document"
	wantOneDocument   = "keep one document in each file"
)

// Text that is not YAML.

func notYAML(why string) string {
	return fmt.Sprintf("not valid YAML: %s", why)
}

// wantQuoted says how to write the expression of a key.
func wantQuoted(key string) string {
	return fmt.Sprintf(`write the whole expression in quotes, such as %s: 'args.kind in ["a", "b"]'`, key)
}

// wantOtherQuotes says how to write an expression whose own quotes end the quoted text.
func wantOtherQuotes(key, outer, inner string) string {
	return fmt.Sprintf(`write the texts in the expression of %s with %s, because %s ends the expression`, key, inner, outer)
}

const (
	noYAML           = "not valid YAML"
	wantValidYAML    = "check the quotes, brackets and indentation here"
	parserStopped    = "the parser stopped (%v)"
	aDirective       = "a YAML directive"
	wantNoLine       = "remove the line"
	emptyBeforeComma = "nothing before a comma"
	wantNoComma      = "remove the comma"
	severalAnchors   = "several anchors in a row"
	wantOne          = "write one"
)

func aTag(tag string) string {
	return fmt.Sprintf("the YAML tag %s", tag)
}

const (
	wantNoTag           = "remove the tag"
	badBlockHeader      = "an invalid block header"
	wantBlockHeader     = "write |, |-, > or >-"
	blockListInBrackets = "an indented list inside brackets"
	wantBrackets        = "write it in brackets too"
	notIndented         = "not indented enough for a value"
	wantIndented        = "indent it, or write null for the value before it"
	mappingInBrackets   = "a mapping without braces inside brackets"
	wantBraces          = "write it in braces"
	noSpaceAfterColon   = "no space after the colon"
	wantSpaceAfterColon = "write a space after it, or quote the key"
)

// Keys.

func repeatedKey(line string) string {
	return fmt.Sprintf("repeated key, first at line %s", line)
}

const (
	markedKey     = "a key marked with ?"
	wantKeyValue  = "write key: value"
	keyNotText    = "a key that is not text"
	wantKeyItself = "write the key itself"
	wantTextKey   = "write text as the key"
	keyNotOneLine = "a key that is not text on one line"
)

// Anchors and aliases.

func noAnchor(name string) string {
	return fmt.Sprintf("no anchor %s above", name)
}

func wantAnchor(name string) string {
	return fmt.Sprintf("write &%s before the value that it names", name)
}

func aliasInItself(name string) string {
	return fmt.Sprintf("the alias %s is inside its own anchor", name)
}

const (
	wantValueItself = "write the value out"
	badAnchorName   = "an anchor or alias with an invalid name"
	wantAnchorName  = "use letters, digits, _ and - for the name"
	textBeforeMerge = "text before <<"
	wantMergeAlone  = "write << alone"
	wantMerged      = "write an alias of a mapping, or a list of such aliases"
)

// Values.

const (
	wrongType          = "wrong type"
	aList              = "a list"
	aMapping           = "a mapping"
	unreadableValue    = "a value that cannot be read"
	halfCharacter      = "half of a surrogate pair"
	wantWholeCharacter = "write both halves, or the character itself"
	notAsInJSON        = "not spelled as in JSON"
)

func orForText(quoted string) string {
	return fmt.Sprintf(", or %s for text", quoted)
}

const (
	aNumber           = "a number"
	smallerNumber     = "a number below 1.8e308"
	smallerInteger    = "a whole number up to 9007199254740991"
	wantQuotes        = "write it in quotes"
	tabInText         = "a tab in unquoted text"
	keyOnSeveralLines = "a key on several lines"
)

func startsWith(character string) string {
	return fmt.Sprintf("unquoted text that begins with %s", character)
}

const (
	colonInText      = "a colon in unquoted text"
	hashInText       = "a # in unquoted text"
	bracketInText    = "a comma, bracket or brace in unquoted text"
	unreadableQuotes = "quoted text that cannot be read"
	wantEscapes      = "write \\\\ for a backslash and \\\" for a quote, and close the quote"
	textAfterQuote   = "text after a closing quote"
	wantOneText      = "write one quoted text; \\\" is a quote inside it"
)
