package inbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/server/settings"
)

// neighbour is the page of another state file's Patterngate; the ports behind it are free.
func neighbour(t *testing.T) (address string) {
	t.Helper()
	for range 100 {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"patterngate":"1","state":"`+otherState+`"}`)
		}))
		address = s.Listener.Addr().String()
		if list := pageAddresses(address); len(list) > 3 {
			t.Cleanup(s.Close)
			return address
		}
		s.Close()
	}
	t.Fatal("no port has ports behind it")
	return ""
}

// Where the page of another state file has the port, the page is at the next free one, and is named there: by the server that
// serves it, by another one over the same state, and by what serves none.
func TestInboxGoesToTheNextFreePort(t *testing.T) {
	taken := neighbour(t)
	d := &stateDesk{changes: make(chan struct{}, 1)}
	first := watch(t, d, taken)
	first.Asked(patterns.Asked{})
	url := first.URL()
	if url == "" || url == "http://"+taken || !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Fatalf("URL() = %q; %s is another state's", url, taken)
	}
	first.says("WARN inbox at the next free port url=" + url + "/ because=" + taken + " is the approval page of a Patterngate with another state file")
	at := strings.TrimPrefix(url, "http://")
	if got := whoHolds(t.Context(), at, testState); got != heldBySame {
		t.Errorf("%s is held by %d", at, got)
	}
	d.wait(1)
	second := watch(t, d, taken)
	second.says("INFO inbox is served by another process url=" + url + "/")
	if got := second.URL(); got != url {
		t.Errorf("another server over the state names %q, want %q", got, url)
	}
	if got, idle := At(t.Context(), taken, d.StateID); got != url || idle {
		t.Errorf("a command names %q (idle %v), want %q", got, idle, url)
	}
}

// No page is named that is another's: before it is known whose it is, where it cannot be had, and by commands.
func TestNoPageOfAnotherIsNamed(t *testing.T) {
	stranger := httptest.NewServer(http.NotFoundHandler())
	defer stranger.Close()
	address := strings.TrimPrefix(stranger.URL, "http://")
	d := &stateDesk{changes: make(chan struct{}, 1)}
	i := watch(t, d, address)
	if got := i.URL(); got != "" { // nothing was asked yet
		t.Errorf("URL() = %q, before anything is known of it", got)
	}
	if got, _ := At(t.Context(), address, d.StateID); got != "" {
		t.Errorf("a command names the page of a stranger: %q", got)
	}
	if got, _ := At(t.Context(), settings.InboxOff, d.StateID); got != "" {
		t.Errorf("a page that is off is at %q", got)
	}
	if got, _ := At(t.Context(), address, func() (string, error) { return "", errors.New("unread") }); got != "" {
		t.Errorf("a page of a state that cannot be read is at %q", got)
	}
	free := freeAddress(t)
	if got, idle := At(t.Context(), free, d.StateID); got != "http://"+free || !idle {
		t.Errorf("the page that `patterngate inbox` would serve is at %q (idle %v), want %s, idle", got, idle, free)
	}
}

func TestPageAddresses(t *testing.T) {
	for address, want := range map[string]struct {
		n    int
		last string
	}{
		"127.0.0.1:8766": {pagePorts, "127.0.0.1:8781"}, "127.0.0.1:0": {1, "127.0.0.1:0"}, "[::1]:65534": {2, "[::1]:65535"}, "localhost:x": {1, "localhost:x"},
	} {
		if got := pageAddresses(address); len(got) != want.n || got[0] != address || got[len(got)-1] != want.last {
			t.Errorf("pageAddresses(%s) = %q", address, got)
		}
	}
}

// A search for a place ends with its context, and listens at no address that is not loopback.
func TestFindPageEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, address := range []string{neighbour(t), "0.0.0.0:0"} {
		if p := findPage(ctx, address, testState); p.listener != nil {
			t.Errorf("%s is listened at", address)
			_ = p.listener.Close()
		}
	}
}

// A link is opened without a shell, and on a system that does not tell whose a connection is not by arguments that others
// can read.
func TestBrowserCommand(t *testing.T) {
	const link = "http://127.0.0.1:8766/sign-in/token"
	for goos, want := range map[string]string{
		"linux": `["xdg-open" "` + link + `"] ""`, "darwin": `["osascript" "-"] "open location \"` + link + `\"\n"`,
		"windows": `["rundll32" "url.dll,FileProtocolHandler" "` + link + `"] ""`,
	} {
		argv, stdin := browserCommand(goos, link)
		if got := fmt.Sprintf("%q %q", argv, stdin); got != want {
			t.Errorf("%s: %s, want %s", goos, got, want)
		}
	}
}
