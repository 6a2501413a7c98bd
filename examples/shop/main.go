// Shop is a make-believe shop's MCP servers: what the examples morning, desk and errand put behind the gate. They are written
// with the official Go SDK, so that Patterngate meets servers that are not its own.
//
//	shop sales FILE      day_sales: orders and sales of a day
//	shop refunds FILE    day_refunds: what was paid back on a day
//	shop stock FILE      day_stock: what is sold out or low on a day
//	shop orders DIR      list_orders, read_order, note_order: a directory with a file for each order
//	shop parcels FILE    track_parcel: where the parcel of an order is
//
// Each serves on standard input and output until its input ends. A day that is not in FILE is a tool's error, as a service that
// is down would be.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// servers add the tools of each server, which finds its data at a path.
var servers = map[string]func(s *mcp.Server, path string){
	"sales":   sales,
	"refunds": refunds,
	"stock":   stock,
	"orders":  orders,
	"parcels": parcels,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

// run serves one of the servers until its input ends.
func run(args []string) error {
	if len(args) != 2 || servers[args[0]] == nil {
		return fmt.Errorf("usage: shop sales|refunds|stock|orders|parcels PATH")
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "shop-" + args[0], Version: "1"}, nil)
	servers[args[0]](s, args[1])
	return s.Run(context.Background(), &mcp.StdioTransport{})
}
