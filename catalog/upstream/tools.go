package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// These are the limits of a list of tools.
const (
	maxPages = 100
	maxTools = 10_000
)

// Tool is a tool as a server declares it. Nothing in it was checked.
type Tool struct {
	Name, Title, Description string
	Input, Output            json.RawMessage // its schemas as sent; nil: none
}

// Definition is a tool as a server declares it: the members name, title, description, inputSchema and outputSchema.
// Each is exactly as sent; nil: not sent. Only JSON's grammar was checked, and that the name is a text.
type Definition struct{ Name, Title, Description, Input, Output json.RawMessage }

// Tool returns the name as a text, or "" for the zero Definition.
func (d Definition) Tool() string {
	var name string
	if d.Name != nil {
		_ = json.Unmarshal(d.Name, &name) // the name of a Definition is a text
	}
	return name
}

// same reports whether two definitions are equal byte for byte.
func (d Definition) same(other Definition) bool {
	return bytes.Equal(d.Name, other.Name) && bytes.Equal(d.Title, other.Title) && bytes.Equal(d.Description, other.Description) &&
		bytes.Equal(d.Input, other.Input) && bytes.Equal(d.Output, other.Output)
}

// Tools returns the tools on all pages of the server's list. It leaves out tools without a name. Over HTTP it also
// leaves out tools that must not be called, because their schemas mirror arguments into headers against the rules.
func (c *Client) Tools(ctx context.Context) ([]Tool, error) {
	var tools []Tool
	known := map[string]mcp.Tool{}
	err := c.declared(ctx, func(raw json.RawMessage) {
		var t struct {
			Name        string          `json:"name"`
			Title       string          `json:"title"`
			Description string          `json:"description"`
			Input       json.RawMessage `json:"inputSchema"`
			Output      json.RawMessage `json:"outputSchema"`
		}
		if json.Unmarshal(raw, &t) == nil && t.Name != "" && c.mirrors(known, t.Name, raw) {
			tools = append(tools, Tool{t.Name, t.Title, t.Description, t.Input, t.Output})
		}
	})
	if err != nil {
		return nil, err
	}
	c.remember(known)
	return tools, nil
}

// Definitions returns the definitions of the tools that [Client.Tools] lists, in the server's order. It leaves out
// names that are declared twice, because such a name may mean either tool.
func (c *Client) Definitions(ctx context.Context) ([]Definition, error) {
	var all []Definition
	times, known := map[string]int{}, map[string]mcp.Tool{}
	err := c.declared(ctx, func(raw json.RawMessage) {
		var members map[string]json.RawMessage // unlike a struct, a map distinguishes "Name" from "name"
		if json.Unmarshal(raw, &members) != nil {
			return
		}
		d := Definition{members["name"], members["title"], members["description"], members["inputSchema"], members["outputSchema"]}
		if name := d.Tool(); name != "" && c.mirrors(known, name, raw) {
			times[name]++
			all = append(all, d)
		}
	})
	if err != nil {
		return nil, err
	}
	c.remember(known)
	return slices.DeleteFunc(all, func(d Definition) bool { return times[d.Tool()] > 1 }), nil
}

// declared calls each for every tool on all pages.
func (c *Client) declared(ctx context.Context, each func(json.RawMessage)) error {
	cursors := map[string]bool{}
	tools, size := 0, 0
	for params := (map[string]any{}); ; {
		page, next, err := c.toolsPage(ctx, params)
		if err != nil {
			return fmt.Errorf("tools/list: %w", err)
		}
		for _, raw := range page {
			size += len(raw)
			each(raw)
		}
		switch tools += len(page); {
		case tools > maxTools || size > maxAnswer:
			return unreadableError{fmt.Errorf(listTooLong, maxTools, maxAnswer)}
		case next == "":
			return nil
		case cursors[next]:
			return unreadableError{errors.New(samePage)}
		case len(cursors) >= maxPages:
			return unreadableError{fmt.Errorf(tooManyPages, maxPages)}
		}
		cursors[next] = true
		params = map[string]any{"cursor": next}
	}
}

// toolsPage fetches one page and returns the cursor of the next one.
func (c *Client) toolsPage(ctx context.Context, params map[string]any) ([]json.RawMessage, string, error) {
	raw, err := c.request(ctx, mcp.MethodToolsList, params)
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Tools []json.RawMessage `json:"tools"`
		Next  string            `json:"nextCursor"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, "", unreadableError{err}
	}
	return page.Tools, page.Next, nil
}

// mirrors adds to known the arguments that a tool mirrors into headers, and reports whether the tool may be called.
func (c *Client) mirrors(known map[string]mcp.Tool, name string, declared json.RawMessage) bool {
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
	known[name] = tool
	return true
}

// remember stores what the tools of a whole list mirror, and replaces what it stored before.
func (c *Client) remember(known map[string]mcp.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = known
}
