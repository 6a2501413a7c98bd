package web

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/stopreason"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/web/wording"
)

// runPage shows one run: its state, what it did and what it used.
type runPage struct {
	frame
	ID                string
	Known             bool // the run has a page
	Pattern, Kind     string
	Plan              string // id of the run's plan; "": none
	Status, Class     string
	StopReason        string
	Meaning           string
	Answered          string // says that calls returned no result; "": all did, or none was made
	Phase             string
	Doing             string // of a running run
	Principal, Client string
	Parent            string // the run whose call began it; ""
	Began, Ended      wording.Moment
	Took, Waited      string
	Model             string
	Tokens            string
	Budgets           []gauge
	Counted           bool // the used amounts of the budgets are known
	Questions         []question
	Timeline          timeline
	Claims            []wording.Block
	Events            int64
	Head              string
	Broken            string // the fault of the record; "": none, or Check has it
	Check             *check // the result of a check; nil: none was requested
	Demo              bool   // the run uses simulated tools
	Off               switched
}

// gauge is a limit and how much of it is used.
type gauge struct {
	Name        string
	Used, Limit string
	Value, Max  float64
}

// question is one question of the run to people.
type question struct {
	ID, Phrase, State, Class string
	Since                    wording.Moment
}

// check is the result of a check of a record.
type check struct {
	OK    bool
	Lines []string
}

func (p *Pages) run(w http.ResponseWriter, r *http.Request) {
	id, f := r.PathValue("id"), p.frame(r.Context(), "", "runs")
	if runID.MatchString(id) {
		f = p.watching(f, id)
	}
	p.showRun(w, r, f, false)
}

// showRun answers with the page of the run that a request names. It checks the run's record. The page shows the result
// if the record is broken or if asks is set.
func (p *Pages) showRun(w http.ResponseWriter, r *http.Request, f frame, asks bool) {
	id, _, _, ok := p.record(w, r)
	if !ok {
		return
	}
	events, kept, err := p.config.Owner.Kept(id)
	if err != nil {
		p.fault(w, r, err)
		return
	}
	ring, err := p.config.Approvals.Keys()
	if err != nil {
		p.fault(w, r, err)
		return
	}
	page := runPage{frame: f, Off: p.switched(r.Context())}
	story := record.Read(events).Naming(ring).Calling(p.config.People)
	page.story(id, story, events, p.now())
	switch report := record.Check(record.Evidence{RunID: id, Events: events, Length: kept.Head.Events, Row: kept, Ring: ring}); {
	case asks:
		page.Check = checkOf(report)
	case report.Broken != nil:
		page.Broken = wording.Clip(report.Broken.Error(), 200)
	}
	if snapshot, ok := p.config.Owner.Run(id); ok {
		page.stands(snapshot)
	}
	if page.Ended.At != "" {
		page.Watch = "" // the run has ended and cannot change
	}
	asked, err := p.config.Approvals.ListApprovals(patterns.ApprovalFilter{Run: id, All: true, Limit: 100})
	if err != nil {
		p.fault(w, r, err)
		return
	}
	for _, a := range asked.Rows {
		page.Questions = append(page.Questions, questionOf(a, p.now()))
	}
	page.Demo = p.demo(story, asked.Rows...)
	render(w, http.StatusOK, "run.html", page)
}

// record returns the record of the run that a request names. If there is none, it answers the request itself.
func (p *Pages) record(w http.ResponseWriter, r *http.Request) (id string, events []patterns.Event, kept int64, ok bool) {
	id = r.PathValue("id")
	err := patterns.ErrNoRun
	if runID.MatchString(id) {
		if events, kept, err = p.config.Owner.Record(id); err == nil {
			return id, events, kept, true
		}
	}
	p.fault(w, r, err)
	return id, nil, 0, false
}

