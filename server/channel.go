package server

import (
	"context"
)

// Channel is the part of a result that a client gives to its model. Every result has both channels. For a client with
// StructuredOnly, the text channel omits what structuredContent already says (design section 5). The other values
// change nothing.
type Channel string

// The channels of a result.
const (
	TextOnly       Channel = "text"       // content
	StructuredOnly Channel = "structured" // structuredContent; for an error result perhaps content
	BothChannels   Channel = "both"
)

// readsStructured reports whether the client's model reads only structured content.
func (s *Server) readsStructured(ctx context.Context) bool {
	return len(s.config.Results) > 0 && s.config.Results[clientOf(ctx).Name] == StructuredOnly
}
