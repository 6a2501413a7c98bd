package cli

import (
	"math"
	"strings"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
	"patterngate/server/transport"
)

// inboxOff says that there is no page.
const inboxOff = "off"

// InboxURL is the address of the page on which people decide, as results name it; "" where it is off.
func (c Config) InboxURL() string {
	if c.Inbox == inboxOff || c.Inbox == "" {
		return ""
	}
	return "http://" + c.Inbox
}

// inboxKey is where the page is opened: host:port of this machine, or off.
func inboxKey(name string, target *string) grammar.Key {
	key := grammar.Text(name, target, faultOfInbox)
	key.Takes = "host:port of this machine, or `" + inboxOff + "`"
	return key
}

func faultOfInbox(text string) yamldoc.Fault {
	const want = "write host:port of this machine, 127.0.0.1:8766, or off"
	switch {
	case text == inboxOff:
		return yamldoc.Fault{}
	case !transport.IsListen(text):
		return yamldoc.Fault{Reason: "not an address to listen at", Got: yamldoc.Quoted(text), Want: want, DidYouMean: gateway.Near(text, []string{inboxOff})}
	case !transport.IsLoopback(text):
		return yamldoc.Fault{Reason: text + " is not loopback, and others must not reach it", Want: want}
	}
	return yamldoc.Fault{}
}

// NotifyConfig says how people are told that a call waits for them. The zero NotifyConfig tells nobody.
type NotifyConfig struct {
	Mode string   // auto, off, exec
	Exec []string // the program of mode exec and its arguments; no shell reads them
}

const (
	notifyExec   = "exec"
	maxExecWords = 16
	maxExecBytes = 4 << 10 // of all words together
	notifyWant   = "write auto, off or {exec: [program, argument]}"
)

// notifyKey is one of two words, or a mapping with the program to start.
func notifyKey(name string, target *NotifyConfig) grammar.Key {
	return grammar.Key{
		Name: name, Takes: "auto, off or `{exec: [program, argument]}`",
		Form: func() map[string]any {
			return map[string]any{"anyOf": []any{map[string]any{"enum": []any{"auto", "off"}}, grammar.ObjectForm(map[string]any{notifyExec: grammar.ListForm(grammar.TextForm)}, notifyExec)}}
		},
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) { readNotify(r, n, path, target) },
		Show: func() any {
			switch target.Mode {
			case "":
				return nil
			case notifyExec:
				exec := target.Exec
				return []grammar.Key{{Name: notifyExec, Show: func() any { return exec }}}
			}
			return target.Mode
		},
	}
}

func readNotify(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, target *NotifyConfig) {
	switch n.Kind {
	case yamldoc.Text:
		if word, ok := r.Word(n, path, []string{"auto", "off"}); ok {
			*target = NotifyConfig{Mode: word}
		}
	case yamldoc.Mapping:
		exec := grammar.Key{Name: notifyExec, Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if words, ok := readExecWords(r, n, path); ok {
				*target = NotifyConfig{Mode: notifyExec, Exec: words}
			}
		}}
		if len(n.Members) == 0 {
			r.Wrong(n, path, notifyWant)
		}
		r.Group(n, path, []grammar.Key{exec}, grammar.UnknownKey)
	default:
		r.Wrong(n, path, notifyWant)
	}
}

