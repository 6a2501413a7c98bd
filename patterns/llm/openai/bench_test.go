package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
	"patterngate/patterns/llm/prompts"
)

const benchReply = `{"kind":"plan","steps":[{"id":"s1","title":"Sales","tool":"fetch_sales_data","args":{"month":"2026-04"}},` +
	`{"id":"s2","title":"Refunds","tool":"fetch_refund_data","args":{"month":"2026-04"}},` +
	`{"id":"s3","title":"Manager","tool":"get_manager_profile","args":{"manager_id":42}}]}`

var benchPayload = json.RawMessage(`{"available_tools":[{"args":{"manager_id":"integer"},"description":"Profile of a manager","name":"get_manager_profile"},` +
	`{"args":{"month":"string"},"description":"Sales of a month by day","name":"fetch_sales_data"},` +
	`{"args":{"month":"string"},"description":"Refunds of a month by day","name":"fetch_refund_data"}],"goal":"April report for manager 42","max_plan_steps":6}`)

// BenchmarkAsk compares one question by OpenAI with the plain call of openai-go and with the bare round trip that
// neither can do without.
func BenchmarkAsk(b *testing.B) {
	server := llmtest.NewFunc(func(llmtest.Request) llmtest.Reply { return llmtest.Content(benchReply) })
	defer server.Close()
	b.Run("ours", func(b *testing.B) { benchOurs(b, server.URL) })
	b.Run("openai-go", func(b *testing.B) { benchPlain(b, server.URL) })
	b.Run("net-http", func(b *testing.B) { benchBare(b, server.URL) })
}

func benchOurs(b *testing.B, base string) {
	m, err := New(Config{BaseURL: base, APIKey: "k", Model: "m", Timeout: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	q := patterns.Question{Ask: patterns.AskPlan, Prompt: prompts.Plan, JSON: benchPayload, MaxRequests: -1}
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		if answer, err := m.Ask(ctx, q); err != nil || answer.Text != benchReply {
			b.Fatalf("Ask: got %q, %v", answer.Text, err)
		}
	}
}

func benchPlain(b *testing.B, base string) {
	client := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey("k"), option.WithMaxRetries(0),
		option.WithRequestTimeout(time.Minute), option.WithHTTPClient(&http.Client{Transport: newWire().transport}))
	b.ReportAllocs()
	for b.Loop() {
		res, err := client.Chat.Completions.New(b.Context(), openai.ChatCompletionNewParams{
			Model: "m", Temperature: openai.Float(0),
			Messages:       []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(prompts.Plan), openai.UserMessage(string(benchPayload))},
			ResponseFormat: openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONObject: &shared.ResponseFormatJSONObjectParam{}},
		})
		if err != nil || res.Choices[0].Message.Content != benchReply {
			b.Fatalf("New: got %v, %v", res, err)
		}
	}
}

func benchBare(b *testing.B, base string) {
	w := newWire()
	m := &Client{model: "m", temperature: "0"}
	body := m.body(patterns.Question{Ask: patterns.AskPlan, Prompt: prompts.Plan, JSON: benchPayload}, JSONObject)
	b.ReportAllocs()
	for b.Loop() {
		if err := roundTrip(b.Context(), w, base, body); err != nil {
			b.Fatal(err)
		}
	}
}

func roundTrip(ctx context.Context, w wire, base string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := w.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

func BenchmarkBody(b *testing.B) {
	m := &Client{model: "m", temperature: "0"}
	q := patterns.Question{Ask: patterns.AskPlan, Prompt: prompts.Plan, JSON: benchPayload}
	b.ReportAllocs()
	for b.Loop() {
		m.body(q, JSONObject)
	}
}

func BenchmarkDecodeCompletion(b *testing.B) {
	text := []byte(`{"id":"chatcmpl-test","object":"chat.completion","created":1767225600,"model":"test-model","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"{\"kind\":\"final\",\"answer\":\"done\"}","refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":21,"completion_tokens":9,"total_tokens":30}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeCompletion(text, true); err != nil {
			b.Fatal(err)
		}
	}
}
