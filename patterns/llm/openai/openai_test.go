package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
)

const testKey = "sk-test-0123456789"

// model returns a model of a server with these replies; change may be nil.
func model(t *testing.T, change func(*Config), replies ...llmtest.Reply) (*Client, *llmtest.Server) {
	t.Helper()
	server := llmtest.NewServer(replies...)
	t.Cleanup(server.Close)
	cfg := Config{BaseURL: server.URL, APIKey: testKey, Model: "test-model", Timeout: 10 * time.Second}
	if change != nil {
		change(&cfg)
	}
	m, err := New(cfg)
	if err != nil {
		t.Fatalf("NewOpenAI: %v", err)
	}
	m.backoff = time.Millisecond // how long the waits are is TestPause's
	return m, server
}

func question(ask patterns.Ask, payload string) patterns.Question {
	return patterns.Question{Ask: ask, Prompt: "Say \"hi\"\n\tin JSON.", JSON: json.RawMessage(payload), MaxRequests: -1}
}

func retries(n int) func(*Config) { return func(c *Config) { c.MaxRetries = n } }

// reasonOf is the stop reason of an error that must be a ModelFault.
func reasonOf(t *testing.T, err error) string {
	t.Helper()
	var fault *patterns.ModelFault
	if !errors.As(err, &fault) {
		t.Fatalf("got error %v, want a *patterns.ModelFault", err)
	}
	return fault.Reason
}

func TestAskSendsTwoMessages(t *testing.T) {
	const payload = "{\"goal\":\"caf\u00e9 \\\"x\\\" \\\\ \U0001F600\u007f\u2028\",\"n\":1.5}"
	for ask, phase := range map[patterns.Ask]string{
		patterns.AskPlan: llmtest.Decide, patterns.AskTasks: llmtest.Decide, patterns.AskRoute: llmtest.Decide,
		patterns.AskAction: llmtest.Decide, patterns.AskAnswer: llmtest.Finalize,
		patterns.AskSubtasks: llmtest.Decide, patterns.AskReplan: llmtest.Decide, patterns.AskWork: llmtest.Finalize,
	} {
		m, server := model(t, nil, llmtest.Content("fine"))
		q := question(ask, payload)
		got, err := m.Ask(t.Context(), q)
		used := patterns.Usage{Requests: 1, InputTokens: llmtest.DefaultUsage.Prompt, OutputTokens: llmtest.DefaultUsage.Completion}
		want := patterns.Answer{Text: "fine", Usage: used, Models: []patterns.ModelUsage{{Model: "test-model", Usage: used}}}
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("Ask(%s): got %+v, %v; want %+v", ask, got, err, want)
		}
		r := server.Requests()[0]
		temperature, sent := r.Temperature()
		if r.Method != "POST" || r.Path != "/v1/chat/completions" || r.Phase() != phase || r.Model() != "test-model" || !sent || temperature != 0 {
			t.Errorf("Ask(%s) sent %s %s, phase %s, model %s, temperature %v (%v)", ask, r.Method, r.Path, r.Phase(), r.Model(), temperature, sent)
		}
		if diff := cmp.Diff([]string{"system", "user"}, r.Roles()); diff != "" || r.System() != q.Prompt {
			t.Errorf("Ask(%s): roles %s, system %q, want %q", ask, diff, r.System(), q.Prompt)
		}
		if want := `{"goal":"caf\u00e9 \"x\" \\ \ud83d\ude00\u007f\u2028","n":1.5}`; r.UserText() != want {
			t.Errorf("Ask(%s): user message %s, want %s", ask, r.UserText(), want)
		}
		if r.Header.Get("Authorization") != "Bearer "+testKey || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("Ask(%s): headers %v", ask, r.Header)
		}
	}
}

