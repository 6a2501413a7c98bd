package describe

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
	"patterngate/server/sentence"
	"patterngate/server/transport"
)

// Host is the server that offers [arguments.CatalogTool]. Its methods may be called concurrently.
type Host interface {
	// Principal returns the requester of a call.
	Principal(context.Context) string
	// ReadsStructured reports whether the client's model reads only structured content.
	ReadsStructured(context.Context) bool
	// SwitchedOff says in one sentence what is switched off now, or returns "" if nothing is.
	SwitchedOff(context.Context) string
	// Show presents an envelope in both channels.
	Show(context.Context, envelope.Envelope) (*mcp.CallToolResult, error)
	// Fault logs a cause and returns the error that the client may see.
	Fault(ctx context.Context, cause error) error
}

// Config says what is described.
type Config struct {
	Host        Host
	Offered     []patterns.Spec  // in the order of the configuration
	Catalog     *catalog.Catalog // all tools behind the gate; nil: only those of the patterns
	ResultBytes int              // the greatest size of each channel of a result
	Log         *slog.Logger
}

// Tool serves [arguments.CatalogTool]. It is built once, except for the cached pages and the current state of the tools. It
// is safe for concurrent use.
type Tool struct {
	Config
	directory func() *directory               // built at the first use, so that startup stays fast
	still     func() (json.RawMessage, error) // the whole catalog if it does not change, built at the first read
	declared  mcp.Tool
	cursors   cursors
	pages     pages
}

// New returns the tool, or an error if one name stands for different tools.
func New(c Config) (*Tool, error) {
	if err := checkNames(c.Offered, c.Catalog); err != nil {
		return nil, err
	}
	input, err := inputSchema()
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	d := &Tool{Config: c, cursors: newCursors()}
	d.directory = sync.OnceValue(func() *directory { return newDirectory(c.Offered, c.Catalog, c.ResultBytes/2) })
	d.still = sync.OnceValues(func() (json.RawMessage, error) { return d.wholeNow("") })
	d.declared = mcp.NewToolWithRawSchema(arguments.CatalogTool, catalogAbout, input)
	d.declared.Title, d.declared.RawOutputSchema = catalogTitle, envelope.BriefSchema()
	yes, no := true, false
	d.declared.Annotations = mcp.ToolAnnotation{ReadOnlyHint: &yes, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no}
	return d, nil
}

// Declared returns the declaration of the tool.
func (d *Tool) Declared() mcp.Tool { return d.declared }

// Handle answers one tools/call. An error is a protocol error (-32603) with the error's own text.
func (d *Tool) Handle(ctx context.Context, req mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, d.Host.Fault(ctx, fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	asked := question{d.Host.Principal(ctx), string(req.Params.RawArguments), d.Host.ReadsStructured(ctx)}
	off := d.Host.SwitchedOff(ctx)
	if shown := d.pages.get(asked); shown != nil && off == "" {
		return shown, nil
	}
	s, c, problems := d.take(req.Params.RawArguments, asked.principal)
	if len(problems) > 0 {
		return d.refuse(ctx, c, problems)
	}
	if ctx.Err() != nil {
		return nil, transport.ErrCanceled
	}
	structured, text, err := d.page(s, off, d.ResultBytes)
	if err != nil {
		return nil, d.Host.Fault(ctx, err)
	}
	if asked.structured {
		text = envelope.FirstLines(text)
	}
	if d.directory().lives || off != "" { // the next answer may differ
		return &mcp.CallToolResult{RawStructuredContent: structured, Content: []mcp.Content{mcp.NewTextContent(text)}}, nil
	}
	return d.pages.keep(asked, structured, text), nil
}

// refuse answers a request whose arguments have problems.
func (d *Tool) refuse(ctx context.Context, c arguments.Call, problems []document.Problem) (*mcp.CallToolResult, error) {
	e := outcome.Refused(c, problems)
	e.Trace, e.History = nil, nil // only results of patterns have them
	if strings.HasPrefix(e.StopReason, "invalid_request:"+arguments.NotFound.Reason("")) {
		e.Next = envelope.Next{Action: envelope.ActionCall, Tool: arguments.CatalogTool, Arguments: map[string]any{}} // lists all tools
		if r := c.Repaired(problems); !r.Undecided && len(r.Fill) == 0 {
			e.Next.Arguments = envelope.Showable(r.Arguments)
		}
	}
	d.Log.LogAttrs(ctx, slog.LevelDebug, "request refused",
		slog.String("tool", c.Tool), slog.String("stop_reason", sentence.Reason(e.StopReason)))
	result, err := d.Host.Show(ctx, e)
	if err != nil {
		return nil, d.Host.Fault(ctx, err)
	}
	result.IsError = true
	return result, nil
}

// pages caches answers, because most catalogs never change and encoding is most of an answer's cost. The zero pages is
// empty. It is safe for concurrent use.
type pages struct {
	mu    sync.RWMutex
	kept  map[question]*mcp.CallToolResult
	bytes int
}

// question holds everything on which the answer to a call depends.
type question struct {
	principal, arguments string
	structured           bool // the client's model reads structured content only
}

// The limits of pages. When maxKept is reached, pages drops all answers and starts again empty.
const (
	maxKept         = 1 << 20 // bytes
	maxKeptQuestion = 1 << 10 // bytes of arguments; a longer call is not cached
)

// get returns the cached answer to the same question, or nil if there is none.
func (p *pages) get(asked question) *mcp.CallToolResult {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return own(p.kept[asked])
}

// keep builds an answer from its two channels and caches it if it is within the limits.
func (p *pages) keep(asked question, structured json.RawMessage, text string) *mcp.CallToolResult {
	result := &mcp.CallToolResult{RawStructuredContent: structured, Content: []mcp.Content{mcp.NewTextContent(text)}}
	size := len(asked.principal) + len(asked.arguments) + len(structured) + len(text) + 256
	if len(asked.arguments) > maxKeptQuestion || size > maxKept {
		return result
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept == nil || p.bytes+size > maxKept {
		p.kept, p.bytes = map[question]*mcp.CallToolResult{}, 0
	}
	if p.kept[asked] == nil {
		p.kept[asked] = result
		p.bytes += size
	}
	return own(result)
}

// own returns a shallow copy of an answer, because mcp-go writes into the result that it gets. It returns nil for nil.
func own(result *mcp.CallToolResult) *mcp.CallToolResult {
	if result == nil {
		return nil
	}
	mine := *result
	return &mine
}
