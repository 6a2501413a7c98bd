// Play plays one of the examples from its start to its end. It copies the example's folder to a directory of its own, starts the
// services behind the gate, and accepts the tools that they declare. Then it starts patterngate as a program, and acts as its client with
// the official Go SDK of MCP. If a call needs a person, it decides with the commands that a person would use.
//
//	go run ./examples/play orders            # or morning, desk, errand; from the root of the repository
//	go run ./examples/play -http orders      # over HTTP instead of standard input and output
//	go run ./examples/play -serve orders     # plays nothing: serves over HTTP, for a client of yours
//
// In what it prints, "#" is a word on what comes, ">" is a call of the client's, "<" the text that it gets, "=" a member of the
// structured result beside it, and "$" a command. Long lines are cut.
// It ends with exit code 1 when anything is not as the example says. No key and no model are needed.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// stories are what happens in each example; the file of that name has it.
var stories = map[string]func(*stage){
	"orders":  orders,
	"morning": morning,
	"desk":    desk,
	"errand":  errand,
}

// patience is for a whole story, and for building and installing what it needs.
const patience = 5 * time.Minute

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run plays what the arguments say and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("play", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o options
	flags.BoolVar(&o.http, "http", false, "the client speaks HTTP")
	flags.BoolVar(&o.built, "built", false, "patterngate, refunds and shop are in PATH; else they are built")
	serve := flags.Bool("serve", false, "serve over HTTP, for a client of yours")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	name := flags.Arg(0)
	if flags.NArg() != 1 || stories[name] == nil {
		fmt.Fprintln(stderr, "usage: play [-http] [-serve] orders|morning|desk|errand")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if !*serve {
		limited, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		ctx = limited
	}
	s := newStage(ctx, name, o, stdout)
	if *serve {
		o.http = true
		s.serveUntil(stdin)
	} else {
		stories[name](s)
		s.run("runs verify --all")
	}
	if err := s.close(); err != nil {
		fmt.Fprintln(stderr, "play:", err)
		return 1
	}
	return 0
}

// serveUntil serves the example for a client of the reader's, and carries out patterngate commands that are typed, until an empty
// line or a signal.
func (s *stage) serveUntil(in io.Reader) {
	s.open()
	s.serve()
	if s.err != nil {
		return
	}
	fmt.Fprintln(s.out, "Type commands of patterngate, such as: approvals list; an empty line ends it.")
	fmt.Fprintf(s.out, "Authorization: Bearer %s\n%s serves\n", token, s.url)
	typed := make(chan string)
	go func() {
		for lines := bufio.NewScanner(in); lines.Scan(); {
			typed <- strings.TrimSpace(lines.Text())
		}
	}()
	for {
		select {
		case line := <-typed:
			if line == "" {
				return
			}
			s.run(strings.TrimPrefix(line, "patterngate "))
			if s.err != nil { // the reader's own; the example goes on
				fmt.Fprintln(s.out, s.err)
				s.err = nil
			}
		case <-s.ctx.Done():
			return
		}
	}
}

// indented is a text with a mark before its first line and blanks before the others.
func indented(mark, text string) string {
	return mark + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", len(mark)))
}
