package local

import "patterngate/patterns"

// Settled implements [patterns.Run].
func (b *branch) Settled(e patterns.Effect, out patterns.Outcome) {}
