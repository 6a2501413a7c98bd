package cli

// joins are how a pattern joins what its workers found, and whether a route declines.
type joins struct{}

func (m *partsMaker) joins(*PatternConfig, *patternParts) joins { return joins{} }
