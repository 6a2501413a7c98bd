// Refunds is a small HTTP service that pays money back: the other side of a team's catalog in the examples and tests of
// own tools. It is make-believe: it pays by writing a line into a ledger file.
//
// # Refunds, a service to try your own tools with
//
//	PAY_TOKEN=secret refunds --addr 127.0.0.1:9090 --ledger refunds.jsonl
//
// The first line on standard output is the address it listens on; with port 0 the system picks the port. Every request
// must carry "Authorization: Bearer " and what PAY_TOKEN holds.
//
//	POST /refunds        {"order_id": "A-1001", "amount_cents": 4900, "reason": "late parcel"}, header Idempotency-Key
//	                     201 {"key", "order_id", "amount_cents", "reason", "status": "paid", "times": 1}; 200 where the key
//	                     was paid before; 409 where it was paid with other members; 400 for anything else
//	GET  /refunds/{key}  200 with the same object; times counts how often the key was paid. 404 where it never was
//	GET  /refunds        200 {"refunds": {key: times}}
//
// What can go wrong out there, on demand:
//
//	--lose 30      of 100 refunds 30 are paid and the connection is closed without a reply; --seed N picks which
//	--cut 10       of 100 refunds 10 are paid and the reply breaks off in its middle
//	--slow 2s      replies to a POST wait, after the refund was paid; --slow-of 20: 20 of 100 do, else all
//	--hold-first   the first request with each key is paid and never gets a reply
//	--no-dedupe    the same key is paid again, each time: a caller that pays once then does not depend on this service
//
// The ledger is JSON lines, appended and synced before the reply, and read again at start. It holds one line for each
// payment, so that its lines are what was really paid.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Getenv("PAY_TOKEN"), os.Stdout, os.Stderr)) }

// run serves until a signal ends it, and returns the exit code.
func run(args []string, token string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, args, token, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "refunds:", err)
		return 1
	}
	return 0
}

// serve reads the flags, opens the ledger, and serves until ctx ends.
func serve(ctx context.Context, args []string, token string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("refunds", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:9090", "where to listen; port 0: any")
	path := flags.String("ledger", "", "the file of payments; required")
	var faults faults
	flags.IntVar(&faults.lose, "lose", 0, "how many of 100 paid refunds lose their reply")
	flags.Uint64Var(&faults.seed, "seed", 1, "picks which replies are lost")
	flags.IntVar(&faults.cut, "cut", 0, "how many of 100 paid refunds have a reply that breaks off")
	flags.DurationVar(&faults.slow, "slow", 0, "how long a reply to a paid refund waits")
	flags.IntVar(&faults.slowOf, "slow-of", 100, "how many of 100 replies wait so")
	flags.BoolVar(&faults.hold, "hold-first", false, "pay the first request with each key and never reply to it")
	flags.BoolVar(&faults.again, "no-dedupe", false, "pay the same key again")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case token == "":
		return errors.New("set PAY_TOKEN, the bearer token that requests must carry")
	case *path == "":
		return errors.New("--ledger FILE: missing")
	}
	for name, share := range map[string]int{"lose": faults.lose, "cut": faults.cut, "slow-of": faults.slowOf} {
		if share < 0 || share > 100 {
			return fmt.Errorf("--%s %d: write a number from 0 to 100", name, share)
		}
	}
	book, err := openLedger(*path)
	if err != nil {
		return err
	}
	defer book.Close()
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, listener.Addr())
	server := &http.Server{Handler: newService(book, token, faults), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
