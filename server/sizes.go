package server

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// These are sizes of a listed tool that clients accept, in bytes (spec/config.md section 7, input; facts of clients). A
// larger tool is still shown in full. Validation of a file warns of it.
const (
	MaxListedSchema      = 3 << 10 // of an input schema
	MaxListedDescription = 1 << 10
)

// bytesPerToken is the estimated number of bytes of JSON in one token of a model.
const bytesPerToken = 4

// ListedSize describes how much of tools/list one tool takes. The model of every client reads that list.
type ListedSize struct {
	Name        string
	Bytes       int // of the whole declaration
	Tokens      int // estimated
	Schema      int // bytes of the input schema
	Description int // bytes
}

// Warnings returns what clients may cut or refuse, or nil if there is nothing.
func (l ListedSize) Warnings() []string {
	var list []string
	if l.Schema > MaxListedSchema {
		list = append(list, largeSchema(l.Schema, MaxListedSchema))
	}
	if l.Description > MaxListedDescription {
		list = append(list, longDescription(l.Description, MaxListedDescription))
	}
	return list
}

// ListSizes returns the sizes of the tools in tools/list, in its order.
func (s *Server) ListSizes() []ListedSize {
	tools := s.Tools()
	list := make([]ListedSize, len(tools))
	for i, t := range tools {
		list[i] = listedSize(t)
	}
	return list
}

// ListSize returns the size of the whole tools/list, in bytes and in estimated tokens.
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
	if err != nil { // cannot occur: it was made of JSON
		return l
	}
	l.Bytes, l.Tokens = len(text), (len(text)+bytesPerToken-1)/bytesPerToken
	return l
}
