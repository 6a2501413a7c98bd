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
	"patterngate/ijson"
)

// World says how the world of a book handles repeated calls. The zero World knows idempotency keys: it acts once for
// each key.
type World string

// The other worlds. In them, a repeated call acts again.
const (
	Plain World = "plain" // only the book shows whether a call happened
	Asked World = "asked" // a look-up finds whether a call happened
)

// Client sends requests about one book to a ledger. The zero Client has no address. It is safe for concurrent use.
type Client struct {
	Address string // host:port
	Book    string
	World   World
}

// Parse reads host:port/book, optionally with ?world after it. That is the form that [Client.String] writes.
func Parse(text string) (Client, error) {
	where, world, named := strings.Cut(text, "?")
	address, book, _ := strings.Cut(where, "/")
	_, _, err := net.SplitHostPort(address)
	if err = errors.Join(err, checkBook(book)); err != nil {
		return Client{}, fmt.Errorf("ledger %q: host:port/book is wanted: %w", text, err)
	}
	if w := World(world); named && w != Plain && w != Asked {
		return Client{}, fmt.Errorf("ledger %q: world %q; plain or asked", text, world)
	}
	return Client{Address: address, Book: book, World: World(world)}, nil
}

// String returns the address in the form that [Parse] reads.
func (c Client) String() string {
	text := c.Address + "/" + c.Book
	if c.World != "" {
		text += "?" + string(c.World)
	}
	return text
}

// Configure sends the effects of the demo to this book.
func (c Client) Configure(d *demo.Config) {
	d.Ledger, d.Plain = c.Enter, c.World != ""
	if c.World == Asked {
		d.Look = c.Look
	}
}

// Look returns the first entry of a key.
func (c Client) Look(ctx context.Context, key string) (e demo.Entry, found bool, err error) {
	entries, err := c.List(ctx)
	if err != nil {
		return demo.Entry{}, false, err
	}
	for _, e := range entries {
		if e.Key == key {
			result, err := ijson.Decode(e.Result)
			return demo.Entry{Tool: e.Tool, Key: key, Result: result, Repeatable: e.Repeatable}, err == nil, err
		}
	}
	return demo.Entry{}, false, nil
}

// Enter enters an effect. After an error, the effect may have been entered.
func (c Client) Enter(ctx context.Context, e demo.Entry) error {
	_, err := c.ask(ctx, request{Enter: &Entry{
		Book: c.Book, Tool: e.Tool, Effect: string(e.Effect), Key: e.Key, Repeatable: e.Repeatable,
		Args: canonical(e.Args), Result: canonical(e.Result),
	}})
	return err
}

// List returns the book's entries in the order of their arrival.
func (c Client) List(ctx context.Context) ([]Entry, error) {
	a, err := c.ask(ctx, request{List: c.Book})
	return a.Entries, err
}

// ask makes one request on a new connection.
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
