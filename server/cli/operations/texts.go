package operations

import "fmt"

// This file has texts of the package that people read. The texts of help pages are beside their commands.

// unknownSwitch warns of a kill switch for a name that the configuration does not have.
func unknownSwitch(what, name, near string) string {
	text := fmt.Sprintf("warning: the configuration has no %s %s", what, name)
	if near != "" {
		text += fmt.Sprintf("; did you mean %s?", near)
	}
	return text
}
