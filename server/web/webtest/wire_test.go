package webtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// browser is the other end of a wire: it answers each call by its method.
func browser(t *testing.T, answer func(message) []message) *wire {
	t.Helper()
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	w := newWire(in)
	go w.read(out)
	go func() {
		for r := bufio.NewReader(theirIn); ; {
			doc, err := r.ReadBytes(0)
			if err != nil {
				return
			}
			var m message
			if err := json.Unmarshal(doc[:len(doc)-1], &m); err != nil {
				t.Errorf("the wire said %q: %v", doc, err)
				return
			}
			said := answer(m)
			if said == nil {
				_ = theirOut.Close()
				return
			}
			for _, m := range said {
				doc, _ := json.Marshal(m)
				_, _ = theirOut.Write(append(doc, 0))
			}
		}
	}()
	t.Cleanup(func() { _ = in.Close(); _ = theirOut.Close() })
	return w
}

func TestWire(t *testing.T) {
	w := browser(t, func(m message) []message {
		switch m.Method {
		case "Page.refused":
			return []message{{ID: m.ID, Error: &refusal{"no such thing", "here"}}}
		case "Page.late":
			return []message{{ID: 9999, Result: json.RawMessage(`{}`)}}
		case "Browser.crash":
			return nil
		}
		return []message{
			{Method: "Page.happened", Session: m.Session, Params: m.Params}, {Method: "Page.elsewhere", Session: "other"},
			{ID: m.ID, Session: m.Session, Result: m.Params},
		}
	})
	var events []string
	w.hear("s1", func(m message) { events = append(events, m.Method+string(m.Params)) })
	var got struct{ Word string }
	if err := w.call(t.Context(), "s1", "Page.echo", object{"word": "hi"}, &got); err != nil || got.Word != "hi" {
		t.Errorf("call = %q, %v, want hi", got.Word, err)
	}
	if len(events) != 1 || events[0] != `Page.happened{"word":"hi"}` {
		t.Errorf("heard %q, want the session's one event", events)
	}
	var r *refusal
	if err := w.call(t.Context(), "s1", "Page.refused", object{}, nil); !errors.As(err, &r) || err.Error() != "Page.refused: no such thing here" {
		t.Errorf("call = %v, want a refusal", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.call(ended, "s1", "Page.late", object{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("call = %v, want %v", err, context.Canceled)
	}
	for range 2 { // the second finds it gone
		if err := w.call(t.Context(), "", "Browser.crash", object{}, nil); err == nil || !strings.Contains(err.Error(), errGone.Error()) {
			t.Errorf("call = %v, want %v", err, errGone)
		}
	}
}

func TestWireOfNonsense(t *testing.T) {
	w := newWire(io.Discard)
	w.read(strings.NewReader("no json\x00"))
	if err := w.call(t.Context(), "", "Page.enable", object{}, nil); err == nil || !strings.Contains(err.Error(), `said "no json`) {
		t.Errorf("call = %v, want what was said", err)
	}
}