// readExecWords reads a program and its arguments.
func readExecWords(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) ([]string, bool) {
	if n.Kind != yamldoc.List {
		r.Wrong(n, path, "write a list: [program, argument]; no shell reads it")
		return nil, false
	}
	words, size, ok := make([]string, 0, len(n.Items)), 0, true
	for i, item := range n.Items {
		switch {
		case item.Kind == yamldoc.Unreadable:
			ok = false
		case item.Kind != yamldoc.Text || strings.Contains(item.Text, "\x00"):
			r.Faults.Add(item.At, path.Item(i), yamldoc.Fault{Reason: "not a word", Got: item.Shown(), Want: "write text in quotes"})
			ok = false
		default:
			words, size = append(words, item.Text), size+len(item.Text)
		}
	}
	if ok && (len(words) == 0 || len(words) > maxExecWords || size > maxExecBytes) {
		r.Faults.Add(n.At, path, yamldoc.Fault{Reason: "out of range", Got: yamldoc.NumberText(float64(len(words))) + " words of " + yamldoc.NumberText(float64(size)) + " bytes",
			Want: "write 1 to " + yamldoc.NumberText(maxExecWords) + " words of at most " + yamldoc.NumberText(maxExecBytes) + " bytes together"})
		return nil, false
	}
	if ok && strings.HasPrefix(words[0], "~/") && r.Home != nil {
		words[0] = r.Home(words[0])
	}
	return words, ok
}

// acrossInbox checks what the keys about people cannot see alone, and says who is asked where nobody said it: a person, who
// can be waited for only where runs are recorded.
func (r *configLoader) acrossInbox(c *Config, environ []string) {
	for i := range c.Patterns {
		p := &c.Patterns[i]
		path := (*yamldoc.Path)(nil).Key("patterns").Key(p.Name).Key("approver").Key("kind")
		switch {
		case p.Approver.Kind == "" && c.State == memoryState:
			p.Approver.Kind = patterns.RejectApprover
		case p.Approver.Kind == "":
			p.Approver.Kind = patterns.InboxApprover
		case p.Approver.Kind == patterns.InboxApprover && c.State == memoryState:
			r.Faults.Add(r.Places[path.String()], path, yamldoc.Fault{
				Reason: "inbox with state " + memoryState + ": a run that is not recorded cannot wait for a person",
				Want:   "name a file with state or --state, or write reject or simulated",
			})
		}
	}
	inbox, listen := (*yamldoc.Path)(nil).Key("inbox"), (*yamldoc.Path)(nil).Key("http").Key("listen")
	if c.Inbox == c.HTTP.Listen && !strings.HasSuffix(c.Inbox, ":0") {
		path, f := inbox, yamldoc.Fault{Want: "write another address for one of them, or inbox: off"}
		if _, said := r.Places[inbox.String()]; !said {
			path = listen
		}
		f.Reason = "http.listen and inbox are both " + c.Inbox
		r.Faults.Add(r.Places[path.String()], path, f)
	}
	exec := (*yamldoc.Path)(nil).Key("notify").Key(notifyExec)
	if c.Notify.Mode == notifyExec {
		if _, f := machine.FindProgram(c.Notify.Exec[0], machine.Lookup(environ, "PATH")); f.Reason != "" {
			r.Faults.Add(r.Places[exec.String()], exec.Item(0), f)
		}
	}
}

// approverKeys are those of who is asked (spec/config.md section 7).
func approverKeys(a *patterns.Approver) []grammar.Key {
	const least, most = 60, 30 * 86_400 // seconds
	return []grammar.Key{
		grammar.Word("kind", &a.Kind, patterns.InboxApprover, patterns.SimulatedApprover, patterns.RejectApprover).
			Means("Who is asked about a call or plan that needs a person. inbox: a person, whom the run waits for; simulated: the demo's person; reject: nobody, the answer is no. " +
				"Not set: inbox, with `state: " + memoryState + "` reject."),
		grammar.USD("cap_usd", &a.CapUSD).Means("What the simulated person approves at most."),
		grammar.Scaled("expires_seconds", grammar.Bounds{Min: least, Max: most, Whole: true, Noun: "a whole number of seconds", Seconds: true},
			func() any { return a.Expires.Seconds() },
			func(v float64) { a.Expires = time.Duration(math.Round(v)) * time.Second }).
			Means("How long a person may take; silence is no."),
		grammar.Word("min_assurance", &a.Least, gateway.UserAssurance, gateway.SignedAssurance).
			Means("Whose answer counts. user: whoever runs programs as this OS user; signed: only who holds an approver key, see `patterngate approvals enroll`."),
	}
}
