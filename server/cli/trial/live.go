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
		return &console.Error{Code: console.ExitFault, What: "demo", Cause: err, Try: "set TMPDIR to a directory that you may write to"}
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
	d := &liveDemo{stage: &stage{trial: a, began: time.Now()}, dir: dir, page: page, book: outside.book("demo")}
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
	return d.bow()
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
	return "", errors.New("no port of this machine is free")
}

// play runs the session: ask, show, kill, show again, and report the person's decision.
func (d *liveDemo) play(ctx context.Context) error {
	d.announce(1, "a refund of 1200 USD waits for you")
	asked, err := d.ask(ctx)
	if err != nil {
		return err
	}
	defer d.state.Close()
	if err := d.show(ctx, asked); err != nil {
		return err
	}
	d.enter(ctx, "Look at the page, then press Enter here: its server will be killed.", 0)
	d.announce(2, "the server is killed, and started again")
	d.progress("kill -9")
	d.server.end()
	if d.server, err = d.start(ctx); err != nil {
		return err
	}
	if err := d.showAgain(ctx, asked); err != nil {
		return err
	}
	d.announce(3, "you decide")
	if err := d.decided(ctx, asked); err != nil {
		return err
	}
	d.enter(ctx, "The page stays until you press Enter: look at what came of it, at the run and at its receipt.", parting)
	return nil
}

// showAgain shows the person the page of the second server, unless they decided before the kill.
func (d *liveDemo) showAgain(ctx context.Context, asked patterns.Asked) error {
	still, err := d.state.Approvals().Approval(asked.ID)
	if err != nil {
		return err
	}
	if still.State != patterns.AskedOpen {
		d.say(d.trial.Err, "  You have decided already. That is kept, too.\n")
	} else {
		d.say(d.trial.Err, "  The question is still there, word for word: %s\n", still.Digest)
	}
	d.say(d.trial.Err, "  A page that was open asks for a new sign-in, since the old one ended with its server.\n")
	return d.show(ctx, asked)
}

// enter waits until the person at the terminal presses Enter. Without a terminal it waits for the given time.
func (d *liveDemo) enter(ctx context.Context, words string, otherwise time.Duration) {
	ctx, pressed := context.WithCancel(ctx)
	defer pressed()
	keys, ok := d.trial.In.(*os.File)
	if ok && console.IsTerminal(keys) && console.IsTerminal(d.trial.Err) {
		d.say(d.trial.Err, "  %s\n", words)
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
	if d.server, err = d.start(ctx); err != nil {
		return asked, err
	}
	reply, err := d.server.client.Call(ctx, "supervised_refund", map[string]any{"goal": demo.RefundGoal}, d.progress)
	if err != nil {
		return asked, err
	}
	result := readDemoResult(reply.Structured)
	if result.Status != "waiting" {
		return asked, fmt.Errorf("the call does not wait: %s %s", result.Status, result.StopReason)
	}
	d.say(d.trial.Err, "  The agent is told: %s\n", printable.Text(result.Next.Say))
	if d.state, err = local.Open(local.Options{Path: filepath.Join(d.dir, "killed.db")}); err != nil {
		return asked, err
	}
	page, err := d.state.Approvals().ListApprovals(patterns.ApprovalFilter{})
	if err != nil || len(page.Rows) != 1 {
		return asked, errors.Join(err, fmt.Errorf("%d questions wait, want one", len(page.Rows)))
	}
	return page.Rows[0], nil
}

// show opens the page in the browser, or prints a link to it at a terminal.
func (d *liveDemo) show(ctx context.Context, asked patterns.Asked) error {
	link, err := inbox.SignInLink(d.state.Approvals(), d.page)
	if err != nil {
		return err
	}
	switch err := inbox.OpenBrowser(ctx, d.trial.Environ, link); {
	case err == nil:
		d.say(d.trial.Err, "  The browser opens the page. Sign in there, and look at %s.\n", asked.ID)
	case console.IsTerminal(d.trial.Err):
		d.say(d.trial.Err, "  Open the page; this link signs in, once, within 60 seconds:\n  %s\n", link)
	default:
		d.say(d.trial.Err, "  Nobody is at a terminal and there is no browser. Another terminal can sign in:\n  %s\n", d.inboxLine())
	}
	return nil
}

// inboxLine returns the command that opens the page from another terminal.
func (d *liveDemo) inboxLine() string {
	return fmt.Sprintf("patterngate --state %s inbox --inbox %s --print", filepath.Join(d.dir, "killed.db"), d.page)
}

// decided waits for the person's decision and prints the outcome.
func (d *liveDemo) decided(ctx context.Context, asked patterns.Asked) error {
	start, last := time.Now(), time.Time{}
	for {
		reply, err := d.server.client.Call(ctx, "run_wait", map[string]any{"run_id": asked.Question.Run, "max_wait_seconds": 20}, nil)
		if err != nil {
			return err
		}
		result := readDemoResult(reply.Structured)
		if result.Status == "ok" || result.Status == "stopped" {
			return d.told(ctx, result, start)
		}
		if time.Since(last) > time.Minute {
			last = time.Now()
			d.progress("waiting for you: change amount_usd to 800 and approve, or reject (Ctrl-C ends the demo)")
			d.progress("too late for the link? " + d.inboxLine())
		}
	}
}

// told prints what the person decided and what was paid.
func (d *liveDemo) told(ctx context.Context, result demoResult, start time.Time) error {
	entries, err := d.book.List(ctx)
	if err != nil {
		return err
	}
	payments := paymentsIn(entries)
	p := playedAct{
		Act: 3, Title: "a person decides", Tool: "supervised_refund", StopReason: result.StopReason, Decided: "you said no",
		Done: result.done(), Seconds: float64(time.Since(start).Milliseconds()) / 1000,
	}
	switch {
	case succeeds(result) && result.paid() > 0:
		p.Decided = fmt.Sprintf("you approved %.2f USD", result.paid())
		p.Done = fmt.Sprintf("%s, %s, over two servers", result.done(), times(payments))
		p.AsExpected = payments == 1
	case result.StopReason == "human_rejected":
		p.AsExpected = payments == 0
	}
	d.played = append(d.played, p)
	d.line(p)
	return nil
}
