package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/web/geometry"
	"patterngate/server/web/wording"
)

// timeline is the drawing of a run. It has the phases on one line, then a row for each event, grouped by branch. All
// use one scale of time.
type timeline struct {
	Phases []phase
	Gaps   []geometry.Bar
	Groups []group
	Steps  int
	Left   int  // rows that are not drawn
	Short  bool // some waits are drawn shorter than they were
	Wide   int
}

// phase is one phase and its times.
type phase struct {
	Name  string
	Bars  []geometry.Bar
	Took  string
	Class string
}

// group holds rows that follow each other in one branch.
type group struct {
	Name  string // of the branch; "" for the run itself
	To    string // link to the subtask on the plan's page; "": the branch has none
	Bar   geometry.Bar
	Took  string
	Steps []step
}

// step is one event of the run.
type step struct {
	Seq          int64
	Kind, Title  string
	Phase        string
	State, Class string
	Effect       string
	By           string // who proposed it; "": nobody is known
	Attempt      int
	After, Took  string
	Bar          geometry.Bar
	Facts        []string
	Values       []argument // that made the rule true
	MoreValues   string
	Comment      string
	Blocks       []wording.Block
	Hash         string
	Child        string // the run that the call began; ""
	Waits        bool
}

// draw makes the timeline of a story. outputs are by key, as [outputsOf] returns them.
func draw(s record.Story, outputs map[string]json.RawMessage) timeline {
	d := drawing{story: s, scale: geometry.NewScale(s), outputs: outputs, authors: s.Authors(), plan: s.PlanID(), room: maxSteps, at: map[string]int{}}
	d.Wide = geometry.TimelineWidth
	for i, row := range s.Rows {
		if i == maxRows {
			d.Left = len(s.Rows) - maxRows
			break
		}
		d.add(i, row)
	}
	d.branches()
	d.phases()
	d.Gaps, d.Short = d.scale.Gaps(), d.scale.Short
	return d.timeline
}

// drawing is a timeline while it is made.
type drawing struct {
	timeline
	story   record.Story
	scale   geometry.Scale
	outputs map[string]json.RawMessage
	authors []string       // of the rows, see [record.Story.Authors]
	plan    string         // id of the run's plan; "": none
	room    int            // bytes of blocks that are left
	at      map[string]int // the group of a branch
	alone   int            // the current group of the run itself, plus one; 0: none
}

// add adds a row to the group of its branch. A row of the run itself comes after the rows before it.
func (d *drawing) add(i int, row record.Row) {
	branch := row.Branch()
	at, known := d.at[branch]
	if branch == "" {
		at, known = d.alone-1, d.alone > 0
	}
	if !known {
		at = len(d.Groups)
		d.Groups = append(d.Groups, group{Name: wording.Name(branch), To: d.subtask(row)})
		d.at[branch] = at
	}
	if d.alone = 0; branch == "" {
		d.alone = at + 1
	}
	d.Groups[at].Steps = append(d.Groups[at].Steps, d.step(i, row))
	d.Steps++
}

// subtask returns the link to the subtask of a row's branch, or "" if there is none.
func (d *drawing) subtask(row record.Row) string {
	if id := row.Subtask(); d.plan != "" && plainID.MatchString(id) {
		return "/p/" + d.plan + "#s-" + id
	}
	return ""
}

func (d *drawing) step(i int, row record.Row) step {
	from, to := geometry.Interval(row, d.story.Took)
	s := step{
		Seq: row.Seq, Kind: wording.RowKind(row.Kind), Title: wording.RowTitle(row), Phase: wording.Phase(row.Phase), Effect: wording.Effect(row.Effect), Attempt: row.Attempt,
		After: wording.Duration(row.After), Facts: wording.RowFacts(row), Comment: wording.Lines(row.Comment, wording.MaxComment), Hash: wording.Name(row.ArgsHash), Waits: row.Waits(),
	}
	if runID.MatchString(row.Child) {
		s.Child = row.Child
	}
	if edits := d.story.Revisions(i); len(edits) > 0 {
		if row.Kind == record.Judged {
			s.Title = wording.ChangedBy(edits, row.Rule)
		}
		s.Facts = append(s.Facts, wording.Changes(edits)...)
	}
	s.By = wording.ProposedBy(d.authors[i])
	s.because(row.Because)
	s.State, s.Class = wording.RowState(row)
	if row.Took != nil {
		s.Took = wording.Duration(*row.Took)
	} else if row.State == record.Open && row.Waits() {
		s.Took = wording.SoFar(to - from)
	}
	class := s.Class
	switch {
	case row.Waits():
		class = "wait"
	case class == "":
		class = "idle"
	}
	s.Bar = d.scale.Bar(from, to, class)
	d.block(&s, wording.InputLabel(row.Kind), row.Input())
	d.block(&s, wording.OutputLabel(row.Kind), d.outputs[row.Key])
	return s
}

