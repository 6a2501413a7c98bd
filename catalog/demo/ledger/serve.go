package ledger

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"time"
)

// The limits of one request.
const (
	maxLine  = 1 << 20
	patience = 3 * time.Second // for a client that sends nothing, for example because it was stopped
)

// request is the request of a connection, one line of JSON.
type request struct {
	Enter *Entry `json:"enter,omitempty"`
	List  string `json:"list,omitempty"` // the book
}

// answer is the answer to a request, one line of JSON.
type answer struct {
	Entries []Entry `json:"entries,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// Ledger keeps entries in a file. Make one with [Open].
type Ledger struct {
	// Hold names a tool. The ledger enters the first effect of the tool and does not answer: the connection stays open
	// until the client closes it.
	Hold string
	// Held is called with that entry. It can be nil.
	Held func(Entry)

	file    *os.File
	entries []Entry
	held    bool
}

// Open opens the ledger in a file, or creates it.
func Open(path string) (*Ledger, error) {
	f, entries, err := open(path)
	if err != nil {
		return nil, err
	}
	return &Ledger{file: f, entries: entries}, nil
}

// Serve handles requests until ctx ends. Then it closes the listener and the file. Call it only once.
func (l *Ledger) Serve(ctx context.Context, listener net.Listener) error {
	defer l.file.Close()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() }) // ends Accept
	defer stop()
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if l.serve(conn) {
			_ = conn.Close() // all was written
		}
	}
}

// serve handles one connection. It reports whether the connection can be closed.
func (l *Ledger) serve(conn net.Conn) (done bool) {
	_ = conn.SetDeadline(time.Now().Add(patience)) // a closed connection fails at the read below
	line, err := bufio.NewReader(io.LimitReader(conn, maxLine)).ReadBytes('\n')
	if err != nil {
		return true // nothing was asked
	}
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		reply(conn, answer{Error: err.Error()})
		return true
	}
	if r.Enter == nil {
		reply(conn, answer{Entries: of(l.entries, r.List)})
		return true
	}
	if err := l.enter(*r.Enter); err != nil {
		reply(conn, answer{Error: err.Error()})
		return true
	}
	if !l.held && r.Enter.Tool == l.Hold {
		l.hold(conn, *r.Enter)
		return false
	}
	reply(conn, answer{})
	return true
}

// enter appends an entry to the file and then to the list in memory.
func (l *Ledger) enter(e Entry) error {
	if err := checkBook(e.Book); err != nil {
		return err
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return err
	}
	l.entries = append(l.entries, e)
	return nil
}

// hold keeps a connection open without an answer.
func (l *Ledger) hold(conn net.Conn, e Entry) {
	l.held = true
	_ = conn.SetDeadline(time.Time{}) // no deadline: until the client closes it
	go func() {
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 1)) // returns when the client closes the connection
	}()
	if l.Held != nil {
		l.Held(e)
	}
}

// reply writes an answer. It ignores errors: a client that does not read the answer asks again, or has ended.
func reply(conn net.Conn, a answer) {
	line, err := json.Marshal(a)
	if err == nil {
		_, _ = conn.Write(append(line, '\n'))
	}
}
