package settings

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

// InboxOff is the inbox value for no approval page.
const InboxOff = "off"

// InboxURL returns the address of the approval page, as results name it. It returns "" if the page is off.
func (c Config) InboxURL() string {
	if c.Inbox == InboxOff || c.Inbox == "" {
		return ""
	}
	return "http://" + c.Inbox
}

// inboxKey returns the key of the approval page's address: host:port of this machine, or off.
func inboxKey(name string, target *string) grammar.Key {
	key := grammar.Text(name, target, faultOfInbox)
	key.Takes = localAddressOr(InboxOff)
	return key
}

func faultOfInbox(text string) yamldoc.Fault {
	const want = wantLocalAddress
	switch {
	case text == InboxOff:
		return yamldoc.Fault{}
	case !transport.IsListen(text):
		return yamldoc.Fault{Reason: notAddress, Got: yamldoc.Quoted(text), Want: want, DidYouMean: gateway.NearTyped(text, []string{InboxOff})}
	case !transport.IsLoopback(text):
		return yamldoc.Fault{Reason: notLocal(text), Want: want}
	}
	return yamldoc.Fault{}
}

// Notify says how people are notified that a call waits for a decision. The zero Notify sends no notification.
type Notify struct {
	Mode string   // auto, off, exec
	Exec []string // the program of mode exec and its arguments; no shell reads them
}

// notifyWords are the values of notify that are one word.
var notifyWords = []string{"auto", "off"}

// notifyKey returns the key of the notification: one of two words, or a mapping with the program to start.
func notifyKey(name string, target *Notify) grammar.Key {
	return grammar.Key{
		Name: name, Takes: yamldoc.Alternatives(append(notifyWords[:len(notifyWords):len(notifyWords)], execForm)),
		Form: func() map[string]any {
			program := grammar.BriefForm([]grammar.Key{target.execKey().Need("write " + grammar.ExecMember)})
			return map[string]any{"anyOf": []any{map[string]any{"enum": grammar.TextValues(notifyWords)}, program}}
		},
		Brief: true, Below: func() []grammar.Key { return []grammar.Key{target.execKey()} },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) { target.read(r, n, path) },
		Show: func() any {
			switch target.Mode {
			case "":
				return nil
			case grammar.ExecMember:
				return []grammar.Key{target.execKey()}
			}
			return target.Mode
		},
	}
}

// execKey returns the key of the program to start.
func (c *Notify) execKey() grammar.Key {
	key := grammar.Command(grammar.ExecMember, &c.Exec)
	key.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		with := Notify{Mode: grammar.ExecMember}
		if grammar.Command(key.Name, &with.Exec).Read(r, n, path); with.Exec != nil {
			*c = with
		}
	}
	return key
}

func (c *Notify) read(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
	const want = wantNotify
	switch n.Kind {
	case yamldoc.Text:
		if word, ok := r.Word(n, path, notifyWords); ok {
			*c = Notify{Mode: word}
		}
	case yamldoc.Mapping:
		if len(n.Members) == 0 {
			r.Wrong(n, path, want)
		}
		r.Group(n, path, []grammar.Key{c.execKey()}, grammar.UnknownKey)
	default:
		r.Wrong(n, path, want)
	}
}

// acrossInbox checks the approvers and the approval page against the other keys. It also sets the approver of patterns that
// name none: a person, or reject if runs are not recorded. Patterngate can wait for a person only if it records the run.
func (r *loader) acrossInbox(c *Config, environ []string) {
	for i := range c.Patterns {
		p := &c.Patterns[i]
		path := (*yamldoc.Path)(nil).Key("patterns").Key(p.Name).Key("approver").Key("kind")
		switch {
		case p.Approver.Kind == "" && c.State == MemoryState:
			p.Approver.Kind = patterns.RejectApprover
		case p.Approver.Kind == "":
			p.Approver.Kind = patterns.InboxApprover
		case p.Approver.Kind == patterns.InboxApprover && c.State == MemoryState:
			r.Faults.Add(r.Places[path.String()], path, yamldoc.Fault{
				Reason: inboxInMemory(MemoryState),
				Want:   wantStateOrApprover,
			})
		}
	}
	inbox, listen := (*yamldoc.Path)(nil).Key("inbox"), (*yamldoc.Path)(nil).Key("http").Key("listen")
	if c.Inbox == c.HTTP.Listen && !strings.HasSuffix(c.Inbox, ":0") {
		path, f := inbox, yamldoc.Fault{Want: wantOtherAddress}
		if _, said := r.Places[inbox.String()]; !said {
			path = listen
		}
		f.Reason = sameAddress(c.Inbox)
		r.Faults.Add(r.Places[path.String()], path, f)
	}
	exec := (*yamldoc.Path)(nil).Key("notify").Key(grammar.ExecMember)
	if c.Notify.Mode == grammar.ExecMember {
		if _, f := machine.FindProgram(c.Notify.Exec[0], machine.Lookup(environ, "PATH")); f.Reason != "" {
			r.Faults.Add(r.Places[exec.String()], exec.Item(0), f)
		}
	}
}

// approverKeys returns the keys of an approver (spec/config.md section 7).
func approverKeys(a *patterns.Approver) []grammar.Key {
	const least, most = 60, 30 * 86_400 // seconds
	return []grammar.Key{
		grammar.Word("kind", &a.Kind, patterns.InboxApprover, patterns.SimulatedApprover, patterns.RejectApprover).
			Means(approverMeaning(MemoryState)),
		grammar.USD("cap_usd", &a.CapUSD).Means("The largest amount that the simulated person approves."),
		grammar.Scaled("expires_seconds", grammar.Bounds{Min: least, Max: most, Whole: true, Unit: grammar.InSeconds},
			func() any { return a.Expires.Seconds() },
			func(v float64) { a.Expires = time.Duration(math.Round(v)) * time.Second }).
			Means("How long a person has to decide. Without a decision the call is rejected."),
		grammar.Word("min_assurance", &a.Least, gateway.UserAssurance, gateway.SignedAssurance).
			Means("Whose answer counts. user: anyone who runs programs as this OS user. signed: only a holder of an approver key, see `patterngate approvals enroll`."),
	}
}
