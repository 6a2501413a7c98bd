package describe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/server/envelope"
)

// broken is a host that keeps the cause of the last fault.
type broken struct{ cause error }

func (b *broken) Principal(context.Context) string     { return "local:0" }
func (b *broken) ReadsStructured(context.Context) bool { return false }
func (b *broken) SwitchedOff(context.Context) string   { return "" }
func (b *broken) Show(context.Context, envelope.Envelope) (*mcp.CallToolResult, error) {
	return nil, errors.New("nothing is refused here")
}
func (b *broken) Fault(_ context.Context, cause error) error {
	b.cause = cause
	return errors.New("internal fault")
}

// TestFault holds that a panic becomes a fault of the host.
func TestFault(t *testing.T) {
	t.Parallel()
	host := &broken{}
	d, err := New(Config{Host: host, ResultBytes: 4096, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	d.directory = func() *directory { panic("no directory") }
	answer, err := d.Handle(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{RawArguments: json.RawMessage(`{}`)}})
	if answer != nil || err == nil || err.Error() != "internal fault" || !strings.Contains(fmt.Sprint(host.cause), "panic: no directory") {
		t.Errorf("%v, %v; the cause is %v", answer, err, host.cause)
	}
}

// TestPagesAreBounded holds that kept answers take little memory, whoever asks.
func TestPagesAreBounded(t *testing.T) {
	t.Parallel()
	var p pages
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 200 {
				asked := question{fmt.Sprint("token:", n), fmt.Sprintf(`{"query":"x%d"}`, i), false}
				text := strings.Repeat("x", 3000)
				for _, answer := range []*mcp.CallToolResult{p.keep(asked, json.RawMessage(`{}`), text), p.get(asked)} {
					if answer != nil && string(answer.RawStructuredContent) != `{}` {
						t.Errorf("%v is answered by %s", asked, answer.RawStructuredContent)
					}
				}
			}
		})
	}
	all.Wait()
	p.keep(question{arguments: strings.Repeat(" ", maxKeptQuestion+1)}, json.RawMessage(`{}`), "")
	sum := 0
	for asked, kept := range p.kept {
		sum += len(asked.arguments) + len(kept.RawStructuredContent)
		if len(asked.arguments) > maxKeptQuestion {
			t.Errorf("arguments of %d bytes are kept", len(asked.arguments))
		}
	}
	if p.bytes > maxKept || sum > maxKept || len(p.kept) == 0 {
		t.Errorf("%d pages are kept, %d bytes by its own count, %d at least", len(p.kept), p.bytes, sum)
	}
}
