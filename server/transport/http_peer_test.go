package transport

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Tables of sockets as Linux writes them on a machine of little-endian words.
const (
	socketHead = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                                                     \n"
	socketTCP  = socketHead +
		"   0: 0100007F:223D 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 34381 1 0000000000000000 100 0 0 10 0                     \n" +
		"   1: 0100007F:223D 0100007F:A001 01 00000000:00000000 00:00000000 00000000  1000        0 34390 1 0000000000000000 20 4 30 10 -1                    \n" +
		"   2: 0100007F:A001 0100007F:223D 01 00000000:00000000 00:00000000 00000000  1000        0 34389 1 0000000000000000 20 4 30 10 -1                    \n" +
		"   3: 0100007F:A002 0100007F:223D 01 00000000:00000000 00:00000000 00000000  1001        0 34391 1 0000000000000000 20 4 30 10 -1                    \n" +
		"   4: 0100007F:A003 0100007F:223D 06 00000000:00000000 03:00000B16 00000000     0        0 0 3 0000000000000000                                      \n" +
		"1234567: 0100007F:A005 0100007F:223D 08 00000000:00000000 00:00000000 00000000 10000        0 34399 1 0000000000000000 20 4 30 10 -1                    \n"
	socketTCP6 = socketHead +
		"   0: 00000000000000000000000001000000:A001 00000000000000000000000001000000:223D 01 00000000:00000000 00:00000000 00000000  1000        0 34400 1 0000000000000000 20 4 0 10 -1\n" +
		"   1: 0000000000000000FFFF00000100007F:A004 0000000000000000FFFF00000100007F:223D 02 00000000:00000000 00:00000000 00000000  1000        0 34401 1 0000000000000000 20 4 0 10 -1\n"
)

// tables is a /proc/net of a test.
func tables(t testing.TB, tcp, tcp6 string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"tcp": tcp, "tcp6": tcp6} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func littleEndian(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the sample is of a little-endian machine")
	}
}

// A connection is the user's own if the row of its other end says so; whatever is not clear is foreign.
func TestPeers(t *testing.T) {
	littleEndian(t)
	dir := tables(t, socketTCP, socketTCP6)
	for name, tt := range map[string]struct {
		uid    int
		remote string
		local  string
		want   bool
	}{
		"own":                        {1000, "127.0.0.1:40961", "127.0.0.1:8765", true},
		"own, as mapped":             {1000, "[::ffff:127.0.0.1]:40961", "[::ffff:127.0.0.1]:8765", true},
		"own of IPv6":                {1000, "[::1]:40961", "[::1]:8765", true},
		"a socket of IPv6 with IPv4": {1000, "127.0.0.1:40964", "127.0.0.1:8765", true},
		"another user's":             {1000, "127.0.0.1:40962", "127.0.0.1:8765", false},
		"nobody holds it any more":   {0, "127.0.0.1:40963", "127.0.0.1:8765", false},
		"root is another user":       {1000, "127.0.0.1:40963", "127.0.0.1:8765", false},
		"a number that begins alike": {1000, "127.0.0.1:40965", "127.0.0.1:8765", false},
		"not there":                  {1000, "127.0.0.1:40970", "127.0.0.1:8765", false},
		"another port of ours":       {1000, "127.0.0.1:40961", "127.0.0.1:8766", false},
		"our own end of it":          {1000, "127.0.0.1:8765", "127.0.0.1:40962", false},
		"no address":                 {1000, "0.0.0.0:0", "0.0.0.0:0", false},
	} {
		p := &peers{uid: fmt.Sprint(tt.uid), dir: dir}
		if got := p.own(netip.MustParseAddrPort(tt.remote), netip.MustParseAddrPort(tt.local)); got != tt.want {
			t.Errorf("%s: own(%s, %s) = %v", name, tt.remote, tt.local, got)
		}
	}
	if (&peers{uid: "1000", dir: dir}).own(netip.AddrPort{}, netip.AddrPort{}) {
		t.Error("no address at all is taken for the user's own")
	}
}

// What cannot be read lets nobody in.
func TestPeersUnreadable(t *testing.T) {
	littleEndian(t)
	remote, local := netip.MustParseAddrPort("127.0.0.1:40961"), netip.MustParseAddrPort("127.0.0.1:8765")
	for name, dir := range map[string]string{
		"no directory": "/nonexistent", "empty": tables(t, "", ""), "heading alone": tables(t, socketHead, socketHead),
		"a row cut":   tables(t, socketHead+"   2: 0100007F:A001 0100007F:223D 01 00000000:00000000 00:0000", ""),
		"no columns":  tables(t, socketHead+strings.Repeat("x", 300)+"\n", ""),
		"a long line": tables(t, socketHead+strings.Repeat(" ", 100_000)+"\n"+socketTCP[len(socketHead):], ""),
		"few columns": tables(t, socketHead+"   2: 0100007F:A001 0100007F:223D 01\n", socketHead),
	} {
		if (&peers{uid: "1000", dir: dir}).own(remote, local) {
			t.Errorf("%s: somebody is let in", name)
		}
	}
}

// A look answers for all that wait, so many connections at once cost few looks.
func TestPeersLookTogether(t *testing.T) {
	if !canCheckPeers {
		t.Skip("this system has no table of sockets")
	}
	var rows strings.Builder
	rows.WriteString(socketHead)
	local := netip.MustParseAddrPort("127.0.0.1:8765")
	for port := range 20_000 {
		remote := netip.AddrPortFrom(local.Addr(), uint16(20_000+port))
		fmt.Fprintf(&rows, "%4d: %s 01 00000000:00000000 00:00000000 00000000  1000        0 %d 1\n", port, socketRows(remote, local)[0], port+1)
	}
	p := &peers{uid: "1000", dir: tables(t, rows.String(), socketHead), looking: true} // nobody looks yet
	var all sync.WaitGroup
	var foreign atomic.Int64
	const n = 1000
	for port := range n {
		all.Go(func() {
			if !p.own(netip.AddrPortFrom(local.Addr(), uint16(20_000+port)), local) {
				foreign.Add(1)
			}
		})
	}
	var batch []*peerQuery
	eventually(t, "all wait", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		batch = p.waiting
		return len(batch) == n
	})
	if again := p.answer(batch); len(again) > 0 {
		t.Errorf("after one look %d of %d wait for another", len(again), n)
	}
	all.Wait()
	if n := foreign.Load(); n > 0 {
		t.Errorf("%d connections of the user's own are foreign", n)
	}
}

// No table of sockets brings the reader down, and rows are told as they stand in it.
func FuzzSockets(f *testing.F) {
	f.Add([]byte(socketTCP))
	f.Add([]byte(socketTCP6))
	f.Add([]byte(socketHead + "0: a b\n"))
	f.Fuzz(func(t *testing.T, table []byte) {
		_ = readSockets(bytes.NewReader(table), func(row, fields []byte) {
			if bytes.Count(row, []byte(" ")) != 1 || !bytes.Contains(table, row) || len(fields) == 0 || fields[0] != ' ' {
				t.Errorf("%q: a row %q with fields %q", table, row, fields)
			}
			ownerOf(fields)
		})
	})
}

// BenchmarkPeers measures one look at this machine's sockets.
func BenchmarkPeers(b *testing.B) {
	p := newPeers(os.Getuid())
	for b.Loop() {
		p.own(netip.MustParseAddrPort("127.0.0.1:1"), netip.MustParseAddrPort("127.0.0.1:2"))
	}
}
