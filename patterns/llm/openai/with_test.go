package openai

import (
	"math"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
)

// A pattern's own model and temperature cost no connection of their own, and change nothing for the others.
func TestWithSharesConnections(t *testing.T) {
	m, server := model(t, func(c *Config) { c.Temperature = 0.25 }, llmtest.Content("a"), llmtest.Content("b"), llmtest.Content("c"), llmtest.Content("d"))
	other, err := m.With("other-model", 1.5)
	if err != nil {
		t.Fatal(err)
	}
	cold, err := m.With("", 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		m           *Client
		name        string
		temperature float64
	}{{m, "test-model", 0.25}, {other, "other-model", 1.5}, {cold, "test-model", 0}, {m, "test-model", 0.25}}
	for _, w := range want {
		if _, err := w.m.Ask(t.Context(), question(patterns.AskSubtasks, `{}`)); err != nil {
			t.Fatal(err)
		}
	}
	asked := server.Requests()
	for i, w := range want {
		r := asked[i]
		temperature, sent := r.Temperature()
		if r.Model() != w.name || w.m.Name() != w.name || !sent || temperature != w.temperature {
			t.Errorf("request %d: model %s, temperature %v (%v), want %s, %v", i, r.Model(), temperature, sent, w.name, w.temperature)
		}
		if r.From != asked[0].From || r.Header.Get("Authorization") != "Bearer "+testKey {
			t.Errorf("request %d came from %s with %q, the first from %s", i, r.From, r.Header.Get("Authorization"), asked[0].From)
		}
	}
}

func TestWithRefuses(t *testing.T) {
	m, _ := model(t, nil)
	for name, tt := range map[string]struct {
		model       string
		temperature float64
		want        []string
	}{
		"too warm":  {"", 2.1, []string{"temperature: got 2.1; want 0 to 2"}},
		"too cold":  {"m", -0.1, []string{"temperature: got -0.1"}},
		"no number": {"m", math.NaN(), []string{"temperature: got NaN"}},
		"both":      {" \t", 3, []string{"model: missing", "temperature: got 3"}},
	} {
		got, err := m.With(tt.model, tt.temperature)
		if err == nil || got != nil {
			t.Errorf("%s: With(%q, %v) = %v, %v; want an error", name, tt.model, tt.temperature, got, err)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: With(%q, %v): error %q does not say %q", name, tt.model, tt.temperature, err, part)
			}
		}
	}
}
