package upstream

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// proofs is how often a session is tried: a connection that was kept may have been cut meanwhile.
const proofs = 2

// prove finds out, by a request that does nothing, whether the server knows the session and takes the secrets, which are read again
// where it does not. Its error is that of a request that was refused for one of both. Any other answer, and none, proves nothing
// against the session.
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
