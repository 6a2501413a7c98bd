//go:build unix

package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/catalog/resilience"
	"patterngate/catalog/upstream"
)

// What keeps one tool from being called says nothing of its server: the server's other tools go on, although the breaker counts
// failures of the server. Also not where a secret was hidden in the words.
func TestServerFaultIsOurs(t *testing.T) {
	const key = "p4ssw0rd-of-the-test"
	held := fmt.Errorf("held: %w", ours{"it says " + key})
	s := keep(t, "plain", upstream.ServerConfig{Admit: func(d upstream.Definition) error {
		if d.Tool() == "pid" {
			return held
		}
		return nil
	}})
	missing := map[string]catalog.Secret{"x": &secret{err: errors.New("gone")}}
	known := map[string]catalog.Secret{"x": &secret{texts: []string{key}}}
	if _, err := s.Call(within(t, long), "echo", nil, known); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		tool    string
		args    map[string]any
		secrets map[string]catalog.Secret
		want    string
	}{
		"no such tool":           {"absent", nil, nil, "has no tool"},
		"no such tool, hidden":   {key, nil, nil, `has no tool "***"`},
		"no secret":              {"echo", nil, missing, "argument x: gone"},
		"too large":              {"echo", map[string]any{"s": strings.Repeat("x", upstream.MaxSend)}, nil, "too large to be sent"},
		"held, its words hidden": {"pid", nil, nil, "it says ***"},
	} {
		g := resilience.New(resilience.Config{Failures: 1, Open: time.Hour})
		_, err := g.Wrap(func(ctx context.Context, _ catalog.Call) (any, error) {
			return s.Call(ctx, tt.tool, tt.args, tt.secrets)
		}, resilience.Rate{})(within(t, long), catalog.Call{})
		if wantFault(t, err, catalog.NotSent, false); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if open, _ := g.Open(); open {
			t.Errorf("%s opened the server's breaker", name)
		}
	}
}

// ours is a fault that lies here.
type ours struct{ text string }

func (o ours) Error() string { return o.text }
func (ours) Local() bool     { return true }
