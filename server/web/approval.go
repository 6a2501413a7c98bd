package web

import (
	"context"
	"net/http"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/stopreason"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/web/wording"
)

// approvalPage shows one question: first the call, then the facts for the decision, then the claims of others.
type approvalPage struct {
	frame
	ID, State  string
	Phrase     string
	Tool       string
	Effect     string
	Arguments  []argument
	Plan       *askedPlan // the whole plan that the question is about; nil: it is about a call
	Digest     string
	ArgsHash   string
	Rule       string
	Why        string     // the rule's reason in words
	RulePath   string     // path of the other questions of this rule; "": the rule has no name that a path can have
	Values     []argument // that made the rule true
	MoreValues string
	Phase      string
	Pattern    string
	Principal  string
	Least      gateway.Assurance
	Since      wording.Moment
	Until      wording.Moment
	Run        string
	RunKnown   bool
	Parent     string // the run whose call began this one; ""

	Form     *decisionForm // of an open one
	Outcome  *outcome      // of one that is closed
	Notice   []string      // why a decision was not accepted
	Conflict bool

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
	asked, ok := p.asked(w, r)
	if !ok {
		return
	}
	page, err := p.approvalPage(r.Context(), asked)
	if err != nil {
		p.fault(w, r, err)
		return
	}
	if page.Form != nil || asked.State == patterns.AskedDecided && !asked.Spent {
		page.frame = p.watching(page.frame, asked.Question.Run)
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
		frame: p.frame(ctx, stateTitle(a.State)+" "+a.ID, "inbox"),
		ID:    a.ID, State: string(a.State), Phrase: wording.Clip(a.Phrase, maxPhrase), Tool: wording.Visible(a.Question.Tool), Effect: wording.Effect(string(a.Effect)),
		Arguments: argumentsOf(a.Question.Args, schema), Digest: a.Digest, ArgsHash: a.ArgsHash, Rule: wording.Name(a.Rule), Why: ruleWords(a),
		Phase: wording.Phase(a.Phase), Pattern: wording.Name(a.Pattern), Principal: wording.Name(p.named(a.Principal)), Least: a.Least,
		Plan: planOf(a), Since: wording.MomentOf(a.Since, now), Until: wording.MomentOf(a.Question.Expires, now), Run: wording.Name(a.Question.Run), RunKnown: runID.MatchString(a.Question.Run),
	}
	if runID.MatchString(a.Parent) {
		page.Parent = a.Parent
	}
	page.RulePath = byRulePath(a.Rule)
	page.Values, page.MoreValues = valuesOf(record.ValuesOf(a.Values))
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
	page.soFar(p, a, ring)
	return page, nil
}

