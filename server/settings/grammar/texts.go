package grammar

import "fmt"

// This file has the texts of the package that people read: what keys take, what is wrong with a value, and what would be right.

// What a key takes.

const (
	mappingOfNames = "mapping of names"
	mappingOfCEL   = "mapping of names to CEL"
	listOfMappings = "list of mappings"
	listOfWords    = "list of words"
	listOfNames    = "list of names"
)

func textUpTo(most string) string {
	return fmt.Sprintf("text, at most %s characters", most)
}

const (
	amountUSD   = "an amount in USD"
	wholeNumber = "a whole number"
)

func wholeNumberOf(unit string) string {
	return fmt.Sprintf("a whole number of %s", unit)
}

const (
	aNumber = "a number"
)

func numberOf(unit string) string {
	return fmt.Sprintf("a number of %s", unit)
}

func numberFrom(noun, least string) string {
	return fmt.Sprintf("%s, %s or more", noun, least)
}

func listOf(each string) string {
	return fmt.Sprintf("a list, each item %s", each)
}

// Names.

const (
	notName           = "not a name"
	wantToolName      = "write a name: 1 to 64 letters, digits, _ and -"
	wantWordName      = "write a name: a lower-case letter, then up to 63 lower-case letters, digits and _"
	wantServersName   = "write the tool's name as its server spells it"
	wantArgumentName  = "write the name of an argument"
	wantHeaderName    = "write a header's name: letters, digits and -"
	wantVariableName  = "write the name of an environment variable"
	wantParameterName = "write the name of a query parameter"
)

// What is wrong with a value.

const (
	tooLong     = "too long"
	tooMany     = "too many"
	wrongType   = "wrong type"
	unknownKey  = "unknown key"
	unknownWord = "unknown word"
	notWhole    = "not a whole number"
	outOfRange  = "out of range"
	otherForm   = "wrong form"
	notWord     = "not a word"
	fixedValue  = "cannot be changed"
)

func hiddenCharacter(c rune) string {
	return fmt.Sprintf("the character U+%04X, which is invisible or changes the reading direction", c)
}

func wordsOfBytes(words, size string) string {
	return fmt.Sprintf("%s words of %s bytes", words, size)
}

// What to write instead.

const (
	wantExpression       = "write an expression in quotes"
	wantExpressionOrNone = "write an expression, or remove the key"
)

func wantAtMost(most string) string {
	return fmt.Sprintf("write at most %s", most)
}

const (
	wantList = "write a list, [] for none"
)

func wantListOf(name string) string {
	return fmt.Sprintf("write a list: [%s]", name)
}

const (
	wantQuoted  = "write text in quotes"
	wantProgram = "write a list: [program, argument]; no shell reads it"
)

func wantWords(most, size string) string {
	return fmt.Sprintf("write 1 to %s words of at most %s bytes together", most, size)
}

const (
	wantSchemas      = "write a mapping of names to JSON schemas"
	wantVersionFirst = "write a mapping that begins with version: 1"
	wantVersion      = "write version: 1"
)

func wantMappingWith(keys string) string {
	return fmt.Sprintf("write a mapping with %s", keys)
}

const (
	wantMapping    = "write a mapping of names, {} for none"
	wantTextOrNone = "write text, or remove the key"
	wantRemoved    = "remove it"
)

func wantValueOrNone(value string) string {
	return fmt.Sprintf("write %s or remove it", value)
}

const (
	wantTrue  = "write true"
	wantFalse = "write false"
	wantBool  = "write true or false"
)
