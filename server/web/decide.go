package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/web/wording"
)

// channel is the name under which decisions of this package are recorded.
const channel = "page"

// typed is a decision as a person typed it. The passphrase appears in no page, record, log or error.
type typed struct {
	choice     gateway.Choice
	digest     string
	comment    string
	keyID      string
	passphrase string
	fields     url.Values
}

// decide accepts a decision: POST /a/{id}.
func (p *Pages) decide(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r) {
		return
	}
	asked, ok := p.asked(w, r)
	if !ok {
		return
	}
	t, problem := typedOf(r.PostForm)
	if problem != "" {
		p.refuse(w, r, http.StatusBadRequest, problem, wording.NothingDecided)
		return
	}
	d := decision{Pages: p, w: w, r: r, asked: asked, typed: t}
	if asked.State != patterns.AskedOpen || t.digest != asked.Digest || t.digest != asked.Question.Digest() {
		d.refused()
		return
	}
	d.take()
}

// typedOf reads a form. problem says why it is not a form of these pages.
func typedOf(form url.Values) (t typed, problem string) {
	t = typed{
		choice: gateway.Choice(form.Get("decision")), digest: form.Get("digest"), keyID: form.Get("key_id"), passphrase: form.Get("passphrase"),
		comment: strings.ReplaceAll(form.Get("comment"), "\r\n", "\n"), fields: form,
	}
	switch t.choice {
	case gateway.ChooseApprove, gateway.ChooseEdit, gateway.ChooseReject:
	case "":
		return t, wording.NoButton
	default:
		return t, wording.NoSuchDecision
	}
	switch digits, named := strings.CutPrefix(t.digest, "sha256:"); {
	case !named || len(digits) != 64 || strings.Trim(digits, "0123456789abcdef") != "":
		return t, wording.NoDigest
	case !utf8.ValidString(t.comment):
		return t, wording.CommentNotUTF8
	}
	return t, ""
}

// decision holds one decision while it is processed.
type decision struct {
	*Pages
	w     http.ResponseWriter
	r     *http.Request
	asked patterns.Asked
	typed typed
}

// take makes the answer for the call that was shown, signs it if there is a passphrase, and submits it.
func (d *decision) take() {
	ring, err := d.config.Approvals.Keys()
	if err != nil {
		d.fault(d.w, d.r, err)
		return
	}
	form := d.decisionForm(d.asked, ring, d.now())
	args, changed, problems := edited(d.asked.Question.Args, form.Fields, d.typed.fields)
	if refusal := d.judge(form, args, changed, problems); len(refusal) > 0 {
		d.again(http.StatusUnprocessableEntity, form, refusal...)
		return
	}
	if d.typed.choice != gateway.ChooseEdit {
		args = nil
	}
	answer := gateway.Answered(d.asked.ID, d.asked.Question, d.typed.choice, args)
	answer.Comment, answer.At, answer.By = d.typed.comment, d.now().UTC().Truncate(time.Second), d.config.By
	given := patterns.Decided{Answer: answer, Args: args, Channel: channel}
	if d.typed.passphrase != "" {
		if status, refusal := d.sign(&given); refusal != "" {
			if status == http.StatusTooManyRequests {
				d.w.Header().Set("Retry-After", "60")
			}
			d.again(status, form, refusal)
			return
		}
	}
	d.hand(given, form)
}

// judge returns the reasons why a form cannot be accepted, or nil. Nothing of it was recorded.
func (d *decision) judge(form *decisionForm, args map[string]any, changed bool, problems []string) []string {
	t := d.typed
	if n := utf8.RuneCountInString(t.comment); n > gateway.MaxComment {
		return []string{wording.CommentTooLong(n, gateway.MaxComment)}
	}
	if unknown := unknownField(t.fields, form.Fields); unknown != "" {
		return []string{wording.UnknownArgument(unknown)}
	}
	switch {
	case t.choice == gateway.ChooseEdit && !form.Edits:
		return []string{wording.CannotEdit}
	case t.choice == gateway.ChooseEdit && !changed:
		return []string{wording.NothingChanged}
	case t.choice == gateway.ChooseApprove && changed:
		return []string{wording.ChangedButApproved}
	case t.choice == gateway.ChooseEdit && len(problems) > 0:
		return append([]string{wording.UnreadableArguments}, problems...)
	}
	if t.choice == gateway.ChooseEdit {
		if bad := misfits(args, schemaOf(d.asked.Schema)); len(bad) > 0 {
			return append([]string{wording.MisfitArguments}, bad...)
		}
	}
	if form.Signed && t.passphrase == "" { // a rejection too
		return []string{wording.MustSign}
	}
	return nil
}

