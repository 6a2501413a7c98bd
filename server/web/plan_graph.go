package web

import (
	"patterngate/patterns"
	"patterngate/server/web/geometry"
)

// graph is a plan as it is drawn.
type graph struct {
	Width, Height       int
	Solid, Dashed, Tips string
	Nodes               []node
	Levels              int
}

// node is a subtask as it is drawn.
type node struct {
	look
	X, Y     int
	To       string // its section
	ID, Tool string
	Title    string // for who points at it
}

// lettersOfID and lettersOfTool are as many as a node has room for.
const (
	lettersOfID   = 14
	lettersOfTool = 19
)

// graph draws the plan; nil where that is more than is drawn.
func (s *subtasks) graph() *graph {
	rows := s.view.Plan.Subtasks
	if len(rows) != len(s.rows) { // two of one id, which no plan of ours has
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
		n := node{look: lookOf(s.status[row.ID]), X: l.At[i].X, Y: l.At[i].Y, To: s.link(row.ID).To, ID: clip(row.ID, lettersOfID), Tool: clip(toolWords(row.Tool), lettersOfTool)}
		n.Title = name(row.ID) + ": " + clip(row.Description, 200)
		g.Nodes = append(g.Nodes, n)
	}
	return g
}

// edges lead from dependencies and parts to who waits for them.
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