func TestEnvironmentStaysOut(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "sk-from-env", "OPENAI_ADMIN_KEY": "sk-admin", "OPENAI_ORG_ID": "org-env", "OPENAI_PROJECT_ID": "proj-env",
		"OPENAI_WEBHOOK_SECRET": "whsec-env", "OPENAI_BASE_URL": "http://127.0.0.1:1/env", "OPENAI_CUSTOM_HEADERS": "X-Env: env",
	} {
		t.Setenv(name, value)
	}
	m, server := model(t, func(c *Config) { c.APIKey = "" }, llmtest.Content("x"))
	if _, err := m.Ask(t.Context(), question(patterns.AskAnswer, `{}`)); err != nil {
		t.Fatal(err)
	}
	h := server.Requests()[0].Header
	if got := h.Get("Authorization"); got != "Bearer "+placeholderKey {
		t.Errorf("without a key: Authorization %q, want the placeholder", got)
	}
	for name, values := range h {
		if strings.HasPrefix(name, "X-") {
			t.Errorf("header %s: %v tells of this machine", name, values)
		}
		if text := strings.ToLower(fmt.Sprint(name, values)); strings.Contains(text, "env") || strings.Contains(text, "admin") {
			t.Errorf("header %s: %v comes from the environment", name, values)
		}
	}
}

func TestAnswers(t *testing.T) {
	usage := llmtest.Usage{Prompt: 3, Completion: 4}
	tests := map[string]struct {
		reply llmtest.Reply
		want  string
	}{
		"text":                {llmtest.Content(" {\"a\": 1}\n"), " {\"a\": 1}\n"},
		"empty":               {llmtest.Content(""), ""},
		"blank":               {llmtest.Content(" \t\n\u00a0\u001c"), ""},
		"null":                {llmtest.NullContent(), ""},
		"null, empty refusal": {llmtest.Message(`null`, `""`, usage), ""},
		"text beside refusal": {llmtest.Message(`"yes"`, `"no"`, usage), "yes"},
		"a large one":         {llmtest.Huge(2 << 20), strings.Repeat("x", 2<<20)},
		"without a frame":     {llmtest.Unframed(`{"choices":[{"message":{"content":"hi"}}]}`), "hi"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m, _ := model(t, nil, tt.reply)
			got, err := m.Ask(t.Context(), question(patterns.AskPlan, `{}`))
			if err != nil || got.Text != tt.want {
				t.Errorf("Ask: got %.80q, %v; want %.80q", got.Text, err, tt.want)
			}
		})
	}
}

// hasty leaves a request little time, though enough to come to the server: for tests in which the time-out is what happens.
func hasty(c *Config) { c.Timeout = time.Second }

func TestFaults(t *testing.T) {
	tests := map[string]struct {
		reply llmtest.Reply
		want  string
	}{
		"401":                 {llmtest.Status(401), authReason},
		"403":                 {llmtest.Status(403), authReason},
		"429":                 {llmtest.Status(429), rateReason},
		"400":                 {llmtest.Status(400), requestReason},
		"404":                 {llmtest.Status(404), requestReason},
		"408":                 {llmtest.Status(408), requestReason},
		"422":                 {llmtest.Status(422), requestReason},
		"500":                 {llmtest.Status(500), serverReason},
		"503":                 {llmtest.Status(503), serverReason},
		"304":                 {llmtest.Raw(304, "text/plain", ""), serverReason},
		"not JSON":            {llmtest.Raw(200, "text/html", "<html>busy</html>"), serverReason},
		"JSON, no completion": {llmtest.Raw(200, "application/json", `{"ok":true}`), serverReason},
		"no content at all":   {llmtest.Raw(204, "", ""), serverReason},
		"half of a document":  {llmtest.Raw(200, "application/json", `{"choices":[`), serverReason},
		"too large":           {llmtest.Huge(maxResponse), serverReason},
		"refusal":             {llmtest.Refusal("I cannot help with that."), refusedReason},
		"no choices":          {llmtest.NoChoices(), noChoicesReason},
		"reset":               {llmtest.Reset(), unreachableReason},
		"truncated":           {llmtest.Truncated(), unreachableReason},
		"ends without a word": {llmtest.Unframed(""), unreachableReason},
		"ends half-way":       {llmtest.Unframed(`{"choices":[{"message":`), unreachableReason},
		"silence":             {llmtest.Silence(), timeoutReason},
		"endless":             {llmtest.Endless(200), timeoutReason},
		"endless 503":         {llmtest.Endless(503), serverReason},
		"slow":                {llmtest.Content("late").After(time.Minute), timeoutReason},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var change func(*Config)
			switch {
			case tt.want == timeoutReason:
				change = hasty
			case name == "endless 503": // its beginning says enough, and has time to come
				change = func(c *Config) { c.Timeout = 3 * time.Second }
			}
			m, server := model(t, change, tt.reply)
			got, err := m.Ask(t.Context(), question(patterns.AskPlan, `{}`))
			if reason := reasonOf(t, err); reason != tt.want {
				t.Errorf("Ask: got %s (%v), want %s", reason, err, tt.want)
			}
			if got.Text != "" || got.Usage.Requests != 1 || len(server.Requests()) != 1 {
				t.Errorf("Ask: got %+v and %d requests at the server, want 1", got, len(server.Requests()))
			}
		})
	}
}

