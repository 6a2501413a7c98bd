package ledger

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"

	"patterngate/catalog/demo"
)

// plain marks the address of a book whose world knows no idempotency keys.
const plain = "?plain"

// Client asks a ledger about one book. The zero Client reaches none. It is safe for concurrent use.
type Client struct {
	Address string // host:port
	Book    string
	Plain   bool // effects that write cannot be repeated, see [demo.Config]
}

// Parse reads host:port/book, with ?plain behind it or not: what [Client.String] writes.
func Parse(text string) (Client, error) {
	text, without := strings.CutSuffix(text, plain)
	address, book, _ := strings.Cut(text, "/")
	_, _, err := net.SplitHostPort(address)
	if err = errors.Join(err, checkBook(book)); err != nil {
		return Client{}, fmt.Errorf("ledger %q: host:port/book is wanted: %w", text, err)
	}
	return Client{Address: address, Book: book, Plain: without}, nil
}

func (c Client) String() string {
	text := c.Address + "/" + c.Book
	if c.Plain {
		text += plain
	}
	return text
}

// Configure has the demo's effects happen in this book.
func (c Client) Configure(d *demo.Config) { d.Ledger, d.Plain = c.Enter, c.Plain }

// Enter enters an effect. An error says that it may have been entered.
func (c Client) Enter(ctx context.Context, e demo.Entry) error {
	_, err := c.ask(ctx, request{Enter: &Entry{
		Book: c.Book, Tool: e.Tool, Effect: string(e.Effect), Key: e.Key, Repeatable: e.Repeatable,
		Args: canonical(e.Args), Result: canonical(e.Result),
	}})
	return err
}

// List lists the book's entries in the order in which they arrived.
func (c Client) List(ctx context.Context) ([]Entry, error) {
	a, err := c.ask(ctx, request{List: c.Book})
	return a.Entries, err
}

// ask makes one request on a connection of its own.
func (c Client) ask(ctx context.Context, r request) (answer, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return answer{}, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.Address)
	if err != nil {
		return answer{}, fmt.Errorf("ledger: %w", err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends the exchange
	defer stop()
	if _, err := conn.Write(append(line, '\n')); err != nil {
		return answer{}, fmt.Errorf("ledger: %w", err)
	}
	var a answer
	if err := json.NewDecoder(bufio.NewReader(conn)).Decode(&a); err != nil {
		return answer{}, fmt.Errorf("ledger: no answer: %w", errors.Join(ctx.Err(), err))
	}
	if a.Error != "" {
		return answer{}, fmt.Errorf("ledger: %s", a.Error)
	}
	return a, nil
}
