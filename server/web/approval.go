package web

import (
	"context"
	"net/http"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/web/facts"
	"patterngate/server/web/wording"
)

// approvalPage shows one question: first the call, then the facts for the decision, then the claims of others.
type approvalPage struct {
	frame
	ID, State string
	Heading   string       // the consequence, of judged typed values only
	Called    facts.Called // the name that a tool gave for whom the call is about
	Demo      bool         // the tools are simulated
	Tool      string
	Effect    string
	Arguments []argument
	Plan      *askedPlan // the whole plan that the question is about; nil: it is about a call
	Digest    string
	Rule      string
	Why       string       // the rule's reason in words
	RulePath  string       // path of the other questions of this rule; "": the rule has no name that a path can have
	Facts     []facts.Fact // that the rule read
	MoreFacts string
	Seen      []facts.Result // of earlier calls
	MoreSeen  string         // how many more values of these results are in the details; "" for none
	Phase     string
	Pattern   string
	Principal string
	Least     gateway.Assurance
	Since     wording.Moment
	Until     wording.Moment
	Run       string
	RunKnown  bool
	Parent    string // the run whose call began this one; ""

	Form     *decisionForm // of an open one
	Outcome  *outcome      // of one that is closed
	Notice   []string      // why a decision was not accepted
	Conflict bool
	Differs  bool // the run of an open question began with another configuration than this process has loaded

	names []string // of the arguments, as the call has them
	behind
	Done     []doneRow       // what the run has done so far
	MoreDone string          // how many more calls are not shown
	Others   []waitingRow    // other calls of the run that wait
	Claims   []wording.Block // what a client or model wrote
	Client   string          // as it calls itself
}

// decisionForm is the form that a person fills in.
type decisionForm struct {
	Fields  []field
	Left    []string // arguments that cannot be changed here
	Comment string
	Keys    []keyChoice
	Signed  bool // only a signed decision counts
	NoKey   bool // and there is no key on this machine
	Edits   bool // arguments can be changed: the tool's schema is known
	Open    bool // the fields are shown
}

// keyChoice is a key that can sign on this machine.
type keyChoice struct {
	ID, Name string
	Chosen   bool
}

// doneRow is a call that the run has made.
type doneRow struct {
	Tool, Effect, Status, Class, By string
}

func (p *Pages) approval(w http.ResponseWriter, r *http.Request) {
	from := p.watching(frame{}, "").From
	asked, ok := p.asked(w, r)
	if !ok {
		return
	}
	page, err := p.approvalPage(r.Context(), asked)
	if err != nil {
		p.fault(w, r, err)
		return
	}
	if page.Form != nil || page.goesOn(asked) {
		page.Watch, page.From = asked.Question.Run, from
	}
	render(w, http.StatusOK, "approval.html", page)
}

// asked returns the question that a request names. If there is none, it answers the request itself.
func (p *Pages) asked(w http.ResponseWriter, r *http.Request) (patterns.Asked, bool) {
	id := r.PathValue("id")
	err := patterns.ErrNoApproval
	if approvalID.MatchString(id) {
		var asked patterns.Asked
		if asked, err = p.config.Approvals.Approval(id); err == nil {
			return asked, true
		}
	}
	p.fault(w, r, err)
	return patterns.Asked{}, false
}

// approvalPage makes the page of a question in its current state. An error comes from the journal.
func (p *Pages) approvalPage(ctx context.Context, a patterns.Asked) (approvalPage, error) {
	now, schema := p.now(), schemaOf(a.Schema)
	page := approvalPage{
		frame: p.frame(ctx, wording.AskedPage(string(a.State), a.ID), "inbox"), ID: a.ID, State: string(a.State), Heading: consequence(a), Tool: wording.Visible(a.Question.Tool), Effect: wording.Effect(string(a.Effect)),
		Arguments: argumentsOf(a.Question.Args, schema), Digest: a.Digest, Rule: wording.Name(a.Rule), Why: ruleWords(a),
		Phase: wording.Phase(a.Phase), Pattern: wording.Name(a.Pattern), Principal: wording.Name(p.named(a.Principal)), Least: a.Least,
		Plan: planOf(a), Since: wording.MomentOf(a.Since, now), Until: wording.MomentOf(a.Question.Expires, now), Run: wording.Name(a.Question.Run), RunKnown: runID.MatchString(a.Question.Run),
	}
	page.names = namesOf(a.Question.Args, schema)
	if runID.MatchString(a.Parent) {
		page.Parent = a.Parent
	}
	page.RulePath = byRulePath(a.Rule)
	ring, err := p.config.Approvals.Keys()
	if err != nil {
		return page, err
	}
	if a.State == patterns.AskedOpen {
		page.Form = p.decisionForm(a, ring, now)
	} else {
		page.Outcome = p.outcome(a, now)
	}
	others, err := p.config.Approvals.ListApprovals(patterns.ApprovalFilter{Run: a.Question.Run, Limit: 100})
	if err != nil {
		return page, err
	}
	if alike, err := patterns.Alike(p.config.Approvals, a, now); err == nil { // only a hint
		page.alike(alike, now)
	}
	for _, other := range others.Rows {
		if other.ID != a.ID && other.State == patterns.AskedOpen {
			page.Others = append(page.Others, waitingRowOf(other, now))
		}
	}
	if claim, ok := planClaim(a); ok {
		page.Claims = append(page.Claims, claim)
	}
	page.soFar(p, a, ring, now)
	return page, nil
}

