package openai

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/patterns"
)

const (
	defaultBaseURL = "https://api.openai.com/v1"
	placeholderKey = "none" // for servers that want no key; many refuse a request without the header
	maxResponse    = 8 << 20
)

// Config says which server and model to ask, and how patiently.
type Config struct {
	// BaseURL is where chat/completions lies, absolute http or https, without query and user; empty means OpenAI's.
	BaseURL string
	// APIKey is sent as bearer token. With a BaseURL it may be empty: a placeholder is sent.
	APIKey string
	// Key is the token where it has to be fetched first: read for the first request, never before, and again after a 401. It
	// goes before APIKey. nil: there is none.
	Key catalog.Secret
	// Model is the model's name; required.
	Model string
	// Timeout bounds each request, from its beginning to the last byte of its answer. 0 leaves no time at all.
	Timeout time.Duration
	// MaxRetries is how often a question is asked again after 429, 5xx or a broken connection. 0 means never.
	MaxRetries int
	// Temperature is sent unchanged, 0 to 2.
	Temperature float64
	// Format says how decisions are asked for; "": in JSON mode.
	Format Format
	// Price is what the model's tokens cost; the zero Price is not counted.
	Price patterns.Price
}

// Client asks a language model by Chat Completions. All questions share one client and its connections. It is safe
// for concurrent use. It reads no environment variable but the proxy settings of [http.ProxyFromEnvironment], follows
// no redirect, and never holds more than 8 MiB of an answer.
type Client struct {
	model       string
	temperature string // as JSON
	timeout     time.Duration
	retries     int
	backoff     time.Duration // the first wait's upper bound
	client      openai.Client
	key         catalog.Secret
	format      Format
	price       patterns.Price
	place       string // of the model: its server and name
	schemas     *schemas
}

var _ patterns.Model = (*Client)(nil)

// New returns a model for cfg, or every fault of cfg at once. It makes no connection.
func New(cfg Config) (*Client, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	base, key := cfg.BaseURL, cfg.Key
	if base == "" {
		base = defaultBaseURL
	}
	if key == nil {
		key = written(cfg.APIKey)
	}
	return &Client{
		model:       cfg.Model,
		temperature: number(cfg.Temperature),
		timeout:     cfg.Timeout,
		retries:     cfg.MaxRetries,
		backoff:     firstBackoff,
		key:         key,
		format:      cfg.Format,
		price:       cfg.Price,
		place:       base + " " + cfg.Model,
		schemas:     &schemas{},
		// Not openai.NewClient: that one also takes OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS and more from the environment.
		client: openai.Client{Options: []option.RequestOption{
			option.WithBaseURL(base),
			option.WithMaxRetries(0), // attempts belong to the run's budget: see Ask
			option.WithHTTPClient(newWire()),
		}},
	}, nil
}

func (cfg Config) check() error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf("llm: "+format, args...)) }
	if cfg.BaseURL == "" && cfg.APIKey == "" && cfg.Key == nil {
		add("neither a base URL nor an API key; set one of them")
	}
	if cfg.BaseURL != "" {
		if fault := faultOfBase(cfg.BaseURL); fault != "" {
			add("base URL: %s; want http:// or https://, a host and a path", fault)
		}
	}
	if strings.ContainsFunc(cfg.APIKey, unfit) {
		add("API key: holds white space or characters beyond ASCII; want it as the server gave it out")
	}
	if ijson.Blank(cfg.Model) {
		faults = append(faults, errBlankModel)
	}
	if cfg.Timeout < 0 {
		add("time-out: got %v; want 0 or more", cfg.Timeout)
	}
	if cfg.MaxRetries < 0 {
		add("retries: got %d; want 0 or more", cfg.MaxRetries)
	}
	if fault := faultOfTemperature(cfg.Temperature); fault != nil {
		faults = append(faults, fault)
	}
	switch cfg.Format {
	case "", JSONObject, JSONSchema, AutoFormat:
	default:
		add("format: got %q; want json_object, json_schema or auto", cfg.Format)
	}
	if p := cfg.Price; !(p.InputUSD >= 0 && p.OutputUSD >= 0 && p.InputUSD <= maxPrice && p.OutputUSD <= maxPrice) {
		add("price: got %v and %v; want 0 to %v USD per million tokens", p.InputUSD, p.OutputUSD, maxPrice)
	}
	return errors.Join(faults...)
}

// maxPrice is beyond every model's, per million tokens.
const maxPrice = 1e6

// faultOfBase says what is wrong with a base URL without repeating what may be secret in it.
func faultOfBase(text string) string {
	base, err := url.Parse(text)
	switch {
	case err != nil:
		return "cannot be read"
	case base.Scheme != "http" && base.Scheme != "https":
		return fmt.Sprintf("scheme %q", base.Scheme)
	case base.Hostname() == "":
		return "has no host"
	case base.User != nil:
		return "holds a user or password"
	case base.RawQuery != "" || base.ForceQuery || base.Fragment != "":
		return "has a query or fragment"
	}
	return ""
}

