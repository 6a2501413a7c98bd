package demo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/catalog/demo"
)

// toolOf is one tool of a world that is configured so.
func toolOf(t *testing.T, cfg demo.Config, name string) catalog.Tool {
	t.Helper()
	tools, err := demo.Tools(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("no tool %s", name)
	return catalog.Tool{}
}

// What happened is in the ledger with its key, its arguments and what was answered; what did not happen is not there.
func TestEffectsAreEntered(t *testing.T) {
	refund := map[string]any{"user_id": 42.0, "amount_usd": 49.0}
	for name, c := range map[string]struct {
		tool  string
		plain bool
		call  catalog.Call
		want  *demo.Entry // nil: none
	}{
		"a payment":       {"issue_refund", false, catalog.Call{Args: refund, Key: "k"}, &demo.Entry{Effect: catalog.Write, Repeatable: true}},
		"without keys":    {"issue_refund", true, catalog.Call{Args: refund, Key: "k"}, &demo.Entry{Effect: catalog.Write}},
		"a read":          {"get_refund_context", true, catalog.Call{Args: map[string]any{"user_id": 42.0}, Key: "r"}, &demo.Entry{Effect: catalog.Read, Repeatable: true}},
		"a refused one":   {"issue_refund", false, catalog.Call{Args: map[string]any{"user_id": 42.0, "amount_usd": 5000.0}, Key: "k"}, nil},
		"one without key": {"issue_refund", false, catalog.Call{Args: refund}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var entered []demo.Entry
			tool := toolOf(t, demo.Config{Plain: c.plain, Ledger: func(_ context.Context, e demo.Entry) error {
				entered = append(entered, e)
				return nil
			}}, c.tool)
			result, err := tool.Do(t.Context(), c.call)
			var want []demo.Entry
			if c.want != nil {
				c.want.Tool, c.want.Key, c.want.Args, c.want.Result = c.tool, c.call.Key, c.call.Args, result
				want = []demo.Entry{*c.want}
			}
			if diff := cmp.Diff(want, entered); diff != "" || (c.call.Key == "") != (err != nil) {
				t.Errorf("%s enters (-want +got), %v:\n%s", c.tool, err, diff)
			}
			if tool.Repeatable() != (!c.plain || tool.Effect == catalog.Read) {
				t.Errorf("%s of a plain world (%v) is declared repeatable: %v", c.tool, c.plain, tool.Repeatable())
			}
		})
	}
}

// An effect that could not be entered is not answered as done.
func TestALedgerThatFails(t *testing.T) {
	broken := errors.New("no ledger")
	tool := toolOf(t, demo.Config{Ledger: func(context.Context, demo.Entry) error { return broken }}, "issue_refund")
	_, err := tool.Do(t.Context(), catalog.Call{Args: map[string]any{"user_id": 42.0, "amount_usd": 49.0}, Key: "k"})
	if !errors.Is(err, broken) {
		t.Errorf("a call whose ledger fails gives %v, want %v", err, broken)
	}
}

// Without a ledger nothing differs, also when configurations are compared.
func TestNoLedger(t *testing.T) {
	if tool := toolOf(t, demo.Config{}, "issue_refund"); !tool.Idempotent {
		t.Error("the demo's payments know idempotency keys, and say so")
	}
}

// A look-up returns what the call had returned, or says that there was none; it is no effect itself.
func TestLookUps(t *testing.T) {
	var entered []demo.Entry
	cfg := demo.Config{Plain: true, Ledger: func(_ context.Context, e demo.Entry) error {
		entered = append(entered, e)
		return nil
	}, Look: func(_ context.Context, key string) (demo.Entry, bool, error) {
		for _, e := range entered {
			if e.Key == key {
				return e, true, nil
			}
		}
		return demo.Entry{}, false, nil
	}}
	for name, args := range map[string]map[string]any{
		"issue_refund":      {"user_id": 42.0, "amount_usd": 49.0},
		"send_refund_email": {"user_id": 42.0, "amount_usd": 49.0, "message": "Hello"},
	} {
		t.Run(name, func(t *testing.T) {
			entered = nil
			tool := toolOf(t, cfg, name)
			look := toolOf(t, cfg, tool.Reconcile.Tool)
			for _, done := range []bool{false, true} {
				var want any
				if done {
					var err error
					if want, err = tool.Do(t.Context(), catalog.Call{Args: args, Key: "k"}); err != nil {
						t.Fatal(err)
					}
				}
				doubt := catalog.Doubt{Key: "k", Tool: name, Args: args}
				asked, err := tool.Reconcile.Args(doubt)
				if err != nil {
					t.Fatal(err)
				}
				got, err := look.Do(t.Context(), catalog.Call{Args: asked, Key: "other"})
				happened, known := tool.Reconcile.Happened(doubt, got)
				if err != nil || happened != done || !known || len(tool.Output.Check(got)) > 0 {
					t.Errorf("done %v: the look-up finds %v, %v: happened %v, known %v", done, got, err, happened, known)
				}
				if diff := cmp.Diff(want, got); done && diff != "" {
					t.Errorf("the look-up of what was done (-want +got):\n%s", diff)
				}
			}
			if len(entered) != 1 {
				t.Errorf("%d entries, want the call alone", len(entered))
			}
		})
	}
	if happened, known := toolOf(t, cfg, "issue_refund").Reconcile.Happened(catalog.Doubt{}, "?"); happened || known {
		t.Error("an observation that is no answer tells something")
	}
	if toolOf(t, demo.Config{}, "issue_refund").Reconcile != nil {
		t.Error("the demo's own payments declare a look-up that nobody can answer")
	}
}
