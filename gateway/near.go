package gateway

import "patterngate/catalog"

// Near returns the one name that got means, see [catalog.Near].
func Near(got string, names []string) string { return catalog.Near(got, names) }

// Misspelt reports whether got can only be a misspelling of a near name, see [catalog.Misspelt]. If got may name
// another thing, show the near name but do not replace got with it.
func Misspelt(got, name string) bool { return catalog.Misspelt(got, name) }
