package web

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/web/wording"
)

// subtask is one subtask on a plan's page, or one that a replan removed.
type subtask struct {
	look
	ID, Anchor   string
	Headline     string // the beginning of its description
	Description  string
	Tool         string
	Cause        string
	After        fact // the subtasks that it needs
	Facts        []fact
	Blocks       []wording.Block
	Inputs       []input
	MoreInputs   string         // how many inputs are not shown
	Result       *wording.Block // nil: there is none
	Attempts     []attempt
	MoreAttempts string
}

// fact is one fact about a subtask.
type fact struct {
	Name  string
	Text  string
	Links []link
	More  string // how many links are not shown
}

// input is the result of a subtask that another subtask gets.
type input struct {
	Of link
	wording.Block
}

// attempt is one try at a subtask.
type attempt struct {
	Number, Revision   int
	Tool, State, Class string
	Pause, Hash        string
	Notes              []string
}

// These limit how much of a plan its page shows.
const (
	maxSubtasks    = 1000     // and as many removed ones
	maxGoal        = 16 << 10 // characters
	maxDescription = 4000
	maxInput       = 1 << 10 // bytes of one result that is an input
	maxInputs      = 20      // of one subtask, while there is space
	maxAttempts    = 50      // of one subtask, the newest
	maxAnswerShown = 16 << 10
	maxLinks       = 10_000 // in lists of subtasks
	leastLinks     = 3      // of one list when maxLinks is used up
)

// space is how many bytes may still be added to a page.
type space struct{ left int }

// take returns how many of n bytes fit, at most limit.
func (r *space) take(n, limit int) int {
	if r.left < min(n, limit) {
		limit = min(limit, leastCut)
	}
	n = min(n, limit)
	r.left -= n
	return n
}

// text returns a block with an outsider's text.
func (r *space) text(label, text string, limit int) wording.Block {
	b := wording.Block{Label: label}
	shown := ijson.Cut(text, r.take(len(text), limit))
	if b.Text = wording.Lines(shown, limit+1); len(shown) < len(text) {
		b.Cut = wording.CutAt(len(shown), len(text))
	}
	return b
}

// value returns a block with an outsider's JSON.
func (r *space) value(label string, text json.RawMessage, limit int) wording.Block {
	n := r.take(len(text), limit)
	if n == len(text) {
		return wording.Block{Label: label, Text: wording.PrettyJSON(text)}
	}
	return wording.Block{Label: label, Text: wording.BreakLines(text[:n]), Cut: wording.CutAt(n, len(text))}
}

// subtasks holds the subtasks of a plan while its page is made.
type subtasks struct {
	*planNow
	status  map[string]patterns.SubtaskStatus
	room    *space
	shown   int               // rows of the plan
	anchors map[string]string // by id, of the subtasks that are shown
	stands  map[string]bool   // anchors in use
	level   map[string]int
	tries   int // rows of attempts that may still be shown
	names   int // links to subtasks that may still be shown
}

var plainID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

func newSubtasks(now *planNow, status map[string]patterns.SubtaskStatus) *subtasks {
	s := &subtasks{planNow: now, status: status, room: &space{maxSteps}, anchors: map[string]string{}, stands: map[string]bool{}, level: map[string]int{}, tries: maxRows, names: maxLinks}
	s.shown = min(len(now.view.Plan.Subtasks), maxSubtasks)
	for i, row := range now.view.Plan.Subtasks[:s.shown] {
		s.anchor(row.ID, i)
	}
	for i, row := range now.view.Plan.Removed[:min(len(now.view.Plan.Removed), maxSubtasks)] {
		s.anchor(row.ID, maxSubtasks+i)
	}
	for i, ids := range now.view.Levels {
		for _, id := range ids {
			s.level[id] = i
		}
	}
	return s
}

// anchor gives the subtask with an id its place on the page. If the id is not a plain one, the place is named by n.
func (s *subtasks) anchor(id string, n int) {
	switch _, twice := s.anchors[id]; {
	case twice:
	case plainID.MatchString(id):
		s.anchors[id] = "s-" + id
	default:
		s.anchors[id] = fmt.Sprintf("n%d", n)
	}
}

// link returns a link to a subtask. It has no target if the subtask is not on the page.
func (s *subtasks) link(id string) link {
	l := link{Text: wording.Name(id)}
	if anchor, ok := s.anchors[id]; ok {
		l.To = "#" + anchor
	}
	return l
}

// links returns links to subtasks. more says how many are left out.
func (s *subtasks) links(ids []string) (list []link, more string) {
	most := min(maxIDsShown, max(s.names, leastLinks))
	s.names -= min(len(ids), most)
	for i, id := range ids {
		if i == most {
			return list, wording.AndMore(len(ids) - i)
		}
		list = append(list, s.link(id))
	}
	return list, ""
}

// all returns the subtasks in the order of the plan. more says how many are left out.
func (s *subtasks) all() (list []subtask, more string) {
	rows := s.view.Plan.Subtasks
	for _, row := range rows[:s.shown] {
		list = append(list, s.subtask(row))
	}
	if left := len(rows) - s.shown; left > 0 {
		more = wording.NoRoomFor(left)
	}
	return list, more
}

