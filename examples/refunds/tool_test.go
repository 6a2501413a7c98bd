package main

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/httptool"
)

// A refund tool over a service that loses half of its replies, and that pays the same key again if it is asked again: what
// the tool says of each call is true, so that who looks up what is in doubt pays each refund once.
func TestToolPaysOnce(t *testing.T) {
	const refunds = 60
	url := start(t, "--ledger", filepath.Join(t.TempDir(), "ledger"), "--lose", "50", "--no-dedupe")
	client := httptool.NewClient(httptool.ClientConfig{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	t.Cleanup(func() { _ = client.Close() })
	headers := []httptool.Header{{Name: "Authorization", Text: "Bearer secret"}}
	refund, faults := httptool.New(httptool.Config{
		Name: "refund_charge", Method: "POST", URL: url + "/refunds", Headers: headers, Body: httptool.Body{Args: true},
		IdempotencyHeader: "Idempotency-Key", Success: []string{"200", "201"}, Effect: catalog.Write, Client: client,
	})
	find, more := httptool.New(httptool.Config{
		Name: "find_refund", Method: "GET", URL: url + "/refunds/{key}", Headers: headers, Effect: catalog.Read, Client: client,
		Arguments: func(name string) (string, bool) { return "string", name == "key" },
	})
	if len(faults)+len(more) > 0 {
		t.Fatal(faults, more)
	}
	lost := 0
	for i := range refunds {
		key := fmt.Sprintf("pg_%032x", i)
		_, err := refund.Do(t.Context(), catalog.Call{Key: key, Args: map[string]any{"order_id": "A-1001", "amount_cents": 4900.0, "reason": "late parcel"}})
		if err != nil {
			lost++
			if fault, ok := errors.AsType[*catalog.Fault](err); !ok || fault.Kind != catalog.NoAnswer {
				t.Fatalf("refund %d: %v, want no_answer", i, err)
			}
		}
		v, err := find.Do(t.Context(), catalog.Call{Args: map[string]any{"key": key}})
		if found, ok := v.(map[string]any); err != nil || !ok || found["status"] != "paid" || found["times"] != 1.0 {
			t.Errorf("refund %d: %v, %v; want it paid once", i, v, err)
		}
	}
	if lost == 0 || lost == refunds {
		t.Errorf("%d of %d replies were lost, want some", lost, refunds)
	}
	v, err := find.Do(t.Context(), catalog.Call{Args: map[string]any{"key": "pg_none"}})
	if absent, ok := v.(catalog.Told); err != nil || !ok || absent.Value["error"] != "not_found" {
		t.Errorf("a refund that was never asked for: %v, %v; want not_found", v, err)
	}
}