// block adds a recorded value, as far as the page has space for it.
func (d *drawing) block(s *step, label string, text json.RawMessage) {
	if len(text) == 0 {
		return
	}
	limit := maxValue
	if d.room < len(text) {
		limit = leastCut
	}
	d.room -= min(limit, len(text))
	s.Blocks = append(s.Blocks, wording.JSONBlock(label, text, limit))
}

// branches draws the time of each branch, from its first row to its last.
func (d *drawing) branches() {
	first, last := map[string]float64{}, map[string]float64{}
	for _, row := range d.story.Rows {
		from, to := geometry.Interval(row, d.story.Took)
		branch := wording.Name(row.Branch())
		if at, known := first[branch]; !known || from < at {
			first[branch] = from
		}
		last[branch] = max(last[branch], to)
	}
	for i, g := range d.Groups {
		if g.Name == "" {
			continue
		}
		d.Groups[i].Bar = d.scale.Bar(first[g.Name], last[g.Name], "branch")
		d.Groups[i].Took = wording.Duration(last[g.Name] - first[g.Name])
	}
}

// phases draws the times of each phase and says how long it took. Time in which several calls ran at once counts once.
func (d *drawing) phases() {
	index, spent := map[string]int{}, [][]stretch{}
	for _, row := range d.story.Rows {
		if row.Phase == "" || row.Took == nil && row.State != record.Open {
			continue
		}
		i, known := index[row.Phase]
		if !known {
			if i = len(d.Phases); i == maxPhases {
				continue // a run has at most five; only a damaged record has more
			}
			index[row.Phase] = i
			d.Phases = append(d.Phases, phase{Name: wording.Phase(row.Phase), Class: fmt.Sprintf("p%d", i%6)})
			spent = append(spent, nil)
		}
		from, to := geometry.Interval(row, d.story.Took)
		spent[i] = append(spent[i], stretch{from, to})
		d.Phases[i].draw(d.scale.Bar(from, to, ""))
	}
	for i := range d.Phases {
		d.Phases[i].Took = wording.Duration(together(spent[i]))
	}
}

// stretch is a period of time, in seconds after the start.
type stretch struct{ from, to float64 }

// together returns the time that at least one of the stretches covers, in seconds.
func together(list []stretch) (sum float64) {
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	end := math.Inf(-1)
	for _, s := range list {
		if s.to > end {
			sum += s.to - max(s.from, end)
			end = s.to
		}
	}
	return sum
}

const maxPhases = 12

// draw adds a bar. A bar that touches the newest one is joined to it.
func (p *phase) draw(b geometry.Bar) {
	if n := len(p.Bars); n > 0 {
		last := &p.Bars[n-1]
		if b.X >= last.X && b.X <= last.X+last.Width+geometry.MinBarWidth {
			last.Width = max(last.Width, b.X+b.Width-last.X)
			return
		}
	}
	p.Bars = append(p.Bars, b)
}

// Words describes the line of phases in words.
func (t timeline) Words() string {
	parts := make([]string, len(t.Phases))
	for i, p := range t.Phases {
		parts[i] = p.Name + " " + p.Took
	}
	return wording.PhaseLine(parts)
}

// outputsOf returns the recorded answers of a record's effects by key. Of several it returns the first, as a story
// does.
func outputsOf(events []patterns.Event) map[string]json.RawMessage {
	outputs := map[string]json.RawMessage{}
	for _, e := range events {
		if _, known := outputs[e.Key]; known || e.Kind != patterns.OutcomeEvent {
			continue
		}
		if body, err := patterns.DecodeBody(e); err == nil {
			outputs[e.Key] = body.(*patterns.OutcomeBody).Output
		}
	}
	return outputs
}

// because adds what a row says about its rule, except the name.
func (s *step) because(b record.Because) {
	if b.Said != "" {
		s.Facts = append(s.Facts, wording.RuleSays(wording.Clip(b.Said, maxSaid)))
	}
	if words := wording.Passes(b.Passes); words != "" {
		s.Facts = append(s.Facts, wording.Capitalize(words))
	}
	if b.Earlier {
		s.Facts = append(s.Facts, wording.EarlierRunsRead)
	}
	s.Values, s.MoreValues = valuesOf(b.Read())
}
