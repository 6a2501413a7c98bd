package cli

import "fmt"

// This file has texts of the package that people read. The texts of help pages are beside their commands.

// didYouMean adds the name that was meant to what is wrong.
func didYouMean(reason, near string) string { return fmt.Sprintf("%s; did you mean %s?", reason, near) }

func noCommand(name string) string { return fmt.Sprintf("no command %q", name) }