// soFar adds what the run's record says. If the record cannot be read, it adds nothing.
func (page *approvalPage) soFar(p *Pages, a patterns.Asked, ring gateway.Ring) {
	events, _, err := p.config.Owner.Record(a.Question.Run)
	if err != nil || len(events) == 0 {
		return
	}
	story := record.Read(events).Naming(ring).Calling(p.config.People)
	page.read(story, a)
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
		page.MoreDone = "And " + wording.Count(more, "more call") + ". They are in the export of the run."
	}
	if len(story.Arguments) > 0 {
		page.Claims = append(page.Claims, wording.JSONBlock("What the run was asked to do", story.Arguments, maxClaim))
	}
	page.Client = wording.Client(story.Client)
	if page.Outcome != nil {
		page.Outcome.goOn(story, a.Given)
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

// outcome describes how a question ended that is no longer open.
type outcome struct {
	State, Title, Class string
	Lines               []string
	By, Channel         string
	Assurance           gateway.Assurance
	Honest              string // what the assurance means
	At                  wording.Moment
	Comment             string
	Changes             []change
	Kept                bool // the changed arguments are known
	Edited              bool
	Goes                string // how the run continues by itself
	Continue            string // the line for the chat; "" if there is nothing to continue
	Resume              string // the command, if this server does not continue runs; otherwise ""
}

func (p *Pages) outcome(a patterns.Asked, now time.Time) *outcome {
	o := &outcome{}
	switch a.State {
	case patterns.AskedExpired:
		o.State, o.Title, o.Class = "expired", "Nobody decided in time", "bad"
		o.Lines = []string{"Silence means no: the call was not made, and this question cannot be answered any more."}
	case patterns.AskedOver:
		o.State, o.Title, o.Class = "closed", "The run ended without a decision", "bad"
		o.Lines = []string{"The call was not made, and this question cannot be answered any more."}
	case patterns.AskedDecided:
		o.decided(a, now)
		o.By = wording.Name(p.named(o.By))
		if _, whole := a.Plan(); whole {
			o.aboutPlan(a)
		}
	default:
		o.State, o.Title, o.Class = "closed", "This question is not open", "bad"
	}
	if a.Given != nil && runID.MatchString(a.Question.Run) {
		o.Continue, o.Goes = "continue "+a.Question.Run, "The run goes on by itself."
		if a.Given.Choice == gateway.ChooseReject {
			o.Goes = "The run takes this up by itself: it stops, or goes on without the call, as its pattern has it."
		}
		if !a.Spent && (p.config.Alive == nil || !p.config.Alive()) {
			o.Resume = "patterngate runs resume " + a.Question.Run
		}
	}
	return o
}

// goOn adds how the run continues, from its record.
func (o *outcome) goOn(s record.Story, g *patterns.Given) {
	switch {
	case g == nil:
	case s.EndedAt != "":
		o.Goes, o.Resume = "The run has ended.", ""
	case g.Choice == gateway.ChooseReject && s.Kind == string(gateway.Supervisor):
		o.Goes = "The run stops here: it takes the no up by itself."
	}
}

// decided adds a person's decision.
func (o *outcome) decided(a patterns.Asked, now time.Time) {
	if a.Given == nil {
		o.State, o.Title, o.Class = "decided", "Decided", "bad"
		o.Lines = []string{"What was decided is not recorded in a form that counts."}
		return
	}
	g := *a.Given
	o.State = wording.Decision(string(g.Choice))
	o.By, o.Channel, o.Assurance, o.Honest = wording.Name(g.By), wording.Name(g.Channel), g.Assurance, honest(g)
	o.At, o.Comment = wording.MomentOf(g.At, now), wording.Lines(g.Comment, wording.MaxComment)
	switch g.Choice {
	case gateway.ChooseApprove:
		o.Title, o.Class = "Approved", "good"
		o.Lines = []string{"Exactly this call may run, once."}
	case gateway.ChooseEdit:
		o.Title, o.Class, o.Edited, o.Kept = "Approved with changes", "good", true, g.Args != nil
		o.Lines = []string{"The call with the changed arguments is judged by the policy again before it may run, once."}
		if o.Kept {
			o.Changes = changesOf(a.Question.Args, g.Args, schemaOf(a.Schema))
		}
	case gateway.ChooseReject:
		o.Title, o.Class = "Rejected", "bad"
		o.Lines = []string{"This call does not run."}
	}
	if a.Spent {
		o.Lines = append(o.Lines, "The call was begun, and the approval is used up.")
	}
}

// aboutPlan describes a decision about a whole plan.
func (o *outcome) aboutPlan(a patterns.Asked) {
	if a.Given == nil {
		return
	}
	o.Lines = []string{"Nothing of this plan runs."}
	if a.Given.Choice == gateway.ChooseApprove {
		o.Lines = []string{"Each of these steps may run, once, as it stands here."}
	}
	if a.Spent {
		o.Lines = append(o.Lines, "The first step was begun.")
	}
}

// honest says what an assurance proves.
func honest(g patterns.Given) string {
	switch g.Assurance {
	case gateway.SignedAssurance:
		return "Signed with approver key " + wording.Name(g.Key) + ": whoever decided had the key file and its passphrase. \"patterngate runs verify\" checks the signature."
	case gateway.UserAssurance:
		return "Any program of the same user of this computer could have decided this, also an agent with a shell. Nothing proves that it was a person; an approver key does (\"patterngate approvals enroll\")."
	}
	return "Nothing proves that a person decided this."
}

func stateTitle(s patterns.AskedState) string {
	switch s {
	case patterns.AskedOpen:
		return "Decide"
	case patterns.AskedDecided:
		return "Decided"
	case patterns.AskedExpired:
		return "Expired"
	}
	return "Closed"
}

// ruleWords says why the policy asks: in the words of the rule or the registry, or else in words that are true for
// every rule.
func ruleWords(a patterns.Asked) string {
	if a.Text != "" {
		if a.Reason != "" && a.Reason != a.Rule {
			return wording.Clip(a.Text, maxSaid) + " (" + wording.Name(a.Reason) + ")"
		}
		return wording.Clip(a.Text, maxSaid)
	}
	for _, reason := range []string{a.Reason, "supervisor_block:" + a.Rule, "policy_block:" + a.Rule} {
		if row, ok := stopreason.Lookup(reason); ok && row.Name == reason {
			return row.Meaning
		}
	}
	if _, whole := a.Plan(); whole {
		return "The configuration wants a person to approve such a plan before anything of it runs."
	}
	if a.Reason == a.Rule {
		return "The policy wants a person for this call."
	}
	return wording.Clip(a.Reason, wording.MaxComment)
}

// maxSaid is the greatest length of a rule's text on a page, in characters.
const maxSaid = 300
