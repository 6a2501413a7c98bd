package transport

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// ToolList is a list of tools in JSON, encoded once. The list of 50 patterns has 90 KB, which mcp-go would compact
// twice for each answer.
//
//	hook after tools/list ──▶ one tool in place of all ──▶ answer of mcp-go ──▶ conn.Write or answer.Write inserts the list
//
// The answer is byte for byte what mcp-go would write. A ToolList does not change.
type ToolList struct {
	tools  []mcp.Tool
	list   []byte // as an answer contains it
	mark   string // the name of the stand-in
	marked []byte // a list of the stand-in alone, as an answer contains it
}

// marks begin the names of the stand-ins. They are random, so no text of a tool or a client contains one by chance or on purpose.
var (
	marks     = rand.Text() + "-"
	markCount atomic.Int64
)

// NewToolList encodes a list of tools. The tools must not change after that.
func NewToolList(tools []mcp.Tool) (*ToolList, error) {
	list, err := json.Marshal(tools)
	if err != nil {
		return nil, err
	}
	l := &ToolList{tools: tools, list: list, mark: marks + strconv.FormatInt(markCount.Add(1), 10)}
	l.marked, err = json.Marshal([]mcp.Tool{l.standIn()})
	return l, err
}

// standIn returns the tool that replaces the whole list until the answer is written.
func (l *ToolList) standIn() mcp.Tool {
	return mcp.Tool{Name: l.mark, RawInputSchema: json.RawMessage(`{}`)}
}

// of reports whether this is the encoded form of a list.
func (l *ToolList) of(tools []mcp.Tool) bool {
	return slices.EqualFunc(l.tools, tools, func(a, b mcp.Tool) bool {
		return a.Name == b.Name && a.Title == b.Title && a.Description == b.Description && bytes.Equal(a.RawInputSchema, b.RawInputSchema) &&
			bytes.Equal(a.RawOutputSchema, b.RawOutputSchema) && sameHints(a.Annotations, b.Annotations) &&
			a.Meta == b.Meta && a.Execution == b.Execution && len(b.Icons) == 0 && a.DeferLoading == b.DeferLoading
	})
}

func sameHints(a, b mcp.ToolAnnotation) bool {
	same := func(a, b *bool) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
	return a.Title == b.Title && same(a.ReadOnlyHint, b.ReadOnlyHint) && same(a.DestructiveHint, b.DestructiveHint) &&
		same(a.IdempotentHint, b.IdempotentHint) && same(a.OpenWorldHint, b.OpenWorldHint)
}

// listings hold the lists of the answers that are under way on one connection, or for one HTTP request. They are safe
// for concurrent use.
type listings struct {
	mu   sync.Mutex
	on   []*ToolList // each once, however many answers need it
	used atomic.Bool
}

func (l *listings) add(one *ToolList) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.on, one) {
		l.on = append(l.on, one)
	}
	l.used.Store(true)
}

// whole returns a message with the list in place of its stand-in.
func (l *listings) whole(message []byte) []byte {
	if !l.used.Load() || !bytes.Contains(message, []byte(marks)) {
		return message
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.on {
		if before, after, found := bytes.Cut(message, one.marked); found {
			return slices.Concat(before, one.list, after)
		}
	}
	return message
}

// listingsOf returns the listings of the transport of a request. It returns nil for a transport that cannot insert a
// list.
func listingsOf(ctx context.Context) *listings {
	if c := connOf(ctx); c != nil {
		return &c.listings
	}
	if x := exchangeOf(ctx); x != nil {
		return &x.answer.listings
	}
	return nil
}

// InsertList inserts an encoded list into the answer to a tools/list, if the transport of the request can do that and
// the list has the same tools as result. Otherwise it leaves result as it is, and mcp-go encodes it. InsertList calls
// list only if the transport can insert it.
func InsertList(ctx context.Context, result *mcp.ListToolsResult, list func() (*ToolList, error)) {
	on := listingsOf(ctx)
	if on == nil {
		return
	}
	one, err := list()
	if err != nil || !one.of(result.Tools) { // during a reload
		return
	}
	on.add(one)
	result.Tools = []mcp.Tool{one.standIn()}
}
