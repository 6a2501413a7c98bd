package httptool

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"testing"
)

// Whether a request was written is told from the bytes after it got its connection, over TLS too; a connection that does
// not count may have carried it.
func TestDelivery(t *testing.T) {
	type step func(d *delivery)
	connection := func() *countedConn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _ = ours.Close() })
		go func() {
			for buffer := make([]byte, 16); ; {
				if _, err := theirs.Read(buffer); err != nil {
					return
				}
			}
		}()
		return &countedConn{Conn: ours}
	}
	write := func(c net.Conn) { _, _ = c.Write([]byte("GET")) }
	got := func(c net.Conn) step {
		return func(d *delivery) { d.trace().GotConn(httptrace.GotConnInfo{Conn: c}) }
	}
	used, fresh, secure := connection(), connection(), connection()
	write(used)
	for name, tt := range map[string]struct {
		steps []step
		want  bool
	}{
		"no connection":          {nil, false},
		"one that carried other": {[]step{got(used)}, false},
		"written on it":          {[]step{got(used), func(*delivery) { write(used) }}, true},
		"written on the first":   {[]step{got(used), func(*delivery) { write(used) }, got(fresh)}, true},
		"written on none of two": {[]step{got(used), got(fresh)}, false},
		"over TLS":               {[]step{got(tls.Client(secure, nil)), func(*delivery) { write(secure) }}, true},
		"over TLS, nothing":      {[]step{got(tls.Client(used, nil))}, false},
		"a connection of others": {[]step{got(used.Conn)}, true},
	} {
		var d delivery
		for _, do := range tt.steps {
			do(&d)
		}
		if d.happened() != tt.want {
			t.Errorf("%s: written %v, want %v", name, d.happened(), tt.want)
		}
	}
}
