package local_test

import (
	"context"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// perCustomer lets each customer be paid once a day; a payment that names none is nobody's.
type perCustomer struct{}

func (perCustomer) Windows(string) []gateway.Window {
	return []gateway.Window{{Name: "p.day", Tools: []string{"pay"}, Since: func(now time.Time) time.Time { return now.Add(-24 * time.Hour) }}}
}

func (perCustomer) Review(c gateway.Case) gateway.Verdict {
	seen, there := c.Windows["p.day"]
	if !there || seen.Err != nil {
		return gateway.Verdict{Reason: "policy_error:per_customer", Rule: "per_customer"}
	}
	for _, e := range seen.Effects {
		if who, _ := e.Args["customer"].(string); e.Counts() && who == c.Args["customer"] {
			return gateway.Verdict{Reason: "per_customer", Rule: "per_customer"}
		}
	}
	return gateway.Verdict{Decision: gateway.Approve, Reason: "ok"}
}

// Who calls cannot have a cap overlook a call: an argument that is hidden in the record only as it is equal to one that redact
// names, or looks like what stands there for one, blocks what looks at it. One that redact names is absent.
func TestHiddenByEqualityBlocks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		note, more any
		want       string
	}{
		"named":          {"late parcel", nil, "policy_block:per_customer"},
		"equal":          {"cust_42", nil, "policy_block:policy_error:per_customer"},
		"held":           {"ust_4", nil, "policy_block:policy_error:per_customer"},
		"like what is":   {"late parcel", object{patterns.Redacted: "sha256:00"}, "policy_block:policy_error:per_customer"},
		"whole and deep": {object{"a": []any{"late parcel"}}, object{"b": 1.0}, "policy_block:per_customer"},
	} {
		t.Run(name, func(t *testing.T) {
			schema, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"customer":{"type":"string"},"note":{},"more":{}}}`))
			if err != nil {
				t.Fatal(err)
			}
			tools, err := catalog.New(catalog.Tool{Name: "pay", Effect: catalog.Write, Input: schema, Do: func(context.Context, catalog.Call) (any, error) {
				return object{"ok": true}, nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			args := object{"customer": "cust_42", "note": tt.note}
			if tt.more != nil {
				args["more"] = tt.more
			}
			job := patterns.Job{Caller: patterns.Caller{Principal: mine}, Model: &script{}, Redact: []string{"/args/note"}, Task: patterns.Task{Args: args}, Spec: patterns.Spec{
				Name: "pay_one", Kind: gateway.Call, Tool: "pay", Catalog: tools, Policy: []string{"pay"}, Execution: []string{"pay"},
				Budget: gateway.DefaultBudget(gateway.Call), Reviewer: perCustomer{},
			}}
			e := redacting(t, newState(t), jobs{"pay_one": job}, job.Redact)
			for i, want := range []string{patterns.Success, tt.want} {
				if ended, err := e.Start(t.Context(), job); err != nil || ended.Result.StopReason != want {
					t.Errorf("payment %d: %v, %s; want %s", i+1, err, ended.Result.StopReason, want)
				}
			}
		})
	}
}
