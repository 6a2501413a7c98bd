package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

// The bounds of a list of tools.
const (
	maxPages = 100
	maxTools = 10_000
)

// Tool is a tool as a server declares it. Nothing of it was checked.
type Tool struct {
	Name, Title, Description string
	Input                    json.RawMessage // its input schema as it was sent
}

// Tools lists the server's tools, all pages of them. What has no name, and over HTTP what may not be called there (its
// schema mirrors arguments into headers against the rules), is left out.
func (c *Client) Tools(ctx context.Context) ([]Tool, error) {
	var tools []Tool
	cursors := map[string]bool{}
	for params := (map[string]any{}); ; {
		page, next, err := c.toolsPage(ctx, params)
		if err != nil {
			return nil, fmt.Errorf("tools/list: %w", err)
		}
		tools = append(tools, page...)
		switch {
		case next == "":
			return tools, nil
		case cursors[next]:
			return nil, errors.New("tools/list: the server gives the same page again and again")
		case len(cursors) >= maxPages || len(tools) > maxTools:
			return nil, fmt.Errorf("tools/list: more than %d pages or %d tools", maxPages, maxTools)
		}
		cursors[next] = true
		params = map[string]any{"cursor": next}
	}
}

// toolsPage fetches one page and says where the next one is.
func (c *Client) toolsPage(ctx context.Context, params map[string]any) ([]Tool, string, error) {
	raw, err := c.request(ctx, mcp.MethodToolsList, params)
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Tools []json.RawMessage `json:"tools"`
		Next  string            `json:"nextCursor"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, "", err
	}
	var tools []Tool
	for _, declared := range page.Tools {
		var t struct {
			Name        string          `json:"name"`
			Title       string          `json:"title"`
			Description string          `json:"description"`
			Input       json.RawMessage `json:"inputSchema"`
		}
		if json.Unmarshal(declared, &t) == nil && t.Name != "" && c.remember(t.Name, declared) {
			tools = append(tools, Tool{t.Name, t.Title, t.Description, t.Input})
		}
	}
	return tools, page.Next, nil
}

// remember keeps what a tool mirrors into headers and reports whether it may be called.
func (c *Client) remember(name string, declared json.RawMessage) bool {
	if !c.overHTTP() || !c.modern() {
		return true
	}
	var tool mcp.Tool
	if json.Unmarshal(declared, &tool) != nil {
		return true // nothing of it is mirrored
	}
	if mcp.ValidateParamHeaderAnnotations(&tool) != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[name] = tool
	return true
}
