package gateway

import "patterngate/catalog"

// Near is the one name meant by got, see [catalog.Near].
func Near(got string, names []string) string { return catalog.Near(got, names) }

// Misspelt reports whether got can only be a misspelling of a near name, see [catalog.Misspelt]. Where it may name another thing,
// the near name is told and not put in its place.
func Misspelt(got, name string) bool { return catalog.Misspelt(got, name) }
