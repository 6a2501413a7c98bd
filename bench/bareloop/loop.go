// Package bareloop does what the four reference patterns do and nothing more: it asks openai-go, decodes the reply
// with encoding/json, calls the tools, asks again.
//
//	payload (struct) ──Marshal──▶ Chat.Completions.New ──Unmarshal──▶ plan, tasks, route or action ──▶ catalog.Func
//	      ▲                                                                                               │
//	      └──────────────────────────────── history (rows) ◀──────────────────────────────────────────────┘
//
// There is no gate, no budget, no record, no replay and no bound on what comes in. It is written as a careful engineer
// would write it by hand: one shared client, a transport that keeps its connections, no retries by the SDK, structs
// where the shape is known. It is the floor that [patterngate/bench] measures the product against.
package bareloop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"patterngate/catalog"
	"patterngate/catalog/demo"
)

// Loop carries out runs. It is safe for concurrent use.
type Loop struct {
	client openai.Client
	model  string
	tools  map[string]tool
	calls  atomic.Int64 // for idempotency keys
}

// tool is a demo tool with the words that a model is shown about it.
type tool struct {
	do    catalog.Func
	offer offer
}

type offer struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Args        map[string]any `json:"args"`
}

// Result is what a run came to, as the reference programs return it less their trace.
type Result struct {
	Status     string     `json:"status"`
	StopReason string     `json:"stop_reason"`
	Answer     string     `json:"answer"`
	Plan       any        `json:"plan,omitempty"`
	Route      string     `json:"selected_route,omitempty"`
	Aggregate  *aggregate `json:"aggregate,omitempty"`
	History    any        `json:"history"`
}

func success(answer string, history any) Result {
	return Result{Status: "ok", StopReason: "success", Answer: answer, History: history}
}

// New makes a loop that asks model at baseURL, over the demo tools with their delays scaled by delay.
func New(baseURL, model string, delay float64) (*Loop, error) {
	tools, err := demo.Tools(demo.Config{DelayFactor: delay})
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, 2048
	l := &Loop{model: model, tools: map[string]tool{}, client: openai.NewClient(
		option.WithBaseURL(baseURL), option.WithAPIKey("none"), option.WithMaxRetries(0),
		option.WithRequestTimeout(time.Minute), option.WithHTTPClient(&http.Client{Transport: transport}),
	)}
	for _, t := range tools {
		l.tools[t.Name] = tool{t.Do, offer{t.Name, t.Description, t.ArgumentWords("request_id")}}
	}
	return l, nil
}

// offers are what a model may choose from.
func (l *Loop) offers(names []string) []offer {
	list := make([]offer, len(names))
	for i, n := range names {
		list[i] = l.tools[n].offer
	}
	return list
}

// ask sends the payload as a user message and returns the reply's text.
func (l *Loop) ask(ctx context.Context, prompt string, payload any, decision bool) (string, error) {
	user, err := json.Marshal(payload)
	if err != nil {
		return "", err
	}
	params := openai.ChatCompletionNewParams{
		Model: l.model, Temperature: openai.Float(0),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(prompt), openai.UserMessage(string(user))},
	}
	if decision {
		params.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	}
	res, err := l.client.Chat.Completions.New(ctx, params)
	if err != nil {
		return "", err
	}
	if len(res.Choices) == 0 || res.Choices[0].Message.Content == "" {
		return "", errors.New("an empty reply")
	}
	return res.Choices[0].Message.Content, nil
}

// decide asks for one JSON object and decodes it into reply.
func (l *Loop) decide(ctx context.Context, prompt string, payload, reply any) error {
	text, err := l.ask(ctx, prompt, payload, true)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), reply)
}

// call makes a tool's call.
func (l *Loop) call(ctx context.Context, name string, args map[string]any, attempt int) (any, error) {
	t, ok := l.tools[name]
	if !ok {
		return nil, fmt.Errorf("no tool %q", name)
	}
	key := fmt.Sprintf("bare_%d", l.calls.Add(1))
	return t.do(ctx, catalog.Call{Args: args, Key: key, Attempt: attempt})
}