// story adds the data of the record.
func (page *runPage) story(id string, s record.Story, events []patterns.Event, now time.Time) {
	if s.EndedAt == "" && len(events) > 0 {
		s.Took = max(s.Took, now.Sub(time.UnixMicro(events[0].At)).Seconds())
	}
	page.ID, page.Known, page.Title = id, true, "Run "+id
	page.Pattern, page.Kind, page.Phase, page.Plan = wording.Name(s.Pattern), wording.Name(s.Kind), wording.Phase(s.Phase), s.PlanID()
	page.Status, page.Class = wording.RunStatus(s.Status)
	if row, ok := stopreason.Lookup(s.StopReason); ok && s.StopReason != patterns.Success {
		page.Meaning = row.Meaning
	}
	page.Answered = gateway.AnsweredWords(s.Answered)
	if s.StopReason != patterns.Success {
		page.StopReason = wording.Clip(s.StopReason, 2*wording.MaxName)
	}
	if s.Parent != nil && runID.MatchString(s.Parent.RunID) {
		page.Parent = s.Parent.RunID
	}
	page.Principal, page.Client = wording.Name(s.Principal), wording.Client(s.Client)
	page.Began, page.Ended = wording.ParseMoment(s.CreatedAt, now), wording.ParseMoment(s.EndedAt, now)
	page.Took = wording.Duration(s.Took)
	if s.Waited > 0 {
		page.Waited = wording.Duration(s.Waited)
	}
	switch u := s.Usage; {
	case u.Requests > 0 || u.Model != "" && u.Model != "rules" && u.Model != "caller":
		page.Model = wording.Name(u.Model)
		page.Tokens = wording.Asked(u.Requests, u.InputTokens, u.OutputTokens)
	case s.AskedNone():
		page.Tokens = wording.NoneAsked
	case u.Model == patterns.ByRules:
		page.Tokens = wording.OfflineRules
	}
	page.Budgets, page.Counted = gaugesOf(s.Budget), s.EndedAt != ""
	page.Timeline = draw(s, outputsOf(events))
	if len(s.Arguments) > 0 {
		page.Claims = append(page.Claims, wording.JSONBlock(wording.LabelRequest, s.Arguments, maxClaim))
	}
	page.Events, page.Head = s.Record.Events, s.Record.Head
}

// stands adds the current state of the run. The record has it only while the run does not execute.
func (page *runPage) stands(s patterns.Snapshot) {
	if s.State == patterns.Running {
		page.Status, page.Class = wording.RunStatus(string(patterns.Running))
		page.Phase, page.Doing = wording.Phase(s.Current.Phase), wording.Clip(s.Current.Doing, wording.MaxComment)
	}
	if page.Counted {
		return
	}
	budget := s.Ended.Result.Budget
	if s.Ended.Waiting != nil {
		page.Phase = wording.Phase(s.Ended.Waiting.Phase)
		budget = s.Ended.Waiting.SoFar.Budget
	}
	if len(budget) > 0 {
		page.Budgets, page.Counted = gaugesOf(budget), true
	}
}

// gaugesOf returns budgets, sorted by name.
func gaugesOf(budget map[string]patterns.Spent) []gauge {
	var list []gauge
	for _, key := range slices.Sorted(maps.Keys(budget)) {
		b := budget[key]
		list = append(list, gauge{wording.Name(key), number(b.Used), number(b.Limit), b.Used, max(b.Limit, b.Used, 0.001)})
	}
	return list
}

func questionOf(a patterns.Asked, now time.Time) question {
	q := question{ID: a.ID, Phrase: consequence(a), Since: wording.MomentOf(a.Since, now), State: string(a.State), Class: "bad"}
	switch {
	case a.State == patterns.AskedOpen:
		q.State, q.Class = wording.WaitsForYou, "wait"
	case a.State == patterns.AskedDecided && a.Given != nil:
		if q.State = wording.Decision(string(a.Given.Choice)); a.Given.Choice != gateway.ChooseReject {
			q.Class = "good"
		}
	case a.State == patterns.AskedOver:
		q.State = wording.ClosedUndecided
	}
	return q
}

// receiptPage shows a run on one page, for readers without knowledge of it.
type receiptPage struct {
	frame
	record.Receipt
	ID         string
	Began      wording.Moment
	Over       wording.Moment
	Status     string
	Class      string
	Reason     string // the stop reason
	For        string // the principal
	Proposers  string
	Lines      []receiptCall
	MoreCalls  string // how many calls are not shown
	Turned     []receiptRefusal
	MoreTurned string // how many refusals are not shown
	Spending   []string
	Claims     []wording.Block
	ClientName string
}

// receiptCall is one call of a receipt.
type receiptCall struct {
	Tool, Effect, Status, Class, Judged, Hash string
	At                                        wording.Moment
	Args                                      []argument // long ones are cut
	More                                      string     // how many arguments are not shown
	Values                                    []argument // that made the rule true
	MoreValues                                string
	Approved, Settled                         *said
	Changed                                   []string // by the approver
	Comments                                  []string
}

// said is a person's decision and its time.
type said struct {
	Words string
	At    wording.Moment
}

// receiptRefusal is a proposal that led to no call.
type receiptRefusal struct {
	Text    string
	Until   wording.Moment // the end of its wait
	Asked   *said
	Comment string

	Values     []argument // that made the rule true
	MoreValues string
}

func (p *Pages) receipt(w http.ResponseWriter, r *http.Request) {
	id, events, _, ok := p.record(w, r)
	if !ok {
		return
	}
	ring, err := p.config.Approvals.Keys()
	if err != nil {
		p.fault(w, r, err)
		return
	}
	page := receiptPage{frame: p.frame(r.Context(), wording.ReceiptPage(id), "runs"), ID: id, Receipt: record.Read(events).Naming(ring).Calling(p.config.People).Receipt()}
	page.fill(p.now())
	render(w, http.StatusOK, "receipt.html", page)
}
