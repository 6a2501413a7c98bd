package upstream

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// proofs is how often a session is tried, because a kept connection may have been cut.
const proofs = 2

// prove sends a request that does nothing, to find out whether the server knows the session and accepts the secrets. If
// the server refuses the secrets, prove reads them again. It returns an error if the server refused the session or the
// secrets. Any other answer, or no answer, is not an error.
func (s *session) prove(ctx context.Context, secrets bool) error {
	method := mcp.MethodPing
	switch {
	case !s.client.modern():
	case !secrets: // there is nothing to refuse
		return nil
	default:
		method = mcp.MethodServerDiscover
	}
	ctx, end := context.WithTimeout(ctx, longestProbe)
	defer end()
	for range proofs {
		t := &trace{}
		_, err := s.client.ask(ctx, t, method, map[string]any{})
		status := t.read().status
		switch {
		case s.client.forgotten(err):
			return err
		case status == http.StatusUnauthorized:
			return err
		case status != 0 || ctx.Err() != nil:
			return nil
		}
	}
	return nil
}
