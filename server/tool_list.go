package server

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/server/transport"
)

// encodedListing is the list of what is served, made when it is first asked for.
type encodedListing struct {
	once sync.Once
	list *transport.ToolList
	err  error
}

func (s *Server) toolList() (*transport.ToolList, error) {
	s.encoded.once.Do(func() { s.encoded.list, s.encoded.err = transport.NewToolList(s.Tools()) })
	return s.encoded.list, s.encoded.err
}

// encodedOnce puts the list that is already encoded into an answer.
func (s *Server) encodedOnce(ctx context.Context, result *mcp.ListToolsResult) {
	transport.InsertList(ctx, result, s.newest().toolList)
}