// With returns a model that asks the same server over the same connections for another model's answers, or for the same
// model's at another temperature, 0 to 2. An empty name is m's own. m does not change.
func (m *Client) With(model string, temperature float64) (*Client, error) {
	var faults []error
	if model != "" && ijson.Blank(model) {
		faults = append(faults, errBlankModel)
	}
	if fault := faultOfTemperature(temperature); fault != nil {
		faults = append(faults, fault)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	other := *m
	other.model, other.temperature = cmp.Or(model, m.model), number(temperature)
	other.place = strings.TrimSuffix(m.place, m.model) + other.model
	return &other, nil
}

var errBlankModel = errors.New("llm: model: missing")

func faultOfTemperature(t float64) error {
	if t >= 0 && t <= 2 {
		return nil
	}
	return fmt.Errorf("llm: temperature: got %v; want 0 to 2", t) // NaN too
}

// Name returns the model's name.
func (m *Client) Name() string { return m.model }

// Ask sends the question as two messages, in JSON mode where a decision is asked for, and returns the first choice's
// content, "" if that is null or blank. A request that cannot be made, is not answered or is answered with something
// else gives a [*patterns.ModelFault]; usage counts every request begun. A question that may cost no request is an
// error of the caller.
func (m *Client) Ask(ctx context.Context, q patterns.Question) (patterns.Answer, error) {
	answer, err := m.ask(ctx, q)
	if err != nil {
		err = outward(ctx, err)
	}
	return answer, err
}

// ask is Ask with its own faults.
func (m *Client) ask(ctx context.Context, q patterns.Question) (patterns.Answer, error) {
	if q.MaxRequests == 0 {
		return patterns.Answer{}, errNoRequest
	}
	format := m.formatOf(q)
	tried, body := format, m.body(q, format)
	var used patterns.Usage
	for try := 0; ; {
		if err := ctx.Err(); err != nil {
			return m.answer("", used), err
		}
		said, err := m.request(ctx, body, q.Decision())
		said.usage.CostUSD = m.price.Of(said.usage.InputTokens, said.usage.OutputTokens)
		used = used.Plus(said.usage)
		if err == nil {
			m.learned(tried, format)
			return m.answer(said.text, used), nil
		}
		left := q.MaxRequests < 0 || used.Requests < q.MaxRequests
		if left && m.refusesSchema(format, err) {
			format = JSONObject
			body = m.body(q, format)
			continue
		}
		if !left || try >= m.retries || !m.pause(ctx, try, err) {
			return m.answer("", used), err
		}
		try++
	}
}

var errNoRequest = errors.New("llm: a question that may cost no request was asked")

// answer is what was said and cost.
func (m *Client) answer(text string, used patterns.Usage) patterns.Answer {
	a := patterns.Answer{Text: text, Usage: used}
	if used.Requests > 0 {
		a.Models = []patterns.ModelUsage{{Model: m.model, Usage: used}}
	}
	return a
}

// request makes one request within the time-out. Its error is a [*fault] or ctx's own.
func (m *Client) request(ctx context.Context, body []byte, decision bool) (completion, error) {
	if m.timeout == 0 {
		return completion{}, &fault{reason: timeoutReason, cause: errNoTime}
	}
	limited, cancel := context.WithTimeoutCause(ctx, m.timeout, errTimedOut)
	defer cancel()
	key, err := m.bearer(limited)
	var said completion
	if err == nil {
		said, err = m.exchange(limited, cancel, body, decision, key)
	}
	said.usage.Requests = 1
	var known *fault
	switch {
	case err == nil || errors.As(err, &known):
		return said, err
	case context.Cause(limited) == errTimedOut:
		return said, &fault{reason: timeoutReason, cause: errTimedOut}
	case ctx.Err() != nil:
		return said, ctx.Err()
	}
	return said, &fault{reason: unreachableReason, cause: errors.New(key.quotable(err.Error())), passing: true} // it may quote what came
}

// exchange sends body and reads the answer. Its error is a [*fault] where the server said something, else the
// connection's or ctx's.
func (m *Client) exchange(ctx context.Context, cancel func(), body []byte, decision bool, key bearer) (completion, error) {
	var res *http.Response
	err := m.client.Post(ctx, "chat/completions", body, &res, option.WithAPIKey(string(key)))
	var status *statusError
	if errors.As(err, &status) {
		if status.res.StatusCode == http.StatusUnauthorized {
			m.key.Forget()
		}
		return completion{}, denied(status.res, cancel, key)
	}
	if err != nil {
		return completion{}, err
	}
	defer res.Body.Close()
	text, err := read(res)
	if err != nil {
		return completion{}, err
	}
	said, err := decodeCompletion(text, decision)
	if errors.Is(err, io.ErrUnexpectedEOF) && endsWithConnection(res) {
		return completion{}, io.ErrUnexpectedEOF // half of an answer, not a wrong one
	}
	var wrong *fault
	if errors.As(err, &wrong) { // its cause may quote the answer
		wrong.cause = errors.New(key.quotable(wrong.cause.Error()))
	}
	return said, err
}

// read reads the body whole, but never more than maxResponse bytes.
func read(res *http.Response) ([]byte, error) {
	const likely = 64 << 10 // to begin with, whatever length the server claims
	size := min(max(res.ContentLength, 0), likely)
	text := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	n, err := text.ReadFrom(io.LimitReader(res.Body, maxResponse+1))
	if n > maxResponse {
		return nil, wrongAnswer(errTooLarge)
	}
	return text.Bytes(), err
}