func unknownField(form url.Values, fields []field) string {
	offered := map[string]bool{}
	for _, f := range fields {
		offered[f.Name] = true
	}
	for key := range form {
		if argument, isField := strings.CutPrefix(key, "edit."); isField && !offered[key] {
			return argument
		}
	}
	return ""
}

// refused submits a decision about a question that is not open, or with another digest than the question has. The store
// refuses and records it. It is no valid answer, because it does not contain the call.
func (d *decision) refused() {
	_, err := d.config.Approvals.Decide(patterns.Decided{Channel: channel, Answer: gateway.Answer{
		Approval: d.asked.ID, Digest: d.typed.digest, Choice: d.typed.choice, By: d.config.By, At: d.now().UTC().Truncate(time.Second),
	}})
	closed, ok := errors.AsType[*patterns.NotOpen](err)
	if !ok {
		closed = &patterns.NotOpen{Why: cmp.Or(d.asked.State.Why(), patterns.WhyChanged), Asked: d.asked}
	}
	d.conflict(closed)
}

// hand submits the answer to the store and shows the outcome.
func (d *decision) hand(given patterns.Decided, form *decisionForm) {
	asked, err := d.config.Approvals.Decide(given)
	closed, isClosed := errors.AsType[*patterns.NotOpen](err)
	bad, isBad := errors.AsType[*patterns.BadEdit](err)
	switch {
	case err == nil:
		if d.config.Decided != nil {
			d.config.Decided(asked)
		}
		http.Redirect(d.w, d.r, "/a/"+d.asked.ID, http.StatusSeeOther)
	case isClosed:
		d.conflict(closed)
	case isBad:
		d.again(http.StatusUnprocessableEntity, form, append([]string{wording.MisfitArguments}, unfit(bad.Problems)...)...)
	case errors.Is(err, patterns.ErrUnsigned):
		d.again(http.StatusUnprocessableEntity, form, wording.MustSign)
	case errors.Is(err, patterns.ErrKeyRemoved):
		d.again(http.StatusUnprocessableEntity, form, wording.KeyRemoved)
	case errors.Is(err, patterns.ErrForged):
		d.again(http.StatusUnprocessableEntity, form, wording.KeyNotEnrolled)
	default:
		d.fault(d.w, d.r, err)
	}
}

// conflict shows the question in its current state, and why the decision was not accepted.
func (d *decision) conflict(closed *patterns.NotOpen) {
	page, err := d.approvalPage(d.r.Context(), closed.Asked)
	if err != nil {
		d.fault(d.w, d.r, err)
		return
	}
	why := map[string]string{
		patterns.WhyChanged: wording.CallChanged,
		patterns.WhyDecided: wording.DecidedBefore,
		patterns.WhyExpired: wording.TooLate,
		patterns.WhyOver:    wording.RunOver,
	}[closed.Why]
	page.Notice, page.Conflict = []string{why, wording.NotAccepted}, true
	render(d.w, http.StatusConflict, "approval.html", page)
}

// again shows the form with the typed values, except the passphrase, and why it was not accepted.
func (d *decision) again(status int, form *decisionForm, why ...string) {
	page, err := d.approvalPage(d.r.Context(), d.asked)
	if err != nil {
		d.fault(d.w, d.r, err)
		return
	}
	form.Comment = wording.Lines(d.typed.comment, gateway.MaxComment)
	for i := range form.Keys {
		form.Keys[i].Chosen = form.Keys[i].ID == d.typed.keyID
	}
	for _, f := range form.Fields {
		form.Open = form.Open || f.Typed != f.Shown
	}
	form.Open = form.Open || d.typed.choice == gateway.ChooseEdit
	page.Form, page.Notice = form, append(why, wording.NothingDecided)
	render(d.w, status, "approval.html", page)
}