// consequence returns the consequence of a call: of its judged typed values only. If a person changed the call, it says that the consequence
// was only proposed.
func consequence(a patterns.Asked) string {
	title := wording.AskedTitle(a.Phrase, a.State == patterns.AskedOpen)
	if a.Given != nil && a.Given.Choice == gateway.ChooseEdit {
		title = wording.ProposedTitle(title)
	}
	return wording.Clip(title, maxPhrase)
}

// goesOn reports whether the run of a decided question has not ended.
func (page *approvalPage) goesOn(a patterns.Asked) bool {
	return a.State == patterns.AskedDecided && page.Outcome != nil && page.Outcome.Ended == nil
}

// soFar adds what the run's record says. If the record cannot be read, it adds nothing.
func (page *approvalPage) soFar(p *Pages, a patterns.Asked, ring gateway.Ring, now time.Time) {
	events, _, err := p.config.Owner.Record(a.Question.Run)
	if err != nil || len(events) == 0 {
		page.known(record.Behind{}, a)
		return
	}
	story := record.Read(events).Naming(ring).Calling(p.config.People)
	page.Demo = p.demo(story, a)
	if began := story.Hashes().Config; page.Form != nil && began != "" && p.config.Loaded != nil {
		loaded := p.config.Loaded()
		page.Differs = loaded != "" && loaded != began
	}
	of := story.Behind(a.Key)
	page.known(of, a)
	page.read(of, a)
	calls := story.Receipt().Calls
	for _, call := range calls[:min(len(calls), maxRows)] {
		row := doneRow{Tool: wording.Name(call.Tool), Effect: wording.Effect(call.Effect)}
		row.Status, row.Class = wording.Call(call)
		if call.Approved != nil {
			row.By = wording.DecidedBy(*call.Approved)
		}
		page.Done = append(page.Done, row)
	}
	if more := len(calls) - len(page.Done); more > 0 {
		page.MoreDone = wording.MoreInExport(more, "more call")
	}
	if len(story.Arguments) > 0 {
		page.Claims = append(page.Claims, wording.JSONBlock(wording.LabelRequest, story.Arguments, maxClaim))
	}
	page.Client = wording.Client(story.Client)
	if page.Outcome != nil {
		page.Outcome.goOn(story, a, now)
	}
}

// known adds the facts that stand beside the buttons, and who wrote each argument.
func (page *approvalPage) known(of record.Behind, a patterns.Asked) {
	list, left := facts.Read(a.Values, of)
	if page.Facts = list; left > 0 {
		page.MoreFacts = wording.MoreInExport(left, "more value")
	}
	if page.Seen, left = facts.Observed(of); left > 0 {
		page.MoreSeen = wording.MoreBelow(left)
	}
	if page.Plan == nil {
		page.Called = facts.Names(a.Phrase, a.Question.Args, of)
	}
	for i, name := range page.names {
		_, isText := a.Question.Args[name].(string)
		page.Arguments[i].By = facts.Author(name, isText, of)
	}
}

// decisionForm returns an empty form for an open question.
func (p *Pages) decisionForm(a patterns.Asked, ring gateway.Ring, now time.Time) *decisionForm {
	form := &decisionForm{Signed: ring.Counts(now) || a.Least.AtLeast(gateway.SignedAssurance)}
	if schema := schemaOf(a.Schema); schema != nil {
		form.Edits = true
		form.Fields, form.Left = fieldsOf(a.Question.Args, schema)
	}
	for _, id := range p.keyFiles() {
		if key, known := ring.Find(id); known && key.Counts(now) {
			form.Keys = append(form.Keys, keyChoice{ID: key.ID, Name: wording.Name(key.Name)})
		}
	}
	form.NoKey = form.Signed && len(form.Keys) == 0
	return form
}

func (p *Pages) keyFiles() []string {
	if p.config.KeyFiles == nil || p.config.Open == nil {
		return nil
	}
	return p.config.KeyFiles()
}

// maxSaid is the greatest length of a rule's text on a page, in characters.
const maxSaid = 300
