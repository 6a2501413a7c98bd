package ledger_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/catalog/demo/ledger"
)

// serve serves the ledger of a file until stop is called.
func serve(t *testing.T, path string, set func(*ledger.Ledger)) (c ledger.Client, stop func()) {
	t.Helper()
	l, err := ledger.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if set != nil {
		set(l)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- l.Serve(ctx, listener) }()
	stop = func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
	return ledger.Client{Address: listener.Addr().String(), Book: "b"}, stop
}

func entry(tool, key string, repeatable bool) demo.Entry {
	return demo.Entry{
		Tool: tool, Effect: catalog.Write, Key: key, Repeatable: repeatable, Args: map[string]any{"amount_usd": 49.0, "a": "b"},
		Result: map[string]any{"status": "ok"},
	}
}

func enter(t *testing.T, c ledger.Client, e demo.Entry) {
	t.Helper()
	if err := c.Enter(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, c ledger.Client) []ledger.Entry {
	t.Helper()
	entries, err := c.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// Each arrival is counted, in order, and survives the ledger's own end, even in the middle of a line.
func TestEntriesSurvive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	c, stop := serve(t, path, nil)
	other := c
	other.Book = "other"
	enter(t, c, entry("pay", "k1", false))
	enter(t, other, entry("pay", "k9", false))
	enter(t, c, entry("pay", "k1", false))
	before := list(t, c)
	stop()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"book":"b","tool":"half`)
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	c, stop = serve(t, path, nil)
	defer stop()
	enter(t, c, entry("mail", "k2", true))
	after := list(t, c)
	want := ledger.Entry{Book: "b", Tool: "pay", Effect: "write", Key: "k1", Args: []byte(`{"a":"b","amount_usd":49}`), Result: []byte(`{"status":"ok"}`)}
	mail := want
	mail.Tool, mail.Key, mail.Repeatable = "mail", "k2", true
	if diff := cmp.Diff([]ledger.Entry{want, want}, before); diff != "" {
		t.Errorf("before its end (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]ledger.Entry{want, want, mail}, after); diff != "" {
		t.Errorf("after its end (-want +got):\n%s", diff)
	}
}

// A world that knows keys does an act once for each of them; another does it as often as it is asked.
func TestActs(t *testing.T) {
	pay := func(key string, repeatable bool) ledger.Entry {
		return ledger.Entry{Book: "b", Tool: "pay", Effect: "write", Key: key, Repeatable: repeatable, Args: []byte("{}")}
	}
	read := pay("k", true)
	read.Effect = "read"
	for name, c := range map[string]struct {
		entries []ledger.Entry
		want    int
	}{
		"nothing":                {nil, 0},
		"one key twice":          {[]ledger.Entry{pay("k", true), pay("k", true)}, 1},
		"two keys":               {[]ledger.Entry{pay("k", true), pay("l", true)}, 2},
		"one key twice, no keys": {[]ledger.Entry{pay("k", false), pay("k", false)}, 2},
		"reads change nothing":   {[]ledger.Entry{read, read}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ledger.Acts(c.entries)["pay {}"]; got != c.want {
				t.Errorf("%d acts, want %d", got, c.want)
			}
		})
	}
}

// What is held was done, and is never answered; others are served meanwhile, and the same tool the next time.
func TestHold(t *testing.T) {
	held := make(chan ledger.Entry, 1)
	c, stop := serve(t, filepath.Join(t.TempDir(), "ledger"), func(l *ledger.Ledger) {
		l.Hold, l.Held = "pay", func(e ledger.Entry) { held <- e }
	})
	defer stop()
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error, 1)
	go func() { answered <- c.Enter(ctx, entry("pay", "k", true)) }()
	if e := <-held; e.Key != "k" {
		t.Errorf("held %+v, want key k", e)
	}
	if n := len(list(t, c)); n != 1 {
		t.Errorf("%d entries while one is held, want it", n)
	}
	enter(t, c, entry("pay", "k", true))
	cancel()
	if err := <-answered; err == nil {
		t.Error("the held entry was answered")
	}
}

// What is no request changes nothing and is told so.
func TestBadRequests(t *testing.T) {
	c, stop := serve(t, filepath.Join(t.TempDir(), "ledger"), nil)
	defer stop()
	nowhere := c
	nowhere.Book = "a/b"
	if err := nowhere.Enter(t.Context(), entry("pay", "k", true)); err == nil {
		t.Error("a book named a/b was taken")
	}
	conn, err := net.Dial("tcp", c.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answer := make([]byte, 100)
	if _, err := conn.Write([]byte("pay me\n")); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(answer); err != nil || n == 0 {
		t.Errorf("no answer to what is no JSON: %v", err)
	}
	if entries := list(t, c); len(entries) > 0 {
		t.Errorf("entered %v", entries)
	}
	for _, address := range []string{"", "127.0.0.1:1", "127.0.0.1/b", "127.0.0.1:1/", "127.0.0.1:1/a/b", "127.0.0.1:1/a?b", "127.0.0.1:1/a?"} {
		if c, err := ledger.Parse(address); err == nil {
			t.Errorf("Parse(%q) is %v, want an error", address, c)
		}
	}
	for _, address := range []string{"127.0.0.1:1/b", "[::1]:80/prove-3?plain", "127.0.0.1:1/b?asked"} {
		if c, err := ledger.Parse(address); err != nil || c.String() != address {
			t.Errorf("Parse(%q) is %v, %v", address, c, err)
		}
	}
}

// A file that is no ledger is refused, and stays as it is.
func TestNotALedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	if err := os.WriteFile(path, []byte("hello\nworld"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := ledger.Open(path)
	if text, _ := os.ReadFile(path); err == nil || string(text) != "hello\nworld" {
		t.Errorf("Open: %v; the file now holds %q", err, text)
	}
}