func TestUsageCountsWhereNothingWasSaid(t *testing.T) {
	m, _ := model(t, nil, llmtest.Refusal("no"))
	got, err := m.Ask(t.Context(), question(patterns.AskPlan, `{}`))
	want := patterns.Usage{Requests: 1, InputTokens: llmtest.DefaultUsage.Prompt, OutputTokens: llmtest.DefaultUsage.Completion}
	if reasonOf(t, err) != refusedReason || got.Usage != want {
		t.Errorf("a refusal: got usage %+v, %v; want %+v", got.Usage, err, want)
	}
}

func TestNobodyThere(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	m, _ := model(t, func(c *Config) { c.BaseURL, c.MaxRetries = "http://"+free.Addr().String()+"/v1", 2 })
	got, err := m.Ask(t.Context(), question(patterns.AskPlan, `{}`))
	if reason := reasonOf(t, err); reason != unreachableReason || got.Usage.Requests != 3 {
		t.Errorf("a closed port: got %s after %d requests, want %s after 3", reason, got.Usage.Requests, unreachableReason)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	_, other := model(t, nil, llmtest.Content("stolen"))
	m, _ := model(t, retries(2), llmtest.Redirect(other.URL+"/chat/completions"))
	got, err := m.Ask(t.Context(), question(patterns.AskPlan, `{}`))
	if reason := reasonOf(t, err); reason != serverReason || got.Usage.Requests != 1 {
		t.Errorf("a redirect: got %s after %d requests, want %s after 1", reason, got.Usage.Requests, serverReason)
	}
	if n := len(other.Requests()); n != 0 {
		t.Errorf("the redirect's target got %d requests, want none", n)
	}
}

func TestTheContextsEndIsNoFault(t *testing.T) {
	t.Run("deadline", func(t *testing.T) {
		m, _ := model(t, nil, llmtest.Silence())
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		got, err := m.Ask(ctx, question(patterns.AskPlan, `{}`))
		if err != context.DeadlineExceeded || got.Usage.Requests != 1 {
			t.Errorf("Ask: got %+v, %v; want 1 request and the context's deadline", got, err)
		}
	})
	t.Run("cancelled while a request runs", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := llmtest.NewFunc(func(llmtest.Request) llmtest.Reply { cancel(); return llmtest.Silence() })
		defer server.Close()
		m, _ := model(t, func(c *Config) { c.BaseURL = server.URL })
		if _, err := m.Ask(ctx, question(patterns.AskPlan, `{}`)); err != context.Canceled {
			t.Errorf("Ask: got %v, want %v", err, context.Canceled)
		}
	})
	t.Run("ended before", func(t *testing.T) {
		m, server := model(t, nil, llmtest.Content("x"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		got, err := m.Ask(ctx, question(patterns.AskPlan, `{}`))
		if err != context.Canceled || got.Usage.Requests != 0 || len(server.Requests()) != 0 {
			t.Errorf("Ask: got %+v, %v; want no request and %v", got, err, context.Canceled)
		}
	})
}

func TestRetries(t *testing.T) {
	ok, busy := llmtest.Content("ok"), llmtest.Status(429)
	tests := map[string]struct {
		retries, most int
		replies       []llmtest.Reply
		want          string // "" is an answer
		requests      int
	}{
		"what may pass":            {3, -1, []llmtest.Reply{busy, llmtest.Status(502), llmtest.Reset(), ok}, "", 4},
		"truncated":                {1, -1, []llmtest.Reply{llmtest.Truncated(), ok}, "", 2},
		"no retries":               {0, -1, []llmtest.Reply{busy, ok}, rateReason, 1},
		"too few retries":          {2, -1, []llmtest.Reply{busy, busy, llmtest.Status(500), ok}, serverReason, 3},
		"the question's bound":     {5, 2, []llmtest.Reply{busy, busy, ok}, rateReason, 2},
		"within the bound":         {5, 2, []llmtest.Reply{busy, ok}, "", 2},
		"key refused":              {5, -1, []llmtest.Reply{llmtest.Status(401), ok}, authReason, 1},
		"request refused":          {5, -1, []llmtest.Reply{llmtest.Status(400), ok}, requestReason, 1},
		"not a completion":         {5, -1, []llmtest.Reply{llmtest.Raw(200, "text/plain", "hi"), ok}, serverReason, 1},
		"refused by the model":     {5, -1, []llmtest.Reply{llmtest.Refusal("no"), ok}, refusedReason, 1},
		"time-out":                 {5, -1, []llmtest.Reply{llmtest.Silence(), ok}, timeoutReason, 1},
		"Retry-After now":          {1, -1, []llmtest.Reply{busy.With("Retry-After", "0"), ok}, "", 2},
		"Retry-After a past date":  {1, -1, []llmtest.Reply{busy.With("Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"), ok}, "", 2},
		"Retry-After does not fit": {1, -1, []llmtest.Reply{busy.With("Retry-After", "3600"), ok}, rateReason, 1},
		"Retry-After is huge":      {1, -1, []llmtest.Reply{llmtest.Status(503).With("Retry-After", "9223372036854775807"), ok}, serverReason, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, server := model(t, func(c *Config) {
				c.MaxRetries = tt.retries
				if tt.want == timeoutReason {
					hasty(c)
				}
			}, tt.replies...)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			q := question(patterns.AskPlan, `{}`)
			q.MaxRequests = tt.most
			got, err := m.Ask(ctx, q)
			if tt.want == "" && (err != nil || got.Text != "ok") {
				t.Errorf("Ask: got %+v, %v; want ok", got, err)
			}
			if tt.want != "" && reasonOf(t, err) != tt.want {
				t.Errorf("Ask: got %v, want %s", err, tt.want)
			}
			if got.Usage.Requests != tt.requests || len(server.Requests()) != tt.requests {
				t.Errorf("Ask counts %d requests, the server %d, want %d", got.Usage.Requests, len(server.Requests()), tt.requests)
			}
		})
	}
}

func TestNoRequestAllowed(t *testing.T) {
	m, server := model(t, nil, llmtest.Content("x"))
	q := question(patterns.AskPlan, `{}`)
	q.MaxRequests = 0
	if got, err := m.Ask(t.Context(), q); err == nil || len(server.Requests()) != 0 {
		t.Errorf("a question that may cost no request: got %+v, %v and %d requests; want an error and none", got, err, len(server.Requests()))
	}
	m, server = model(t, func(c *Config) { c.Timeout = 0 }, llmtest.Content("x"))
	got, err := m.Ask(t.Context(), question(patterns.AskPlan, `{}`))
	if reason := reasonOf(t, err); reason != timeoutReason || len(server.Requests()) != 0 || got.Usage.Requests != 0 {
		t.Errorf("a time-out of 0: got %s, usage %+v and %d requests; want %s and none", reason, got.Usage, len(server.Requests()), timeoutReason)
	}
}

func TestConfigFaults(t *testing.T) {
	good := Config{BaseURL: "http://127.0.0.1:11434/v1", Model: "m", Timeout: time.Second}
	tests := map[string]struct {
		change func(*Config)
		want   []string // parts of the error; none: accepted
	}{
		"as it is":        {func(*Config) {}, nil},
		"key only":        {func(c *Config) { c.BaseURL, c.APIKey = "", testKey }, nil},
		"neither":         {func(c *Config) { c.BaseURL = "" }, []string{"neither a base URL nor an API key"}},
		"relative":        {func(c *Config) { c.BaseURL = "localhost/v1" }, []string{`scheme ""`}},
		"no scheme":       {func(c *Config) { c.BaseURL = "localhost:8080/v1" }, []string{`scheme "localhost"`}},
		"another scheme":  {func(c *Config) { c.BaseURL = "ftp://h/v1" }, []string{`scheme "ftp"`}},
		"no host":         {func(c *Config) { c.BaseURL = "http:///v1" }, []string{"no host"}},
		"user":            {func(c *Config) { c.BaseURL = "https://u:hunter2@h/v1" }, []string{"user or password"}},
		"query":           {func(c *Config) { c.BaseURL = "https://h/v1?token=hunter2" }, []string{"query"}},
		"unreadable":      {func(c *Config) { c.BaseURL = "http://h/%zz-hunter2" }, []string{"cannot be read"}},
		"key of two":      {func(c *Config) { c.APIKey = "hunter2\nX: y" }, []string{"API key"}},
		"key with blank":  {func(c *Config) { c.APIKey = "hunter2 " }, []string{"API key"}},
		"all at once":     {func(c *Config) { *c = Config{Timeout: -1, MaxRetries: -1, Temperature: 3} }, []string{"neither", "model: missing", "time-out", "retries", "temperature"}},
		"temperature NaN": {func(c *Config) { c.Temperature = math.NaN() }, []string{"temperature"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := good
			tt.change(&cfg)
			_, err := New(cfg)
			if (err == nil) != (len(tt.want) == 0) {
				t.Fatalf("NewOpenAI: got %v, want %q", err, tt.want)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("NewOpenAI: got %v, want %q and no secret", err, part)
				}
			}
		})
	}
}

func TestQuestionsShareAConnection(t *testing.T) {
	m, server := model(t, nil, llmtest.Content("a"), llmtest.Status(404), llmtest.NoChoices(), llmtest.Raw(200, "text/plain", "hm"), llmtest.Content("b"))
	for range 5 {
		_, _ = m.Ask(t.Context(), question(patterns.AskPlan, `{}`)) // what comes of it is TestFaults'
	}
	for i, r := range server.Requests() {
		if first := server.Requests()[0].From; r.From != first {
			t.Errorf("request %d came from %s, the first from %s; want one connection", i+1, r.From, first)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	server := llmtest.NewFunc(func(r llmtest.Request) llmtest.Reply { return llmtest.Content(r.UserText()) })
	defer server.Close()
	m, _ := model(t, func(c *Config) { c.BaseURL = server.URL })
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			for range 4 {
				want := fmt.Sprintf(`{"goal":"%d"}`, i)
				if got, err := m.Ask(t.Context(), question(patterns.AskAnswer, want)); err != nil || got.Text != want {
					t.Errorf("Ask: got %q, %v; want %q", got.Text, err, want)
				}
			}
		})
	}
	all.Wait()
}
