package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// day is what is asked for.
type day struct {
	Day string `json:"day" jsonschema:"Day, as YYYY-MM-DD."`
}

// The figures of a day.
type (
	salesOf struct {
		Orders     int `json:"orders"`
		GrossCents int `json:"gross_cents"`
	}
	refundsOf struct {
		Refunds       int `json:"refunds"`
		RefundedCents int `json:"refunded_cents"`
	}
	stockOf struct {
		SoldOut int `json:"sold_out" jsonschema:"Articles that are sold out."`
		Low     int `json:"low" jsonschema:"Articles that soon will be."`
	}
)

func sales(s *mcp.Server, file string) {
	mcp.AddTool(s, &mcp.Tool{Name: "day_sales", Description: "Orders and gross sales of one day."}, figures[salesOf](file, "sales"))
}

func refunds(s *mcp.Server, file string) {
	mcp.AddTool(s, &mcp.Tool{Name: "day_refunds", Description: "Refunds of one day."}, figures[refundsOf](file, "refunds"))
}

func stock(s *mcp.Server, file string) {
	mcp.AddTool(s, &mcp.Tool{Name: "day_stock", Description: "How many articles are sold out or low on one day."}, figures[stockOf](file, "stock"))
}

// figures answers from a file {day: {subject: figures}}, which is read at each call. What is not there is an error, which the
// client gets as the tool's result.
func figures[T any](file, subject string) mcp.ToolHandlerFor[day, T] {
	return func(_ context.Context, _ *mcp.CallToolRequest, in day) (*mcp.CallToolResult, T, error) {
		var found T
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, found, fmt.Errorf("the figures cannot be read")
		}
		var days map[string]map[string]json.RawMessage
		if err := json.Unmarshal(text, &days); err != nil {
			return nil, found, fmt.Errorf("the figures are not JSON")
		}
		part, ok := days[in.Day][subject]
		if !ok {
			return nil, found, fmt.Errorf("no %s figures of %s", subject, in.Day)
		}
		return nil, found, json.Unmarshal(part, &found)
	}
}
