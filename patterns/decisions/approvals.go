package decisions

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
)

// Host gives decisions what they need from the engine that asks.
type Host interface {
	// Rules returns what records hide now.
	Rules() redaction.Rules
	// Catalog returns the catalog that describes calls in words. With nil, calls are shown only by name and arguments.
	Catalog() *catalog.Catalog
	// Changed is called after a decision about a run, or after an event was added to its record; run "" is no run in particular.
	Changed(run string)
}

// Approvals are the questions that runs of a store ask people. They are safe for concurrent use. If Store is nil there are none.
type Approvals struct {
	Store store.Store
	Host  Host
}

var _ patterns.Approvals = Approvals{}

// asked is a row of approvals with what is needed of its run.
type asked struct{ *store.Asked }

// lives reports whether the run can still continue.
func (a asked) lives() bool {
	return !a.Canceled && (a.RunState == "parked" || a.RunState == "running" || a.RunState == "ready")
}

func (a asked) stands(now time.Time) patterns.AskedState {
	switch {
	case a.State == string(patterns.AskedExpired), a.State == string(patterns.AskedOver):
		return patterns.AskedState(a.State)
	case a.State != "open":
		return patterns.AskedDecided
	case !a.lives():
		return patterns.AskedOver
	case a.Expires <= now.UnixMicro():
		return patterns.AskedExpired
	}
	return patterns.AskedOpen
}

// errNotAsked says that a row does not fit the record of its run, so the row is forged.
var errNotAsked = errors.New("local: the row does not fit the record")

// question makes the question that is shown for a row. It believes only the event that asks. If lost, the redacted values of the event
// are gone and its digest cannot be computed again. Then an open question returns [errNotAsked], because people cannot see what they
// decide.
func (a asked) question(e patterns.Event, lost bool, keys gateway.Ring, now time.Time) (patterns.Asked, error) {
	v, err := journal.DecodeTrusted(e.Body)
	if err != nil {
		return patterns.Asked{}, err
	}
	body, _ := v.(map[string]any)
	text := func(of map[string]any, name string) string { s, _ := of[name].(string); return s }
	object, _ := body["object"].(map[string]any)
	input, _ := body["input"].(map[string]any)
	args, _ := object["args"].(map[string]any)
	action, _ := input["action"].(map[string]any)
	proposed, _ := action["args"].(map[string]any)
	expires, err := time.Parse(time.RFC3339, text(object, "expires"))
	if err != nil || e.Kind != patterns.IntentEvent || text(object, "run") != journal.RunID(a.Run) || journal.QuestionID(journal.RunID(a.Run), e.Key) != journal.ApprovalID(a.Approval) {
		return patterns.Asked{}, errNotAsked
	}
	q := gateway.Question{
		Run: text(object, "run"), Step: text(object, "step"), Tool: text(object, "tool"), Schema: text(object, "schema"), Args: args,
		Policy: text(object, "policy"), Expires: expires, Assurance: gateway.Assurance(text(object, "assurance")),
	}
	state := a.stands(now)
	if text(body, "digest") != a.Digest || expires.UnixMicro() != a.Expires || q.Digest() != a.Digest && (!lost || state == patterns.AskedOpen) {
		return patterns.Asked{}, errNotAsked
	}
	var shown shownText
	_ = json.Unmarshal(a.Shown, &shown) // only for display
	asked := patterns.Asked{
		ID: journal.ApprovalID(a.Approval), Question: q, Digest: a.Digest, Key: e.Key, Pattern: a.Pattern, Principal: a.Principal, Phase: shown.Phase,
		ArgsHash: ijson.ArgsHash(proposed), Phrase: q.Tool, Rule: text(body, "rule"), Reason: text(body, "reason"), Text: text(body, "text"),
		Least: Least(text(input, "min_assurance"), q, state == patterns.AskedOpen && keys.Counts(now)), Since: time.UnixMicro(a.Since).UTC(), State: state,
		Spent: a.Consumed != "",
	}
	if a.Parent != 0 {
		asked.Parent = journal.RunID(a.Parent)
	}
	asked.Values, _ = body["values"].(map[string]any)
	if asked.State == patterns.AskedDecided {
		asked.Given = a.given(asked, keys)
	}
	return asked, nil
}

