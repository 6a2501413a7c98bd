package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// order is one file of the directory.
type order struct {
	OrderID    string `json:"order_id" jsonschema:"Order, like A-1001."`
	Customer   string `json:"customer"`
	TotalCents int    `json:"total_cents"`
	State      string `json:"state" jsonschema:"open, sent, delivered or lost"`
}

// orderID is what asks for one order.
type orderID struct {
	OrderID string `json:"order_id" jsonschema:"Order, like A-1001."`
}

// note is what note_order takes.
type note struct {
	OrderID string `json:"order_id" jsonschema:"Order, like A-1001."`
	Text    string `json:"text" jsonschema:"What to note."`
}

// orderList is all that there are.
type orderList struct {
	Orders string `json:"orders" jsonschema:"Their ids, with a blank between them."`
	Count  int    `json:"count"`
}

// noted is what note_order answers.
type noted struct {
	OrderID string `json:"order_id"`
	Notes   int    `json:"notes" jsonschema:"How many notes the order has now."`
}

var orderGrammar = regexp.MustCompile(`^A-[0-9]{4}$`)

var errOrder = errors.New("there is no such order")

// orders are files DIR/A-1001.json, and their notes the lines of DIR/A-1001.notes.
func orders(s *mcp.Server, dir string) {
	mcp.AddTool(s, &mcp.Tool{Name: "list_orders", Description: "Lists the ids of all orders."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, orderList, error) {
			found, err := filepath.Glob(filepath.Join(dir, "A-*.json"))
			for i, path := range found {
				found[i] = strings.TrimSuffix(filepath.Base(path), ".json")
			}
			return nil, orderList{Orders: strings.Join(found, " "), Count: len(found)}, err
		})
	mcp.AddTool(s, &mcp.Tool{Name: "read_order", Description: "Reads one order: its customer, total and state."},
		func(_ context.Context, _ *mcp.CallToolRequest, in orderID) (*mcp.CallToolResult, order, error) {
			o, err := readOrder(dir, in.OrderID)
			return nil, o, err
		})
	mcp.AddTool(s, &mcp.Tool{Name: "note_order", Description: "Adds a note to one order."},
		func(_ context.Context, _ *mcp.CallToolRequest, in note) (*mcp.CallToolResult, noted, error) {
			n, err := addNote(dir, in)
			return nil, noted{OrderID: in.OrderID, Notes: n}, err
		})
}

func readOrder(dir, id string) (order, error) {
	if !orderGrammar.MatchString(id) {
		return order{}, errOrder
	}
	text, err := os.ReadFile(filepath.Join(dir, id+".json"))
	if err != nil {
		return order{}, errOrder
	}
	var o order
	if err := json.Unmarshal(text, &o); err != nil {
		return order{}, fmt.Errorf("the file of %s is not JSON", id)
	}
	return o, nil
}

// addNote adds a line and counts the lines.
func addNote(dir string, in note) (int, error) {
	if _, err := readOrder(dir, in.OrderID); err != nil {
		return 0, err
	}
	path := filepath.Join(dir, in.OrderID+".notes")
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, errors.New("the notes cannot be read")
	}
	line := strings.Join(strings.Fields(in.Text), " ") + "\n"
	if err := os.WriteFile(path, append(before, line...), 0o600); err != nil {
		return 0, errors.New("the note was not written")
	}
	return strings.Count(string(before), "\n") + 1, nil
}

// parcel is where one is.
type parcel struct {
	OrderID string `json:"order_id"`
	State   string `json:"state" jsonschema:"on its way, delivered, or unknown"`
	Place   string `json:"place"`
}

// parcels answers from a file {order: {state, place}}.
func parcels(s *mcp.Server, file string) {
	mcp.AddTool(s, &mcp.Tool{Name: "track_parcel", Description: "Says where the parcel of one order is."},
		func(_ context.Context, _ *mcp.CallToolRequest, in orderID) (*mcp.CallToolResult, parcel, error) {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, parcel{}, errors.New("the parcels cannot be read")
			}
			known := map[string]parcel{}
			if err := json.Unmarshal(text, &known); err != nil {
				return nil, parcel{}, errors.New("the parcels are not JSON")
			}
			p, ok := known[in.OrderID]
			if !ok {
				p.State = "unknown"
			}
			p.OrderID = in.OrderID
			return nil, p, nil
		})
}
