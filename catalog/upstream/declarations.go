package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

// Declarations lists the server's tools exactly as it sent them, all pages of them in its order, each one JSON value of
// which nothing was checked: also what [Client.Tools] leaves out, and the server's own word on what a tool does.
func (c *Client) Declarations(ctx context.Context) ([]json.RawMessage, error) {
	var all []json.RawMessage
	cursors := map[string]bool{}
	for params := (map[string]any{}); ; {
		raw, err := c.request(ctx, mcp.MethodToolsList, params)
		if err != nil {
			return nil, fmt.Errorf("tools/list: %w", err)
		}
		var page struct {
			Tools []json.RawMessage `json:"tools"`
			Next  string            `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("tools/list: %w", err)
		}
		all = append(all, page.Tools...)
		switch {
		case page.Next == "":
			return all, nil
		case cursors[page.Next]:
			return nil, errors.New("tools/list: the server gives the same page again and again")
		case len(cursors) >= maxPages || len(all) > maxTools:
			return nil, fmt.Errorf("tools/list: more than %d pages or %d tools", maxPages, maxTools)
		}
		cursors[page.Next] = true
		params = map[string]any{"cursor": page.Next}
	}
}