// event reads the one event that asks, with hidden values put back. stored is its body in the form of the record. If lost, redacted values
// of it were dropped at the end of the run.
func (a Approvals) event(s store.Reader, n, seq int64) (e patterns.Event, stored []byte, lost bool, err error) {
	list, err := s.Event(n, seq)
	if err != nil || len(list) == 0 {
		return e, nil, false, cmp.Or(err, errNotAsked)
	}
	open, _, lost, err := a.Host.Rules().Reveal(s, n, list)
	if err != nil {
		return e, nil, false, err
	}
	return open[0], list[0].Body, lost, nil
}

// worded sets the effect and the phrase of a question, if this process has the tool that the call was judged by. It does not use the row,
// which can be forged. The words contain no redacted values, because they come from the stored record.
func (a Approvals) worded(q *patterns.Asked, stored []byte) {
	if plan, ok := q.Plan(); ok {
		q.Effect, q.Phrase = plan.Effect(), patterns.SayPlan(plan, a.Host.Catalog(), !bytes.Contains(stored, []byte(redaction.Marker)))
		return
	}
	tool, ok := a.Host.Catalog().Tool(q.Question.Tool)
	if !ok || tool.Asked().Hash() != q.Question.Schema {
		return
	}
	args := q.Question.Args
	if bytes.Contains(stored, []byte(redaction.Marker)) {
		v, _ := journal.DecodeTrusted(stored)
		body, _ := v.(map[string]any)
		object, _ := body["object"].(map[string]any)
		args, _ = object["args"].(map[string]any)
	}
	q.Effect, q.Phrase = tool.Effect, tool.Say(args)
}

// question returns the question of a row from its record, and the answer to it.
func (a Approvals) question(s store.Reader, row asked, keys gateway.Ring, now time.Time) (patterns.Asked, error) {
	e, stored, lost, err := a.event(s, row.Run, row.Seq)
	if err != nil {
		return patterns.Asked{}, err
	}
	q, err := row.question(e, lost, keys, now)
	a.worded(&q, stored)
	if err == nil && q.State == patterns.AskedDecided && q.Given == nil && len(row.Answer) == 0 {
		q.Given = a.recorded(s, row.Run, q.Key)
	}
	return q, err
}

// ListApprovals implements [patterns.Approvals]. It leaves out rows that do not fit the record, because they are forged.
func (a Approvals) ListApprovals(filter patterns.ApprovalFilter) (page patterns.ApprovalPage, err error) {
	if a.Store == nil {
		return page, nil
	}
	since, ap, err := placeOfAsked(filter)
	if err != nil {
		return page, err
	}
	limit, now := min(cmp.Or(filter.Limit, defaultRows), maxAskedRows), a.Store.Now()
	from := store.QuestionPage{Since: since, Approval: ap, All: filter.All, Now: now.UnixMicro()}
	err = a.Store.View(func(s store.Reader) error {
		keys, err := RingIn(s)
		if err != nil {
			return err
		}
		var rows []asked
		err = s.Questions(from, func(row *store.Asked) bool {
			if len(rows) > limit {
				return false
			}
			if (filter.Run == "" || journal.RunID(row.Run) == filter.Run) && (filter.Rule == "" || row.Rule == filter.Rule) {
				rows = append(rows, asked{row})
			}
			return true
		})
		if err != nil {
			return err
		}
		for i, row := range rows {
			if i == limit {
				page.Next = cursorOfAsked(filter, rows[i-1])
				break
			}
			q, err := a.question(s, row, keys, now)
			switch {
			case errors.Is(err, patterns.ErrJournal):
				return err
			case err == nil && (filter.Rule == "" || q.Rule == filter.Rule):
				page.Rows = append(page.Rows, q)
			}
		}
		return nil
	})
	return page, err
}

// defaultRows is how many questions a page has if the filter does not say.
const defaultRows = 20

// maxAskedRows is how many questions a page has at most.
const maxAskedRows = 1000

// cursorOfAsked returns the cursor of the place behind a row. It is valid only for the same filter.
func cursorOfAsked(f patterns.ApprovalFilter, last asked) string {
	return askedCursor(f, last.Since, last.Approval)
}

func askedCursor(f patterns.ApprovalFilter, since, ap int64) string {
	text := fmt.Sprintf("%d.%016x", since, uint64(ap))
	sum := sha256.Sum256(fmt.Appendf(nil, "approvals %s %t %q %q", text, f.All, f.Rule, f.Run))
	return base64.RawURLEncoding.EncodeToString([]byte(text + "." + hex.EncodeToString(sum[:6])))
}

