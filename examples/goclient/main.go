// Goclient is an MCP client in Go that plays the model: it has a refund carried out action by action, each judged by the
// gate before it is done. All it knows of Patterngate is one rule, follow `next`:
//
//	supervised_refund(goal, first action) ─▶ waiting: what was done, what it showed ─▶ the next action ─▶ ... ─▶ ok or stopped
//
// A misspelt action shows the other half of the rule: the refusal contains the repaired call, and the client sends it unchanged.
//
//	patterngate serve --http 127.0.0.1:8765 &
//	go run ./examples/goclient http://127.0.0.1:8765/mcp     # PATTERNGATE_TOKEN where the server wants a token
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: goclient http://127.0.0.1:8765/mcp")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := refund(ctx, os.Args[1], os.Getenv("PATTERNGATE_TOKEN"), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "goclient:", err)
		os.Exit(1)
	}
}

// refund has 300 USD paid back to user 42 and tells on out what happens.
func refund(ctx context.Context, url, token string, out io.Writer) error {
	c, err := connect(ctx, url, token)
	if err != nil {
		return err
	}
	defer c.Close()
	const goal = "Refund 300 USD to user_id=42 for a late delivery"
	first := action{Kind: "tool", Name: "get_refund_context", Args: map[string]any{"user_id": 42}}
	fmt.Fprintf(out, "> %s\n> %s\n", goal, first)
	tool, arguments := "supervised_refund", map[string]any{"goal": goal, "actions": []any{first}}
	for {
		r, err := call(ctx, c, tool, arguments)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "< %s: %s\n", r.Status, r.Summary)
		switch {
		case r.Status == "ok":
			for _, e := range r.Effects {
				fmt.Fprintf(out, "  %s %s: %s\n", e.Effect, e.Tool, e.Status)
			}
			return nil
		case r.Next.Action == "fix_and_retry" && len(r.Next.Fill) == 0:
			fmt.Fprintln(out, "> the same, repaired")
			tool, arguments = r.Next.Tool, r.Next.Arguments
		case r.Status == "waiting" && r.Next.Action == "call":
			next := propose(r.WaitingFor.Last)
			fmt.Fprintf(out, "> %s\n", next)
			tool, arguments = r.Next.Tool, r.Next.Arguments
			arguments["actions"] = []any{next}
		default: // a person's turn, or the end
			return fmt.Errorf("%s %s", r.Summary, r.Next.Say)
		}
	}
}

// propose is the model: what to do after what the last action showed. Here it is a few lines that spell badly.
func propose(last observation) action {
	const user, amount = 42, 300
	switch {
	case last.Billing != nil:
		return action{Kind: "tool", Name: "issue_refnd", Args: map[string]any{"user_id": user, "amount_usd": amount, "reason": "late delivery"}}
	case last.Refund != nil:
		paid := last.Refund["amount_usd"] // what was paid, which may be less than what was asked for
		message := fmt.Sprintf("%v USD are on their way to you.", paid)
		return action{Kind: "tool", Name: "send_refund_email", Args: map[string]any{"user_id": user, "amount_usd": paid, "message": message}}
	}
	return action{Kind: "final", Answer: "300 USD were refunded and the customer was told."}
}

// action is one intent of the caller's.
type action struct {
	Kind   string         `json:"kind"` // tool or final
	Name   string         `json:"name,omitempty"`
	Args   map[string]any `json:"args,omitempty"`
	Answer string         `json:"answer,omitempty"` // of kind final
}

// String returns the action in the form that is sent.
func (a action) String() string {
	text, _ := json.Marshal(a) // of plain values: it cannot fail
	return string(text)
}

// observation is what a demo tool showed, as far as this client looks at it.
type observation struct {
	Billing map[string]any `json:"billing"`
	Refund  map[string]any `json:"refund"`
}

// result is what this client reads of a tool's structured result (the tool's output schema has it all).
type result struct {
	Status  string `json:"status"`
	Summary string `json:"summary"`
	Next    struct {
		Action    string         `json:"action"`
		Tool      string         `json:"tool"`
		Arguments map[string]any `json:"arguments"`
		Fill      []string       `json:"fill"` // places in the arguments that the client fills
		Say       string         `json:"say"`
	} `json:"next"`
	WaitingFor struct {
		Last observation `json:"last_observation"`
	} `json:"waiting_for"`
	Effects []struct {
		Tool   string `json:"tool"`
		Effect string `json:"effect"`
		Status string `json:"status"`
	} `json:"effects"`
}

// connect opens a session over Streamable HTTP; a token is sent where there is one.
func connect(ctx context.Context, url, token string) (*client.Client, error) {
	headers := map[string]string{}
	if token != "" {
		headers["Authorization"] = "Bearer " + token
	}
	c, err := client.NewStreamableHttpClient(url, transport.WithHTTPHeaders(headers))
	if err != nil {
		return nil, err
	}
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: "goclient", Version: "1"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// call calls a tool and reads its structured result. A refusal is a result like any other.
func call(ctx context.Context, c *client.Client, tool string, arguments map[string]any) (result, error) {
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = tool, arguments
	answer, err := c.CallTool(ctx, req)
	if err != nil {
		return result{}, err
	}
	text, err := json.Marshal(answer.StructuredContent)
	if err != nil {
		return result{}, err
	}
	var r result
	if err := json.Unmarshal(text, &r); err != nil {
		return result{}, fmt.Errorf("%s: %w", tool, err)
	}
	return r, nil
}
