package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const good = `{"order_id": "A-1001", "amount_cents": 4900, "reason": "late parcel"}`

// start serves over a real socket and returns the URL.
func start(t *testing.T, args ...string) string {
	t.Helper()
	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		defer in.Close()
		done <- serve(ctx, append([]string{"--addr", "127.0.0.1:0"}, args...), "secret", in, io.Discard)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v (%v)", err, <-done)
	}
	return "http://" + strings.TrimSpace(line)
}

// ask sends one request; a lost reply is code 0.
func ask(t *testing.T, method, url, key, token, body string) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.GetBody = nil // a key must not have the transport send it twice
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Idempotency-Key", key)
	reply, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return 0, nil
	}
	defer reply.Body.Close()
	var v map[string]any
	if err := json.NewDecoder(reply.Body).Decode(&v); err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return reply.StatusCode, v
}

func TestRefunds(t *testing.T) {
	url := start(t, "--ledger", filepath.Join(t.TempDir(), "ledger"))
	for name, tt := range map[string]struct {
		method, path, key, token, body string
		code                           int
	}{
		"another token":   {"POST", "/refunds", "k1", "guess", good, 401},
		"no key":          {"POST", "/refunds", "", "secret", good, 400},
		"no order":        {"POST", "/refunds", "k1", "secret", `{"order_id": "B", "amount_cents": 1, "reason": "late parcel"}`, 400},
		"unknown member":  {"POST", "/refunds", "k1", "secret", `{"order": "A-1001"}`, 400},
		"not paid":        {"GET", "/refunds/k1", "", "secret", "", 404},
		"look-up, no tok": {"GET", "/refunds/k1", "", "", "", 401},
	} {
		if code, v := ask(t, tt.method, url+tt.path, tt.key, tt.token, tt.body); code != tt.code {
			t.Errorf("%s: %d %v, want %d", name, code, v, tt.code)
		}
	}
	for i, want := range []int{201, 200} {
		if code, v := ask(t, "POST", url+"/refunds", "k1", "secret", good); code != want || v["times"] != 1.0 || v["status"] != "paid" {
			t.Errorf("refund %d: %d %v, want %d, paid once", i, code, v, want)
		}
	}
	if code, v := ask(t, "POST", url+"/refunds", "k1", "secret", strings.Replace(good, "4900", "1", 1)); code != 409 {
		t.Errorf("the same key for another amount: %d %v, want 409", code, v)
	}
	if code, v := ask(t, "GET", url+"/refunds/k1", "", "secret", ""); code != 200 || v["amount_cents"] != 4900.0 {
		t.Errorf("look-up: %d %v", code, v)
	}
}

// A refund whose reply is lost was paid; with --no-dedupe each repetition pays again, and both are in the ledger.
func TestLostReplies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	url := start(t, "--ledger", path, "--lose", "100", "--no-dedupe")
	for range 2 {
		if code, v := ask(t, "POST", url+"/refunds", "k1", "secret", good); code != 0 {
			t.Errorf("reply %d %v, want it lost", code, v)
		}
	}
	if code, v := ask(t, "GET", url+"/refunds", "", "secret", ""); code != 200 || v["refunds"].(map[string]any)["k1"] != 2.0 {
		t.Errorf("refunds: %d %v, want k1 paid twice", code, v)
	}
	text, err := os.ReadFile(path)
	if err != nil || bytes.Count(text, []byte("\n")) != 2 {
		t.Errorf("the ledger holds %q, %v, want two lines", text, err)
	}
}

// With --hold-first a refund is paid and its reply never comes; the next request with the key gets one.
func TestHoldFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	url := start(t, "--ledger", path, "--hold-first")
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", url+"/refunds", strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer secret")
	r.Header.Set("Idempotency-Key", "k1")
	replied := make(chan error, 1)
	go func() {
		reply, err := http.DefaultTransport.RoundTrip(r)
		if err == nil {
			_ = reply.Body.Close()
		}
		replied <- err
	}()
	for code := 0; code != 200; {
		code, _ = ask(t, "GET", url+"/refunds/k1", "", "secret", "")
	}
	leave()
	if err := <-replied; !errors.Is(err, context.Canceled) {
		t.Errorf("the first request ended with %v, want that it waited until it was canceled", err)
	}
	if code, v := ask(t, "POST", url+"/refunds", "k1", "secret", good); code != 200 || v["times"] != 1.0 {
		t.Errorf("the second request: %d %v, want that it was paid before", code, v)
	}
}

// Which replies are lost is picked by the seed, and some are.
func TestSomeAreLost(t *testing.T) {
	lost := func(seed string) string {
		url := start(t, "--ledger", filepath.Join(t.TempDir(), "ledger"), "--lose", "50", "--seed", seed)
		var b strings.Builder
		for i := range 16 {
			code, _ := ask(t, "POST", url+"/refunds", "k"+string(rune('a'+i)), "secret", good)
			b.WriteByte("-x"[min(code, 1)])
		}
		return b.String()
	}
	first := lost("7")
	if again := lost("7"); again != first || !strings.Contains(first, "-") || !strings.Contains(first, "x") {
		t.Errorf("with one seed %s and %s are lost, want the same, some but not all", first, again)
	}
}

// What was paid is known after a restart; half a line was not answered.
func TestRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	line := `{"key":"k1","order_id":"A-1001","amount_cents":4900,"reason":"late parcel"}` + "\n"
	if err := os.WriteFile(path, []byte(line+`{"key":"k2","or`), 0o600); err != nil {
		t.Fatal(err)
	}
	url := start(t, "--ledger", path)
	if code, v := ask(t, "POST", url+"/refunds", "k1", "secret", good); code != 200 || v["times"] != 1.0 {
		t.Errorf("k1: %d %v, want that it was paid before", code, v)
	}
	if code, v := ask(t, "POST", url+"/refunds", "k2", "secret", good); code != 201 {
		t.Errorf("k2: %d %v, want that it is paid now", code, v)
	}
	if text, err := os.ReadFile(path); err != nil || bytes.Count(text, []byte("\n")) != 2 {
		t.Errorf("the ledger holds %q, %v, want two lines", text, err)
	}
}

func TestFlags(t *testing.T) {
	for name, tt := range map[string]struct {
		args  []string
		token string
		want  string
	}{
		"no token":  {[]string{"--ledger", "x"}, "", "PAY_TOKEN"},
		"no ledger": {nil, "secret", "--ledger"},
		"lose":      {[]string{"--ledger", "x", "--lose", "101"}, "secret", "--lose 101"},
	} {
		err := serve(t.Context(), tt.args, tt.token, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}
