package trial

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"patterngate/catalog/demo"
	"patterngate/catalog/demo/ledger"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/cli/inbox"
	"patterngate/server/cli/story"
)

// liveConfig is the configuration of the live demo's server: a person decides on the approval page.
const liveConfig = `version: 1
llm: {provider: rules}
patterns:
  supervised_refund: {approver: {kind: inbox, expires_seconds: 3600}}
`

// parting is how long the page stays after the decision without a terminal. The browser needs this time to request the
// outcome.
const parting = 3 * time.Second

// liveTime is how long the live demo waits for the person.
const liveTime = time.Hour

// liveDemo is the demo in which a person decides.
//
//	call ──▶ server ──asks──▶ state file ◀──looks── page ◀── person
//	           ✗ kill -9                             │ approves at 800
//	         server, again ◀──────────decided────────┘
//	           └──pays──▶ ledger: once
type liveDemo struct {
	*stage
	dir    string
	page   string // host:port
	book   ledger.Client
	server *mortalServer
	state  *local.Engine // the state file as a command sees it: continues no run
}

// live runs the live demo.
func (a *Commands) live(ctx context.Context) (err error) {
	console.KeepOnBrokenPipe()
	dir, err := os.MkdirTemp("", "patterngate-demo-")
	if err != nil {
		return noDirectory("demo", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(liveConfig), 0o600); err != nil {
		return console.Fault("demo", err)
	}
	outside, err := a.startLedger(filepath.Join(dir, "ledger"))
	if err != nil {
		return console.Fault("demo", err)
	}
	defer func() { err = errors.Join(err, outside.end()) }()
	page, err := freePage(*a.Inbox)
	if err != nil {
		return &console.Error{Code: console.ExitFault, What: "demo", Cause: err, Try: "--inbox 127.0.0.1:8767"}
	}
	d := &liveDemo{stage: a.stage(true), dir: dir, page: page, book: outside.book("demo")}
	defer func() {
		if d.server != nil {
			d.server.end()
		}
	}()
	ctx, stop := whileInput(ctx, a.In)
	defer stop()
	if err := d.play(ctx); err != nil {
		return console.Fault("demo", whyEnded(ctx, err))
	}
	return d.End()
}

// freePage returns the address of the page: the wanted one if it is free, else the usual one, else any.
func freePage(wanted string) (string, error) {
	for _, address := range []string{wanted, inbox.Usual, "127.0.0.1:0"} {
		if address == "" {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err == nil {
			return l.Addr().String(), l.Close()
		}
		if address == wanted {
			return "", err
		}
	}
	return "", errNoPort
}

// play runs the session: ask, show, kill, show again, and report the person's decision.
func (d *liveDemo) play(ctx context.Context) error {
	d.announce(1, headingWaits)
	asked, err := d.ask(ctx)
	if err != nil {
		return err
	}
	defer d.state.Close()
	if err := d.show(ctx, asked); err != nil {
		return err
	}
	d.enter(ctx, enterKills, 0)
	d.announce(2, headingKilled)
	if err := d.restart(ctx); err != nil {
		return err
	}
	if err := d.showAgain(ctx, asked); err != nil {
		return err
	}
	d.announce(3, headingDecide)
	if err := d.decided(ctx, asked); err != nil {
		return err
	}
	d.enter(ctx, enterEnds, parting)
	return nil
}

// restart kills the server and starts another one over the same state file.
func (d *liveDemo) restart(ctx context.Context) (err error) {
	working := d.Spin(doingRestart)
	defer working.Stop()
	d.server.end()
	d.server, err = d.start(ctx)
	return err
}

// showAgain shows the person the page of the second server, unless they decided before the kill.
func (d *liveDemo) showAgain(ctx context.Context, asked patterns.Asked) error {
	still, err := d.state.Approvals().Approval(asked.ID)
	if err != nil {
		return err
	}
	if still.State != patterns.AskedOpen {
		d.say(keptDecision)
	} else {
		d.say(keptRequest(still.Digest))
	}
	d.say(signInAgain)
	return d.show(ctx, asked)
}

// announce prints the heading of a part, before it begins.
func (d *liveDemo) announce(number int, heading string) {
	if !d.JSON {
		_, _ = fmt.Fprintf(d.Err, "\n%s\n", console.Paint(d.ColoredAt(d.Err), console.Bold, fmt.Sprintf("%d %s", number, heading)))
	}
}

// say prints what the person needs to know, in lines of the terminal's width. whole are links and commands. Each
// has its own line, which is not folded, so that a person can copy it.
func (d *liveDemo) say(text string, whole ...string) {
	if d.JSON {
		return
	}
	text = console.Fold(text, console.Readable(d.Width())-len(liveIndent), liveIndent)
	for _, line := range append([]string{text}, whole...) {
		_, _ = fmt.Fprintf(d.Err, "%s%s\n", liveIndent, line)
	}
}

const liveIndent = "  "

// enter waits until the person at the terminal presses Enter. Without a terminal it waits for the given time.
func (d *liveDemo) enter(ctx context.Context, words string, otherwise time.Duration) {
	ctx, pressed := context.WithCancel(ctx)
	defer pressed()
	keys, ok := d.In.(*os.File)
	if ok && console.IsTerminal(keys) && console.IsTerminal(d.Err) {
		d.say(words)
		go func() {
			_, _ = bufio.NewReader(keys).ReadString('\n') // the end of the input counts as Enter
			pressed()
		}()
	} else {
		defer time.AfterFunc(otherwise, pressed).Stop()
	}
	<-ctx.Done()
}

// start starts the server over the demo's state file.
func (d *liveDemo) start(ctx context.Context) (*mortalServer, error) {
	return d.trial.mortal(ctx, d.dir, d.book, "--inbox", d.page)
}

// ask makes the call and waits until its question is in the state file.
func (d *liveDemo) ask(ctx context.Context) (asked patterns.Asked, err error) {
	working := d.Spin(doingAsk)
	defer working.Stop()
	if d.server, err = d.start(ctx); err != nil {
		return asked, err
	}
	reply, err := d.server.client.Call(ctx, "supervised_refund", map[string]any{"goal": demo.RefundGoal}, working.Say)
	working.Stop()
	if err != nil {
		return asked, err
	}
	result := story.Read(reply.Structured)
	if result.Status != "waiting" {
		return asked, notWaiting(result.Status, result.StopReason)
	}
	d.say(agentGets(printable.Text(result.Next.Say)))
	if d.state, err = local.Open(local.Options{Path: filepath.Join(d.dir, "killed.db")}); err != nil {
		return asked, err
	}
	page, err := d.state.Approvals().ListApprovals(patterns.ApprovalFilter{})
	if err != nil || len(page.Rows) != 1 {
		return asked, errors.Join(err, notOneRequest(len(page.Rows)))
	}
	return page.Rows[0], nil
}

// show opens the page in the browser, or prints a link to it at a terminal.
func (d *liveDemo) show(ctx context.Context, asked patterns.Asked) error {
	link, err := inbox.SignInLink(d.state.Approvals(), d.page)
	if err != nil {
		return err
	}
	working := d.Spin(doingOpen)
	err = inbox.OpenBrowser(ctx, d.trial.Environ, link)
	working.Stop()
	switch {
	case err == nil:
		d.say(browserOpens(asked.ID))
	case console.IsTerminal(d.Err):
		d.say(openLink, link)
	default:
		d.say(noBrowser, d.inboxLine())
	}
	return nil
}

// inboxLine returns the command that opens the page from another terminal.
func (d *liveDemo) inboxLine() string {
	return fmt.Sprintf("patterngate --state %s inbox --inbox %s --print", filepath.Join(d.dir, "killed.db"), d.page)
}

// decided waits for the person's decision and prints the outcome.
func (d *liveDemo) decided(ctx context.Context, asked patterns.Asked) error {
	start := time.Now()
	d.say(howToDecide)
	working := d.Spin(doingWait)
	defer func() { working.Stop() }()
	for first := true; ; first = false {
		reply, err := d.server.client.Call(ctx, "run_wait", map[string]any{"run_id": asked.Question.Run, "max_wait_seconds": 20}, nil)
		if err != nil {
			return err
		}
		result := story.Read(reply.Structured)
		if result.Status == "ok" || result.Status == "stopped" {
			working.Stop()
			return d.told(ctx, result, start)
		}
		if first { // the person takes their time
			working.Stop()
			d.say(linkExpired, d.inboxLine())
			working = d.Spin(doingWait)
		}
	}
}

// told prints what the person decided and what was paid.
func (d *liveDemo) told(ctx context.Context, result story.Result, start time.Time) error {
	entries, err := d.book.List(ctx)
	if err != nil {
		return err
	}
	d.Decided(result, paymentsIn(entries), start)
	return nil
}
