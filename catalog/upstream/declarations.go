package upstream

import (
	"context"
	"encoding/json"
)

// Declarations lists the server's tools exactly as it sent them, all pages of them in its order, each one JSON value of
// which nothing was checked: also what [Client.Tools] leaves out, and the server's own word on what a tool does.
func (c *Client) Declarations(ctx context.Context) ([]json.RawMessage, error) {
	var all []json.RawMessage
	if err := c.declared(ctx, func(raw json.RawMessage) { all = append(all, raw) }); err != nil {
		return nil, err
	}
	return all, nil
}
