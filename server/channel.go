package server

import (
	"context"
	"strings"
)

// Channel is the part of a result that a client hands to its model. Every result holds both; what a client is known not
// to read is only not said twice (design section 5).
type Channel string

// The channels of a result.
const (
	TextOnly       Channel = "text"       // content
	StructuredOnly Channel = "structured" // structuredContent; of an error result it may read content
	BothChannels   Channel = "both"
)

// readsStructured reports a client whose model reads structured content only.
func (s *Server) readsStructured(ctx context.Context) bool {
	return len(s.config.Results) > 0 && s.config.Results[clientOf(ctx).Name] == StructuredOnly
}

// firstLines are the headline, the summary and what to do next: enough beside structured content.
func firstLines(text string) string {
	const lines = 3
	at := 0
	for range lines {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return text
		}
		at += i + 1
	}
	return text[:at-1]
}
