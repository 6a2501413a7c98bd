package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"patterngate/gateway/approver"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/web"
)

// inboxUsual is the default address of the page.
const inboxUsual = "127.0.0.1:8766"

// signInTime is how long a sign-in link is valid.
const signInTime = 60 * time.Second

func inboxFlag(cmd *cobra.Command, target *string) {
	cmd.Flags().StringVar(target, "inbox", "", "where the page of approvals and runs is, host:port on loopback, or off (else PATTERNGATE_INBOX, else inbox: "+inboxUsual+")")
}

// inboxCommands is the command that opens the page where people decide.
type inboxCommands struct {
	*stateOpener
}

func (a *inboxCommands) inboxCommand() *cobra.Command {
	var show bool
	cmd := &cobra.Command{
		Use:   "inbox",
		Short: "Open the page of approvals and runs in the browser, signed in",
		Long: "Opens the page on which a person decides what waits for approval, and looks at runs. It signs the browser in by a link that\n" +
			"counts once, within 60 seconds. The page itself is served by whichever server has this state file open and something to\n" +
			"decide; where none does, this command serves it until Ctrl-C. The page decides and never executes: runs go on with\n" +
			"\"patterngate serve\" or \"patterngate runs resume\".\n\n" +
			"With --print the link is printed instead, to a terminal only: whoever has it can sign in.",
		Example: "  patterngate inbox\n  patterngate inbox --print",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.inbox(cmd.Context(), show) },
	}
	inboxFlag(cmd, &a.inboxAt)
	cmd.Flags().BoolVar(&show, "print", false, "print the link, to a terminal, and open nothing")
	return cmd
}

// inbox signs a person in to the page.
//
//	listen ─┬─ free ──────────────▶ serve here ─┐
//	   ▲    ├─ held by a Patterngate ───────────┴─▶ offer a token ──▶ browser or terminal
//	   │    │  over this state
//	   └────┴─ over another state: the next port
func (a *inboxCommands) inbox(ctx context.Context, show bool) error {
	if show && !console.IsTerminal(a.Out) {
		return console.Usage("inbox --print", errors.New("standard output is no terminal; the link signs in, so it is for a person's eyes only"), "patterngate inbox, which opens the browser")
	}
	c, err := a.loadState()
	if err != nil {
		return console.Wrap("inbox", err)
	}
	if c.Inbox == settings.InboxOff {
		return console.Usage("inbox", errors.New("it is off"), "--inbox "+inboxUsual)
	}
	engine, err := a.openEngine()
	if err != nil {
		return console.Wrap("inbox", err)
	}
	defer engine.Close()
	page := pageOffer{inbox: a, config: c.Config, engine: engine, show: show}
	state, err := engine.Approvals().StateID()
	if err != nil {
		return console.Fault("inbox", err)
	}
	place := findPage(ctx, c.Inbox, state)
	if place.listener == nil {
		return page.beside(ctx, place)
	}
	if place.moved(c.Inbox) {
		a.remark(heldByOther.of(c.Inbox, nil) + ". This page is at " + place.address + ".\n")
	}
	return page.serve(ctx, place.listener, place.address)
}

// pageOffer is one sign-in link for a person.
type pageOffer struct {
	inbox  *inboxCommands
	config settings.Config
	engine *local.Engine
	show   bool
}

// beside offers a sign-in to the page that another process serves.
func (p pageOffer) beside(ctx context.Context, place pagePlace) error {
	address, cause := place.address, place.cause
	if place.held != heldBySame {
		if place.held == heldByNobody && portTaken(cause) { // the other process has just ended
			cause = errors.New("the program that served the page ended a moment ago. Run the command again")
		}
		return &console.Error{Code: console.ExitFault, What: "inbox", Cause: errors.New(place.held.of(address, cause)), Try: "patterngate inbox --inbox 127.0.0.1:8767"}
	}
	return p.offer(ctx, address, false)
}

// serve serves the page here until ctx ends.
func (p pageOffer) serve(ctx context.Context, l net.Listener, address string) error {
	a := p.inbox
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	door := inboxDoor(p.engine, a.inboxLine(p.config), approver.Dir(filepath.Dir(p.config.State)), a.logger(p.config.Log, a.Err))(address)
	served := make(chan error, 1)
	go func() { served <- door.Serve(ctx, l) }()
	err := p.offer(ctx, address, true)
	if err == nil {
		a.remark("No server serves the page, so this command does, until Ctrl-C. It only decides: runs go on with `patterngate serve` or\n`patterngate runs resume`.\n")
		return wrappedOrNil("inbox", <-served)
	}
	stop()
	<-served
	return err
}

func wrappedOrNil(what string, err error) error {
	if err == nil {
		return nil
	}
	return console.Fault(what, err)
}

// offer makes a token for one sign-in, and opens the link or prints it.
func (p pageOffer) offer(ctx context.Context, address string, serving bool) error {
	a, base := p.inbox, "http://"+address
	token, offered := web.NewToken()
	if err := p.engine.Approvals().OfferSignIn(offered, time.Now().Add(signInTime)); err != nil {
		return console.Fault("inbox", err)
	}
	link := base + web.SignInPath(token)
	shown := struct {
		URL     string `json:"url"`
		SignIn  string `json:"sign_in,omitempty"`
		Opened  bool   `json:"opened"`
		Serving bool   `json:"serving"`
	}{URL: base + "/", Opened: !p.show, Serving: serving}
	if p.show {
		shown.SignIn = link
	} else if err := openBrowser(ctx, a.Environ, link); err != nil {
		return &console.Error{Code: console.ExitFault, What: "inbox", Cause: fmt.Errorf("the browser cannot be opened: %w", err), Try: a.inboxLine(p.config) + " --print"}
	}
	switch {
	case a.JSON:
		return a.PrintJSON(shown)
	case p.show:
		a.remark("This signs in once, within 60 seconds:\n")
		return a.Print(link + "\n")
	}
	return a.Print("The browser opens " + base + "/ and offers a sign-in, once, within 60 seconds.\n")
}

// remark prints a text for a person that is not part of the result.
func (a *inboxCommands) remark(text string) { _, _ = io.WriteString(a.Err, text) }
