package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/web"
)

// Usual is the default address of the page.
const Usual = "127.0.0.1:8766"

// signInTime is how long a sign-in link is valid.
const signInTime = 60 * time.Second

// Flag adds the flag --inbox to a command.
func Flag(cmd *cobra.Command, target *string) {
	cmd.Flags().StringVar(target, "inbox", "", "`ADDR` of the approval page, or off (default: PATTERNGATE_INBOX, inbox, or "+Usual+")")
}

// Commands is the command that opens the page where people decide.
type Commands struct {
	*console.Console
	Address *string                                               // value of --inbox
	Load    func() (settings.Config, error)                       // returns the configuration; its state file exists
	Open    func() (*local.Engine, error)                         // opens that state file and continues no run
	Options func(c settings.Config, engine *local.Engine) Options // returns what the page shows, and how people sign in
}

// Command returns the command "inbox".
func (a *Commands) Command() *cobra.Command {
	var show bool
	cmd := &cobra.Command{
		Use:   "inbox",
		Short: "Open the approval page in your browser",
		Long: "Opens the page that shows runs, and where you approve or reject waiting calls. The browser is signed in by a " +
			"link that works once, within 60 seconds.\n\n" +
			"A server with the same state file serves the page. If there is none, this command serves it until you press " +
			"Ctrl-C. The page records decisions and makes no calls: \"patterngate serve\" or \"patterngate runs resume\" " +
			"continues the runs.",
		Example: "  patterngate inbox\n  patterngate inbox --print",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.open(cmd.Context(), show) },
	}
	Flag(cmd, a.Address)
	cmd.Flags().BoolVar(&show, "print", false, "print the link and do not open a browser; needs a terminal, because anyone with the link can sign in")
	return cmd
}

// open signs a person in to the page.
//
//	listen ─┬─ free ──────────────▶ serve here ─┐
//	   ▲    ├─ held by a Patterngate ───────────┴─▶ offer a token ──▶ browser or terminal
//	   │    │  over this state
//	   └────┴─ over another state: the next port
func (a *Commands) open(ctx context.Context, show bool) error {
	if show && !console.IsTerminal(a.Out) {
		return console.Usage("inbox --print", errors.New(terminalOnly), browserOrDecide)
	}
	c, err := a.Load()
	if err != nil {
		return console.Wrap("inbox", err)
	}
	if c.Inbox == settings.InboxOff {
		return console.Usage("inbox", errors.New(pageIsOff), "--inbox "+Usual)
	}
	engine, err := a.Open()
	if err != nil {
		return console.Wrap("inbox", err)
	}
	defer engine.Close()
	page := signIn{Commands: a, Options: a.Options(c, engine), show: show}
	state, err := engine.Approvals().StateID()
	if err != nil {
		return console.Fault("inbox", err)
	}
	place := findPage(ctx, c.Inbox, state)
	if place.listener == nil {
		return page.beside(ctx, place)
	}
	if place.moved(c.Inbox) {
		a.remark(pageMoved(heldByOther.of(c.Inbox, nil), place.address))
	}
	return page.serve(ctx, place.listener, place.address)
}

// signIn is one sign-in link for a person.
type signIn struct {
	*Commands
	Options
	show bool
}

// beside offers a sign-in to the page that another process serves.
func (s signIn) beside(ctx context.Context, place pagePlace) error {
	address, cause := place.address, place.cause
	if place.held != heldBySame {
		if place.held == heldByNobody && portTaken(cause) { // the other process has just ended
			cause = errors.New(justEnded)
		}
		return &console.Error{Code: console.ExitFault, What: "inbox", Cause: errors.New(place.held.of(address, cause)), Try: "patterngate inbox --inbox 127.0.0.1:8767"}
	}
	return s.offer(ctx, address, false)
}

// serve serves the page here until ctx ends.
func (s signIn) serve(ctx context.Context, l net.Listener, address string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	door := s.door(address)
	served := make(chan error, 1)
	go func() { served <- door.Serve(ctx, l) }()
	err := s.offer(ctx, address, true)
	if err == nil {
		s.remark(servedHere)
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
func (s signIn) offer(ctx context.Context, address string, serving bool) error {
	base := "http://" + address
	link, err := SignInLink(s.Engine.Approvals(), address)
	if err != nil {
		return console.Fault("inbox", err)
	}
	shown := struct {
		URL     string `json:"url"`
		SignIn  string `json:"sign_in,omitempty"`
		Opened  bool   `json:"opened"`
		Serving bool   `json:"serving"`
	}{URL: base + "/", Opened: !s.show, Serving: serving}
	if s.show {
		shown.SignIn = link
	} else if err := OpenBrowser(ctx, s.Environ, link); err != nil {
		return &console.Error{Code: console.ExitFault, What: "inbox", Cause: fmt.Errorf(notOpened+": %w", err), Try: s.withoutBrowser()}
	}
	switch {
	case s.JSON:
		return s.PrintJSON(shown)
	case s.show:
		s.remark(linkBelow)
		return s.Print(link + "\n")
	}
	return s.Print(browserOpens(base))
}

// withoutBrowser returns what to run where no browser can be opened.
func (s signIn) withoutBrowser() string {
	if console.IsTerminal(s.Out) {
		return s.SignIn + " --print"
	}
	return printThere(s.SignIn)
}

// SignInLink returns a link that signs a browser in to the page at an address. The link is valid once and for a minute.
func SignInLink(approvals patterns.Approvals, address string) (string, error) {
	token, offered := web.NewToken()
	if err := approvals.OfferSignIn(offered, time.Now().Add(signInTime)); err != nil {
		return "", err
	}
	return "http://" + address + web.SignInPath(token), nil
}

// remark prints a text for a person that is not part of the result.
func (a *Commands) remark(text string) { _, _ = io.WriteString(a.Err, text) }
