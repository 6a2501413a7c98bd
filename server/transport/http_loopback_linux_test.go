package transport

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"
)

// A listener that is not MCP's knows as well whose its connections are, and who dials knows who answers. All sockets are real.
func TestLoopbackForeignUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a socket of another user")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	guard := NewLoopback(10, "")
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, guard.Own(r.Context())) })}
	go func() { _ = web.Serve(guard.Attach(web, l)) }()
	t.Cleanup(func() { web.Close() })
	for user, want := range map[int]string{0: "true", 65534: "false"} {
		c := dialAs(t, user, l.Addr().String())
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := io.ReadAll(response.Body); string(got) != want {
			t.Errorf("a socket of user %d is ours: %s, want %s", user, got, want)
		}
		response.Body.Close()
	}
}

func TestSameUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a socket of another user")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for user, want := range map[int]bool{0: true, 65534: false} {
		theirs := dialAs(t, user, l.Addr().String())
		ours, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = ours.SetDeadline(time.Now().Add(deadline))
		if got := SameUser(ours); got != want {
			t.Errorf("SameUser(a socket of user %d) = %t, want %t", user, got, want)
		}
		ours.Close()
		theirs.Close()
	}
}
