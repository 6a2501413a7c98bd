package server

import (
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

// What clients bear of a listed tool, in bytes (spec/config.md section 7, input; facts of clients). More is shown as it is; who
// validates a file warns of it.
const (
	MaxListedSchema      = 3 << 10 // of an input schema
	MaxListedDescription = 1 << 10
)

// bytesPerToken is how many bytes of JSON a model's token is taken for: an estimate.
const bytesPerToken = 4

// ListedSize is what one tool takes of tools/list, which every client's model reads.
type ListedSize struct {
	Name        string
	Bytes       int // of the whole declaration
	Tokens      int // estimated
	Schema      int // bytes of the input schema
	Description int // bytes
}

// Warnings tell what clients may cut or refuse; nil where all is well.
func (l ListedSize) Warnings() []string {
	var list []string
	if l.Schema > MaxListedSchema {
		list = append(list, fmt.Sprintf("the input schema has %d bytes; some clients take at most %d", l.Schema, MaxListedSchema))
	}
	if l.Description > MaxListedDescription {
		list = append(list, fmt.Sprintf("the description has %d bytes; some clients show at most %d", l.Description, MaxListedDescription))
	}
	return list
}

// ListSizes are the sizes of what tools/list shows, in its order.
func (s *Server) ListSizes() []ListedSize {
	tools := s.Tools()
	list := make([]ListedSize, len(tools))
	for i, t := range tools {
		list[i] = listedSize(t)
	}
	return list
}

// ListSize is what tools/list takes as a whole, in bytes and in estimated tokens.
func (s *Server) ListSize() (bytes, tokens int) {
	for _, l := range s.ListSizes() {
		bytes += l.Bytes + 1
		tokens += l.Tokens
	}
	return bytes, tokens
}

func listedSize(t mcp.Tool) ListedSize {
	l := ListedSize{Name: t.Name, Schema: len(t.RawInputSchema), Description: len(t.Description)}
	text, err := json.Marshal(t)
	if err != nil { // it was made of JSON
		return l
	}
	l.Bytes, l.Tokens = len(text), (len(text)+bytesPerToken-1)/bytesPerToken
	return l
}