func placeOfAsked(f patterns.ApprovalFilter) (since, ap int64, err error) {
	if f.Cursor == "" {
		return math.MaxInt64, math.MaxInt64, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(f.Cursor)
	parts := strings.Split(string(text), ".")
	if err != nil || len(parts) != 3 {
		return 0, 0, patterns.ErrCursor
	}
	since, err = strconv.ParseInt(parts[0], 10, 64)
	ap, ok := journal.ApprovalNumber("ap_" + parts[1])
	if err != nil || !ok || askedCursor(f, since, ap) != f.Cursor {
		return 0, 0, patterns.ErrCursor
	}
	return since, ap, nil
}

// WaitingApprovals implements [patterns.Approvals].
func (a Approvals) WaitingApprovals() (n int, err error) {
	if a.Store == nil {
		return 0, nil
	}
	err = a.Store.View(func(s store.Reader) error {
		n, err = s.CountOpen(a.Store.Now().UnixMicro())
		return err
	})
	return n, err
}

// Approval implements [patterns.Approvals].
func (a Approvals) Approval(id string) (q patterns.Asked, err error) {
	ap, ok := journal.ApprovalNumber(id)
	if a.Store == nil || !ok {
		return q, patterns.ErrNoApproval
	}
	err = a.Store.View(func(s store.Reader) error {
		q, _, err = a.one(s, ap)
		return err
	})
	return q, err
}

// one returns a question with its row. The error is [patterns.ErrNoApproval], or wraps [patterns.ErrJournal].
func (a Approvals) one(s store.Reader, ap int64) (q patterns.Asked, row asked, err error) {
	if row.Asked, err = s.Question(ap); err != nil {
		return q, row, err
	}
	if row.Asked == nil {
		return q, row, patterns.ErrNoApproval
	}
	keys, err := RingIn(s)
	if err != nil {
		return q, row, err
	}
	switch q, err = a.question(s, row, keys, a.Store.Now()); {
	case errors.Is(err, patterns.ErrJournal):
		return q, row, err
	case err != nil: // the row is forged
		return q, row, patterns.ErrNoApproval
	}
	if q.Schema, err = s.QuestionSchema(ap); err != nil {
		return q, row, err
	}
	if schema, err := catalog.CompileUpstream(q.Schema); err != nil || schema.Hash() != q.Question.Schema {
		q.Schema = nil // it is forged
	}
	if g := q.Given; g != nil && g.Choice == gateway.ChooseEdit && g.Args == nil {
		if recorded := a.recorded(s, row.Run, q.Key); recorded != nil {
			g.Args = recorded.Args
		}
	}
	return q, row, nil
}

// FindApproval implements [patterns.Approvals].
func (a Approvals) FindApproval(beginning string) (string, error) {
	low, high, ok := journal.Bounds(strings.TrimPrefix(beginning, "ap_"))
	if a.Store == nil || !ok {
		return "", patterns.ErrNoApproval
	}
	var ids []string
	err := a.Store.View(func(s store.Reader) error {
		list, err := s.QuestionsBetween(low, high)
		for _, ap := range list {
			ids = append(ids, journal.ApprovalID(ap))
		}
		return err
	})
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", patterns.ErrNoApproval
	case len(ids) > 1:
		return "", &journal.AmbiguousError{IDs: ids}
	}
	return ids[0], nil
}

// StateID implements [patterns.Approvals].
func (a Approvals) StateID() (id string, err error) {
	if a.Store == nil {
		return "", patterns.ErrNoApproval
	}
	err = a.Store.View(func(s store.Reader) error {
		id, err = s.ID()
		return err
	})
	sum := sha256.Sum256([]byte("patterngate state " + id))
	return "sha256:" + hex.EncodeToString(sum[:]), err
}

// OfferSignIn implements [patterns.Approvals].
func (a Approvals) OfferSignIn(token [32]byte, until time.Time) error {
	if a.Store == nil {
		return patterns.ErrNoApproval
	}
	step := store.AddSignIn{Token: token[:], Until: until.UnixMicro(), Now: a.Store.Now().UnixMicro()}
	return a.Store.Do(&store.Change{Steps: []store.Step{step}})
}

// SignIn implements [patterns.Approvals].
func (a Approvals) SignIn(token [32]byte) (used bool, err error) {
	if a.Store == nil {
		return false, nil
	}
	step := store.UseSignIn{Token: token[:], Now: a.Store.Now().UnixMicro()}
	err = a.Store.Do(&store.Change{Steps: []store.Step{step}})
	if store.IsRefused(err) {
		return false, nil
	}
	return err == nil, err
}
