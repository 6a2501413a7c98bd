package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/cli/signing"
	"patterngate/server/cli/statefile"
)

// fakeDesk is a state with questions, for commands. What it takes it judges as [patterns.Approvals] says.
type fakeDesk struct {
	switches []patterns.Switch
	within   []string         // the patterns around the run that asks
	asked    []patterns.Asked // newest first
	stored   []gateway.PublicKey
	dir      string
	alive    bool  // a process carries runs on
	taken    bool  // and takes the run up
	refuse   error // of decisions and acts
	decided  []patterns.Decided
	events   map[string][]patterns.Event
	more     chan patterns.Asked // questions that come
	looked   func()              // told that a watcher has nothing left to tell
}

const askedID, askedRun = "ap_03f2000000000001", "run_71aa03c9e2d8b456"

// askedRefund is a refund that waits.
func askedRefund(id string) patterns.Asked {
	q := gateway.Question{
		Run: askedRun, Step: "issue_refund#1", Tool: "issue_refund",
		Args:    map[string]any{"user_id": 42.0, "amount_usd": 1200.0, "reason": "annual plan"},
		Expires: console.Now().Add(24 * time.Hour),
	}
	return patterns.Asked{
		ID: id, Question: q, Digest: q.Digest(), Key: "approve#1", Pattern: "supervised_refund", Principal: "local:1000", Phase: "human_approval",
		Effect: catalog.Write, ArgsHash: "4e1979ae6163", Phrase: "refunding 1200.00 USD to user 42", Rule: "high_refund_requires_human",
		Reason: "a refund above the limit needs a person", Least: gateway.UserAssurance, Since: console.Now(), State: patterns.AskedOpen,
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["user_id","amount_usd"],"properties":{"user_id":{"type":"integer"},"amount_usd":{"type":"number","minimum":0},"reason":{"type":"string"}}}`),
	}
}

func newFakeDesk(t testing.TB) *fakeDesk {
	return &fakeDesk{asked: []patterns.Asked{askedRefund(askedID)}, dir: t.TempDir(), alive: true, taken: true}
}

func (f *fakeDesk) ListApprovals(filter patterns.ApprovalFilter) (page patterns.ApprovalPage, err error) {
	if filter.Cursor == "damaged" {
		return page, patterns.ErrCursor
	}
	for _, q := range f.asked {
		if (filter.All || q.State == patterns.AskedOpen) && q.ID > filter.Cursor && (filter.Rule == "" || q.Rule == filter.Rule) {
			if len(page.Rows) == filter.Limit {
				page.Next = page.Rows[filter.Limit-1].ID
				break
			}
			page.Rows = append(page.Rows, q)
		}
	}
	return page, nil
}

func (f *fakeDesk) WaitingApprovals() (int, error) { return len(f.asked), nil }

func (f *fakeDesk) Approval(id string) (patterns.Asked, error) {
	if i := slices.IndexFunc(f.asked, func(q patterns.Asked) bool { return q.ID == id }); i >= 0 {
		return f.asked[i], nil
	}
	return patterns.Asked{}, patterns.ErrNoApproval
}

func (f *fakeDesk) FindApproval(beginning string) (string, error) {
	var ids []string
	for _, q := range f.asked {
		if strings.HasPrefix(q.ID, "ap_"+strings.TrimPrefix(beginning, "ap_")) {
			ids = append(ids, q.ID)
		}
	}
	switch len(ids) {
	case 0:
		return "", patterns.ErrNoApproval
	case 1:
		return ids[0], nil
	}
	return "", &local.AmbiguousError{IDs: ids}
}

func (f *fakeDesk) Decide(d patterns.Decided) (patterns.Asked, error) {
	f.decided = append(f.decided, d)
	i := slices.IndexFunc(f.asked, func(q patterns.Asked) bool { return q.ID == d.Approval })
	if i < 0 {
		return patterns.Asked{}, patterns.ErrNoApproval
	}
	q := f.asked[i]
	ring, _ := f.Keys()
	g := gateway.Grant{Approval: q.ID, Asked: q.Question, Answer: d.Answer, Signature: d.Signature, Least: q.Least, Ring: ring}
	sure, reason := g.Heard(console.Now())
	switch {
	case f.refuse != nil:
		return q, f.refuse
	case q.State != patterns.AskedOpen:
		return q, &patterns.NotOpen{Why: q.State.Why(), Asked: q}
	case d.Digest != q.Digest:
		return q, &patterns.NotOpen{Why: patterns.WhyChanged, Asked: q}
	case reason != "" && d.Signature == "":
		return q, patterns.ErrUnsigned
	case reason != "":
		return q, patterns.ErrForged
	}
	q.State, q.Given = patterns.AskedDecided, &patterns.Given{Answer: d.Answer, Args: d.Args, Signature: d.Signature, Channel: d.Channel, Assurance: sure}
	f.asked[i] = q
	return q, nil
}

func (f *fakeDesk) Keys() (gateway.Ring, error) { return gateway.NewRing(f.stored), nil }

func (f *fakeDesk) Enroll(k gateway.PublicKey) error {
	ring, _ := f.Keys()
	if ring.Counts(console.Now()) && ring.Check(k.Vouched, console.Now()) != nil {
		return patterns.ErrForged
	}
	f.stored = append(f.stored, k)
	return f.refuse
}

func (f *fakeDesk) RemoveKey(id string, by gateway.SignedAct) error {
	ring, _ := f.Keys()
	i := slices.IndexFunc(f.stored, func(k gateway.PublicKey) bool { return k.ID == id })
	switch {
	case f.refuse != nil:
		return f.refuse
	case i < 0:
		return patterns.ErrNoKey
	case ring.Check(by, console.Now()) != nil:
		return patterns.ErrForged
	}
	f.stored[i].Removed, f.stored[i].Dropped = by.At, by
	return nil
}

func (f *fakeDesk) OfferSignIn([32]byte, time.Time) error { return errors.ErrUnsupported }
func (f *fakeDesk) SignIn([32]byte) (bool, error)         { return false, errors.ErrUnsupported }
func (f *fakeDesk) StateID() (string, error)              { return "", errors.ErrUnsupported }

func (f *fakeDesk) Find(string) (string, error) { return askedRun, nil }

// Run is a run that a process carries on, where there is one, as soon as something was decided.
func (f *fakeDesk) Run(id string) (patterns.Snapshot, bool) {
	s := patterns.Snapshot{RunID: id, State: patterns.Parked, Head: patterns.Head{Events: 3}}
	if f.taken && len(f.decided) > 0 {
		s.Head.Events++
	}
	if f.within != nil && id == askedRun {
		s.Parent = &patterns.Parent{RunID: "run_9000000000000000", Within: f.within}
	}
	return s, true
}

func (f *fakeDesk) Record(id string) ([]patterns.Event, int64, error) {
	events, ok := f.events[id]
	if !ok {
		return nil, 0, patterns.ErrNoRun
	}
	return events, int64(len(events)), nil
}

func (f *fakeDesk) Kept(id string) ([]patterns.Event, patterns.Kept, error) {
	events, kept, err := f.Record(id)
	return events, patterns.Kept{Head: patterns.Head{Events: kept}}, err
}

func (f *fakeDesk) List(patterns.Filter) (patterns.Page, error) { return patterns.Page{}, nil }

func (f *fakeDesk) Plan(id string) (patterns.PlanState, error) {
	return patterns.PlanState{}, patterns.ErrNoPlan
}

// Changed waits for a question that comes.
func (f *fakeDesk) Changed(ctx context.Context, since uint64) ([]string, uint64) {
	if f.more == nil {
		<-ctx.Done()
		return nil, since
	}
	f.looked()
	select {
	case q := <-f.more:
		f.asked = append([]patterns.Asked{q}, f.asked...)
		return []string{q.Question.Run}, since + 1
	case <-ctx.Done():
		return nil, since
	}
}

// command carries out a command line about these questions; secrets are what a person types.
func (f *fakeDesk) command(t testing.TB, secrets []string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	a := f.app(&o, &e)
	a.secret = typedBy(secrets, &e)
	root := a.root()
	root.SetArgs(append([]string{"approvals"}, args...))
	code = a.Exit(t.Context(), root.ExecuteContext(t.Context()))
	return code, o.String(), e.String()
}

// typedBy is a person who types these passphrases and then is gone; what they are asked stands in errs.
func typedBy(secrets []string, errs io.Writer) func(context.Context, string) (string, error) {
	return func(_ context.Context, prompt string) (string, error) {
		if len(secrets) == 0 {
			return "", signing.ErrNoTerminal
		}
		_, _ = io.WriteString(errs, "["+prompt+"]\n")
		typed := secrets[0]
		secrets = secrets[1:]
		return typed, nil
	}
}

func (f *fakeDesk) app(o, e *bytes.Buffer) *app {
	log := slog.New(slog.NewTextHandler(e, nil))
	return &app{
		Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: o, Err: e, Environ: []string{"COLUMNS=160"}}},
		desks: func() (statefile.Questions, func(), error) {
			return statefile.Questions{
				Approvals: f, Owner: f, Alive: func() bool { return f.alive }, KeyDir: f.dir, Log: log,
				Switches: func() ([]patterns.Switch, error) { return f.switches, nil },
			}, func() {}, nil
		},
	}
}

var _ patterns.Approvals = (*fakeDesk)(nil)
var _ patterns.Owner = (*fakeDesk)(nil)

// shortOf shows what was decided: choice, by, changed arguments.
func shortOf(list []patterns.Decided) string {
	var words []string
	for _, d := range list {
		text := string(d.Choice) + " " + d.Approval + " " + d.Channel
		if d.Uncompared {
			text += ", not compared"
		}
		for _, name := range slices.Sorted(maps.Keys(d.Args)) {
			v, _ := json.Marshal(d.Args[name])
			text += " " + name + "=" + string(v)
		}
		words = append(words, text+cmp.Or(" "+d.Comment, ""))
	}
	return strings.TrimSpace(strings.Join(words, "; "))
}
