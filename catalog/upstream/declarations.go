package upstream

import (
	"context"
	"encoding/json"
)

// Declarations returns all pages of the server's tools, in its order and exactly as it sent them. Each tool is one
// unchecked JSON value. The list includes tools that [Client.Tools] leaves out, and the server's own statements about a
// tool's effect.
func (c *Client) Declarations(ctx context.Context) ([]json.RawMessage, error) {
	var all []json.RawMessage
	if err := c.declared(ctx, func(raw json.RawMessage) { all = append(all, raw) }); err != nil {
		return nil, err
	}
	return all, nil
}
