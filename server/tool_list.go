package server

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/server/transport"
)

// encodedListing is the encoded list of the tools, made for the first tools/list.
type encodedListing struct {
	once sync.Once
	list *transport.ToolList
	err  error
}

// toolList returns the encoded list of the tools of this configuration.
func (s *Server) toolList() (*transport.ToolList, error) {
	s.encoded.once.Do(func() { s.encoded.list, s.encoded.err = transport.NewToolList(s.Tools()) })
	return s.encoded.list, s.encoded.err
}

// encodedOnce inserts the encoded list into the answer to a tools/list.
func (s *Server) encodedOnce(ctx context.Context, result *mcp.ListToolsResult) {
	transport.InsertList(ctx, result, s.newest().toolList)
}
