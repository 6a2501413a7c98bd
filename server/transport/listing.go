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

// ToolList is tools/list in JSON, encoded once: of 50 patterns it has 170 KB, which mcp-go would compact twice for each answer.
//
//	AfterListTools ──▶ one tool in the place of all ──▶ mcp-go's answer ──▶ conn.Write or answer.Write puts the list there
//
// The answer is byte for byte what mcp-go would write.
type ToolList struct {
	tools  []mcp.Tool
	list   []byte // as an answer has it
	mark   string // the name of the tool that stands in its place
	marked []byte // that tool in an answer, as the only one of a list
}

// marks begin the names of such tools. Nobody can know them, so that no text of a tool or a client is one.
var (
	marks     = rand.Text() + "-"
	markCount atomic.Int64
)

func NewToolList(tools []mcp.Tool) (*ToolList, error) {
	list, err := json.Marshal(tools)
	if err != nil {
		return nil, err
	}
	l := &ToolList{tools: tools, list: list, mark: marks + strconv.FormatInt(markCount.Add(1), 10)}
	l.marked, err = json.Marshal([]mcp.Tool{l.standIn()})
	return l, err
}

// standIn is the tool that stands in the place of all.
func (l *ToolList) standIn() mcp.Tool {
	return mcp.Tool{Name: l.mark, RawInputSchema: json.RawMessage(`{}`)}
}

// of reports whether a list is this one.
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

// listings holds the lists in pending answers of one connection, or of one HTTP request. It is safe for concurrent use.
type listings struct {
	mu   sync.Mutex
	on   []*ToolList // one of each, however many answers
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

// whole is a message with the list in its place.
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

// listingsOf returns the listings of the transport of a request; nil if that transport does not put lists into answers.
func listingsOf(ctx context.Context) *listings {
	if c := connOf(ctx); c != nil {
		return &c.listings
	}
	if x := exchangeOf(ctx); x != nil {
		return &x.answer.listings
	}
	return nil
}

// InsertList puts a list that is already encoded into the answer to a tools/list, if the transport of the request can do
// so and the list has the same tools as the result. Otherwise the result stays as it is: mcp-go encodes it. list is
// called only where its list can be used.
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
