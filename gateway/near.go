package gateway

import "patterngate/catalog"

// Near is the one name meant by got, see [catalog.Near].
func Near(got string, names []string) string { return catalog.Near(got, names) }
