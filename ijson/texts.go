package ijson

import "fmt"

// This file has the texts of the package that people and models read: what is wrong with a JSON text.

// Faults of a document.

func faultIn(reason, pointer string, offset int) string {
	return fmt.Sprintf("%s at %s (byte %d)", reason, pointer, offset)
}

const (
	nameNotUTF8 = "a member name is not UTF-8"
)

// Values that do not fit a Go type.

func notAccepted(why string) string {
	return fmt.Sprintf("not accepted: %s", why)
}

func wantGot(wanted, got string) string {
	return fmt.Sprintf("want %s, got %s", wanted, got)
}

const (
	aBool           = "true or false"
	unsignedInteger = "integer, 0 or more"
)

func integerFor(kind string) string {
	return fmt.Sprintf("integer that fits %s", kind)
}

const (
	floatFor32 = "number that fits float32"
	base64Text = "base64 string"
)