func (s *subtasks) subtask(row patterns.SubtaskRow) subtask {
	t := subtask{look: lookOf(s.status[row.ID]), Tool: wording.Executor(row.Tool), Cause: wording.SubtaskCause(row)}
	s.head(&t, row.ID, row.Description)
	t.fact(wording.WorksOnIt, t.Tool)
	if level, known := s.level[row.ID]; known {
		t.fact(wording.LabelLevel, wording.Of(level+1, len(s.view.Levels)))
	}
	if row.Critical {
		t.fact(wording.LabelCritical, wording.IsCritical)
	}
	for _, l := range []struct {
		name string
		ids  []string
	}{{wording.DependsOn, row.Dependencies}, {wording.PartOf, parent(row)}, {wording.ItsParts, s.parts[row.ID]}, {wording.BlockedBy, row.BlockedBy}} {
		if len(l.ids) > 0 {
			links, more := s.links(l.ids)
			t.Facts = append(t.Facts, fact{Name: l.name, Links: links, More: more})
			if l.name == wording.DependsOn {
				t.After = t.Facts[len(t.Facts)-1]
			}
		}
	}
	if row.Attempts > 0 {
		t.fact(wording.LabelTried, wording.TriedTimes(row.Attempts))
	}
	if len(row.Args) > 0 {
		t.Blocks = append(t.Blocks, s.room.value(wording.LabelArguments, ijson.Canonical(row.Args), maxValue))
	}
	if row.Expect != nil {
		t.Blocks = append(t.Blocks, s.room.value(wording.LabelExpect, ijson.Canonical(row.Expect), maxValue))
	}
	s.takes(&t, row)
	if text, of, ok := s.result(row.ID); ok {
		result := s.room.value(wording.ResultSource(row.Source), text, maxValue)
		if of > 0 {
			result.Cut = wording.KeptInPart(of)
		}
		t.Result = &result
	}
	s.tried(&t, row.ID)
	return t
}

// head adds the data that every subtask has.
func (s *subtasks) head(t *subtask, id, description string) {
	t.ID, t.Headline = wording.Name(id), wording.Clip(description, maxPhrase)
	if anchor := s.anchors[id]; !s.stands[anchor] {
		s.stands[anchor], t.Anchor = true, anchor
	}
	t.Description = s.room.text("", description, 4*maxDescription).Text
}

func (t *subtask) fact(name, text string) { t.Facts = append(t.Facts, fact{Name: name, Text: text}) }

// parent returns a list with the subtask's parent, or nil if there is none.
func parent(row patterns.SubtaskRow) []string {
	if row.Parent == "" {
		return nil
	}
	return []string{row.Parent}
}

// takes adds the results that a subtask gets.
func (s *subtasks) takes(t *subtask, row patterns.SubtaskRow) {
	ids := s.inputs(row)
	for i, id := range ids {
		if i == maxInputs || s.room.left <= 0 {
			t.MoreInputs = wording.More(len(ids)-i, "more input")
			return
		}
		if text, _, ok := s.result(id); ok {
			t.Inputs = append(t.Inputs, input{s.link(id), s.room.value("", text, maxInput)})
		}
	}
}

// tried adds the attempts at a subtask, the newest first.
func (s *subtasks) tried(t *subtask, id string) {
	trace := s.trace[id]
	shown := min(len(trace), maxAttempts, s.tries)
	s.tries -= shown
	if left := len(trace) - shown; left > 0 {
		t.MoreAttempts = wording.More(left, "older attempt")
	}
	for _, a := range slices.Backward(trace[len(trace)-shown:]) {
		row := attempt{Number: a.Attempt, Revision: a.Revision, Tool: wording.Executor(a.Tool), State: "done", Class: "good", Hash: wording.Name(a.ArgsHash), Notes: wording.AttemptNotes(a)}
		if !a.OK {
			row.State, row.Class = "failed", "bad"
			if a.StopReason != "" {
				row.State += " (" + wording.Clip(a.StopReason, 2*wording.MaxName) + ")"
			}
		}
		if a.DelaySeconds != nil {
			row.Pause = wording.Duration(*a.DelaySeconds)
		}
		t.Attempts = append(t.Attempts, row)
	}
}

// removed returns the subtasks that replans removed, the newest first. more says how many are left out.
func (s *subtasks) removed() (list []subtask, more string) {
	rows := s.view.Plan.Removed
	if left := len(rows) - maxSubtasks; left > 0 {
		rows, more = rows[:maxSubtasks], wording.NoRoomFor(left)
	}
	for _, row := range rows {
		t := subtask{look: lookOf(row.Status), Cause: wording.SubtaskCause(patterns.SubtaskRow{StopReason: row.StopReason})}
		s.head(&t, row.ID, row.Description)
		t.fact(wording.RemovedBy, wording.Revision(row.Revision))
		s.tried(&t, row.ID)
		list = append(list, t)
	}
	return list, more
}
