package web

import (
	"patterngate/patterns"
	"patterngate/server/web/geometry"
	"patterngate/server/web/wording"
)

// graph is the drawing of a plan.
type graph struct {
	Width, Height       int
	Solid, Dashed, Tips string
	Nodes               []node
	Levels              int
}

// node is a subtask in the drawing.
type node struct {
	look
	X, Y     int
	To       string // link to its section
	ID, Tool string
	Does     string // the beginning of the description
	Title    string // the description, shown when the mouse is over the node; "": Does is whole
}

// These are the numbers of letters that fit in a node.
const (
	lettersOfID   = 19
	lettersOfDoes = 25
	lettersOfTool = 24
)

// graph draws the plan. It returns nil if the plan is too large to draw.
func (s *subtasks) graph() *graph {
	rows := s.view.Plan.Subtasks
	if len(rows) != len(s.rows) { // two subtasks with one id; no valid plan has that
		return nil
	}
	levels := make([][]int, len(s.view.Levels))
	for i, ids := range s.view.Levels {
		for _, id := range ids {
			if at, known := s.rows[id]; known {
				levels[i] = append(levels[i], at)
			}
		}
	}
	l, ok := geometry.Arrange(len(rows), levels, s.edges())
	if !ok {
		return nil
	}
	g := &graph{Width: l.Width, Height: l.Height, Solid: l.Solid, Dashed: l.Dashed, Tips: l.Tips, Levels: len(levels)}
	for i, row := range rows {
		n := node{look: lookOf(s.status[row.ID]), X: l.At[i].X, Y: l.At[i].Y, To: s.link(row.ID).To, ID: wording.Clip(row.ID, lettersOfID), Tool: wording.Clip(wording.Executor(row.Tool), lettersOfTool), Does: wording.Clip(row.Description, lettersOfDoes)}
		if whole := wording.Clip(row.Description, maxPhrase); whole != n.Does {
			n.Title = whole
		}
		g.Nodes = append(g.Nodes, n)
	}
	return g
}

// edges returns the arrows that lead from dependencies and parts to the subtasks that need them.
func (s *subtasks) edges() []geometry.Edge {
	var list []geometry.Edge
	add := func(from string, row patterns.SubtaskRow, part bool) {
		if at, known := s.rows[from]; known {
			list = append(list, geometry.Edge{From: at, To: s.rows[row.ID], Part: part})
		}
	}
	for _, row := range s.view.Plan.Subtasks {
		for _, id := range row.Dependencies {
			add(id, row, false)
		}
		for _, id := range s.parts[row.ID] {
			add(id, row, true)
		}
	}
	return list
}

// look shows a subtask's status by a word, a shape and a colour. Each of the three is enough to tell the status.
type look struct {
	Word, Class string
	Shape       string // path data within 16 x 16
}

// statusLooks lists the statuses in the order of the page's counts. It splits off two kinds of pending subtasks: those that can
// start, and those that wait for the caller.
var statusLooks = []struct {
	status patterns.SubtaskStatus
	look
}{
	{patterns.SubtaskCompleted, look{wordCompleted, "good", "M2 8.5l4 4 8-9"}},
	{patterns.SubtaskRunning, look{wordRunning, "busy", "M5 3l8 5-8 5z"}},
	{waitsForCaller, look{wordWaits, "wait", "M4 2h8L8 8l4 6H4l4-6z"}},
	{isReady, look{wordReady, "", "M8 2a6 6 0 1 0 .01 0zM8 7v2"}},
	{patterns.SubtaskPending, look{wordPending, "", "M8 2a6 6 0 1 0 .01 0z"}},
	{patterns.SubtaskBlocked, look{wordBlocked, "idle", "M8 2a6 6 0 1 0 .01 0zM4 12l8-8"}},
	{patterns.SubtaskSkipped, look{wordSkipped, "idle", "M3 3l5 5-5 5M8 3l5 5-5 5"}},
	{patterns.SubtaskFailed, look{wordFailed, "bad", "M3 3l10 10M13 3L3 13"}},
	{patterns.SubtaskInDoubt, look{wordInDoubt, "bad", "M5 6a3 3 0 1 1 4 2.8c-.8.4-1 .9-1 1.7M8 13v1"}},
}

// These are the statuses on a page for pending subtasks with more details.
const (
	isReady        patterns.SubtaskStatus = "ready"
	waitsForCaller patterns.SubtaskStatus = "waits"
)

// lookOf returns the look of a status. An unknown status gets its own name as the word.
func lookOf(status patterns.SubtaskStatus) look {
	for _, l := range statusLooks {
		if l.status == status {
			return l.look
		}
	}
	return look{Word: wording.Name(string(status)), Class: "idle", Shape: "M3 8h10"}
}
