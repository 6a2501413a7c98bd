package transport

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// canCheckPeers reports whether this system tells which OS user a loopback connection comes from.
const canCheckPeers = runtime.GOOS == "linux"

// peers decides whether a loopback connection comes from a socket of one OS user. Linux lists all sockets with their
// owners in /proc/net/tcp and /proc/net/tcp6 (proc_net_tcp.rst of its documentation). Reading them takes milliseconds,
// so one look answers for all connections that wait. A socket that is missing or cannot be read belongs to somebody
// else. It is safe for concurrent use.
type peers struct {
	uid string // decimal, as in the table
	dir string // /proc/net

	mu      sync.Mutex
	waiting []*peerQuery
	looking bool
}

// peerQuery is one connection whose other end is being looked up.
type peerQuery struct {
	rows    []string // how its row begins, in tcp and in tcp6
	seen    int      // how often it was seen as the user's own
	missed  int      // how often it was missing
	verdict chan bool
}

func newPeers(uid int) *peers { return &peers{uid: fmt.Sprint(uid), dir: "/proc/net"} }

const (
	// maxMissed is after how many looks a missing socket counts as foreign. Rows move while the table is read, so one
	// look can miss a row.
	maxMissed = 3
	// maxSocketRows limits the rows of one look. A look at that many takes about a second.
	maxSocketRows = 1 << 20
)

// sure returns how often a socket must be seen. A socket that its process has just closed belongs to root for a moment,
// so root needs two looks.
func (p *peers) sure() int {
	if p.uid == "0" {
		return 2
	}
	return 1
}

// own reports whether the socket at remote, which is connected to local, belongs to the user.
func (p *peers) own(remote, local netip.AddrPort) bool {
	q := &peerQuery{rows: socketRows(remote, local), verdict: make(chan bool, 1)}
	p.mu.Lock()
	p.waiting = append(p.waiting, q)
	if !p.looking {
		p.looking = true
		go p.look()
	}
	p.mu.Unlock()
	return <-q.verdict
}

// look answers queries until there are none.
func (p *peers) look() {
	var again []*peerQuery
	for {
		p.mu.Lock()
		batch := append(again, p.waiting...)
		p.waiting = nil
		if len(batch) == 0 {
			p.looking = false
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		again = p.answer(batch)
	}
}

// answer takes one look and returns the queries that need another.
func (p *peers) answer(batch []*peerQuery) (again []*peerQuery) {
	wanted := map[string]*peerQuery{}
	for _, q := range batch {
		for _, row := range q.rows {
			wanted[row] = q
		}
	}
	owners := map[*peerQuery]bool{}
	for _, file := range []string{"tcp", "tcp6"} {
		if len(owners) == len(batch) {
			break
		}
		if p.read(file, func(row, fields []byte) {
			if q := wanted[string(row)]; q != nil {
				owner := ownerOf(fields)
				owners[q] = owner.uid == p.uid && owner.inode != "0" // "0": no process holds the socket
			}
		}) != nil {
			break // what was not found counts as foreign
		}
	}
	for _, q := range batch {
		switch own, found := owners[q]; {
		case found && !own:
			q.verdict <- false
		case found:
			if q.seen++; q.seen >= p.sure() {
				q.verdict <- true
				continue
			}
			again = append(again, q)
		default:
			if q.missed++; q.missed >= maxMissed {
				q.verdict <- false
				continue
			}
			again = append(again, q)
		}
	}
	return again
}

func (p *peers) read(file string, found func(row, fields []byte)) error {
	f, err := os.Open(filepath.Join(p.dir, file))
	if err != nil {
		return err
	}
	defer f.Close()
	return readSockets(f, found)
}

// socketOwner is the owner of a socket and its inode, in decimal.
type socketOwner struct{ uid, inode string }

var errSockets = errors.New(unknownSocketTable)

// readSockets reads a table of sockets and calls found for each row. A row begins "ADDRESS:PORT ADDRESS:PORT", the
// address of the socket and of its other end; fields is the rest. Both are valid only during the call.
func readSockets(from io.Reader, found func(row, fields []byte)) error {
	in := bufio.NewReaderSize(from, 64<<10)
	if _, err := in.ReadSlice('\n'); err != nil { // the heading
		return err
	}
	for range maxSocketRows {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		_, rest, ok := bytes.Cut(line, []byte(": ")) // the row's number
		space := bytes.IndexByte(rest, ' ')
		if !ok || space < 0 {
			return errSockets
		}
		next := bytes.IndexByte(rest[space+1:], ' ')
		if next < 0 {
			return errSockets
		}
		end := space + 1 + next
		found(rest[:end], rest[end:])
	}
	return errSockets
}

// ownerOf reads the owner from the fields after the addresses: st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout
// inode and more. It returns the zero value if there are fewer.
func ownerOf(fields []byte) socketOwner {
	f := strings.Fields(string(fields))
	if len(f) < 7 {
		return socketOwner{}
	}
	return socketOwner{uid: f[4], inode: f[6]}
}

// socketRows returns how the row of the other end of a connection can begin. There are two forms for IPv4, because a
// socket of IPv6 can speak IPv4.
func socketRows(remote, local netip.AddrPort) []string {
	remote = netip.AddrPortFrom(remote.Addr().Unmap(), remote.Port())
	local = netip.AddrPortFrom(local.Addr().Unmap(), local.Port())
	rows := []string{socketText(remote, remote.Addr().AsSlice()) + " " + socketText(local, local.Addr().AsSlice())}
	if remote.Addr().Is4() {
		mapped := func(a netip.AddrPort) string {
			wide := a.Addr().As16()
			return socketText(a, wide[:])
		}
		rows = append(rows, mapped(remote)+" "+mapped(local))
	}
	return rows
}

// socketText returns an address as the table has it: words in the byte order of the machine, and the port as a number.
func socketText(a netip.AddrPort, address []byte) string {
	var b strings.Builder
	for ; len(address) >= 4; address = address[4:] {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(address))
	}
	fmt.Fprintf(&b, ":%04X", a.Port())
	return b.String()
}
