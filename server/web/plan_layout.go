package web

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// How large a drawn plan is, in CSS pixels: it is never made smaller, but scrolled where the window is narrower.
const (
	nodeWidth, nodeHeight = 148, 66
	nodeGap               = 14 // between two nodes of a row
	laneWidth             = 8  // that an edge takes which passes a row
	rowGap                = 24 // between two rows of a level
	levelGap              = 46
	nodesInRow            = 5
	around                = 8 // free around all

	maxNodes  = 400  // subtasks that are drawn; of larger plans only the list is shown
	maxEdges  = 4000 // edges, and places where one passes a row
	untangled = 3    // times that the nodes of a level are put in the order of their neighbours
)

// edge is drawn from who runs before to who runs after, by their places in the plan.
type edge struct {
	from, to int
	part     bool // from is a part of to, which joins what its parts returned
}

// layout says where the nodes of a plan stand and how its edges run, levels from above to below. The zero layout is of no
// plan: there is nothing to draw, or too much.
type layout struct {
	Width, Height int
	at            []point // the upper left corner of each node, by its place in the plan
	// Path data (SVG 2 section 9.3): of dependencies, of parts, of the tips of both.
	solid, dashed, tips string
}

type point struct{ x, y int }

// lane is where edges pass the rows between their ends: all that leave its owner, or all that come to it.
type lane struct {
	owner int
	comes bool
}

// placing is a layout while it is made.
type placing struct {
	layout
	levels [][]int
	edges  []edge
	level  []int
	order  []int          // of a node in its level
	rows   [][]int        // nodes of each row, from left to right
	row    []int          // of each node
	first  []bool         // the row is the first one of a level
	lanes  []map[lane]int // of each row, and where they stand
	top    []int          // of each row
	by     []lane         // of each edge, where it passes rows
	drawn  map[segment]bool
}

// segment is a piece of an edge between two rows, or through one.
type segment struct {
	from, to point
	part     bool
}

// arrange lays out a plan of n nodes; one that is in no level stands below all, and an edge that does not lead to a later
// level is left out. It is false where that is more than is drawn.
func arrange(n int, levels [][]int, edges []edge) (layout, bool) {
	if n == 0 || n > maxNodes || len(edges) > maxEdges {
		return layout{}, false
	}
	p := placing{level: make([]int, n), order: make([]int, n), row: make([]int, n), drawn: map[segment]bool{}}
	p.enter(levels)
	for _, e := range edges {
		if p.level[e.from] < p.level[e.to] {
			p.edges = append(p.edges, e)
		}
	}
	p.untangle()
	p.wrap()
	if !p.passes() {
		return layout{}, false
	}
	p.place()
	p.draw()
	return p.layout, true
}

// enter takes the levels, each node once.
func (p *placing) enter(levels [][]int) {
	rest := make([]int, len(p.level))
	for i := range rest {
		rest[i] = i
	}
	for _, level := range append(slices.Clone(levels), slices.Clone(rest)) {
		var fresh []int
		for _, node := range level {
			if rest[node] >= 0 {
				rest[node], p.level[node] = -1, len(p.levels)
				fresh = append(fresh, node)
			}
		}
		p.levels = append(p.levels, fresh)
	}
}

// untangle puts the nodes of each level in the order of those before and after them, so that few edges cross. Of equal ones
// the order of the plan stands.
func (p *placing) untangle() {
	before, after := make([][]int, len(p.level)), make([][]int, len(p.level))
	for _, e := range p.edges {
		before[e.to], after[e.from] = append(before[e.to], e.from), append(after[e.from], e.to)
	}
	for _, level := range p.levels {
		p.number(level)
	}
	for range untangled {
		for i := range p.levels {
			p.sort(p.levels[i], before)
		}
		for i := len(p.levels) - 1; i >= 0; i-- {
			p.sort(p.levels[i], after)
		}
	}
	for i := range p.levels {
		p.sort(p.levels[i], before)
	}
}

func (p *placing) number(level []int) {
	for at, node := range level {
		p.order[node] = at
	}
}

// sort orders a level by where the neighbours of its nodes stand in theirs; who has none stays where it is.
func (p *placing) sort(level []int, neighbours [][]int) {
	share := func(node int) float64 { return (float64(p.order[node]) + 0.5) / float64(len(p.levels[p.level[node]])) }
	at := make(map[int]float64, len(level))
	for _, node := range level {
		at[node] = share(node)
		if near := neighbours[node]; len(near) > 0 {
			sum := 0.0
			for _, other := range near {
				sum += share(other)
			}
			at[node] = sum / float64(len(near))
		}
	}
	slices.SortStableFunc(level, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	p.number(level)
}

// wrap breaks levels into rows that are about equally long.
func (p *placing) wrap() {
	for _, level := range p.levels {
		if len(level) == 0 {
			continue
		}
		rows := (len(level) + nodesInRow - 1) / nodesInRow
		for i := range rows {
			row := level[i*len(level)/rows : (i+1)*len(level)/rows]
			for _, node := range row {
				p.row[node] = len(p.rows)
			}
			p.rows, p.first = append(p.rows, row), append(p.first, i == 0)
		}
	}
}

// passes finds the lanes of each row: an edge goes with those that leave where it leaves, or with those that come where it
// comes, whichever are more. It is false where lanes are too many.
func (p *placing) passes() bool {
	leave, come := make([]int, len(p.row)), make([]int, len(p.row))
	for _, e := range p.edges {
		if p.row[e.to]-p.row[e.from] > 1 {
			leave[e.from]++
			come[e.to]++
		}
	}
	p.lanes = make([]map[lane]int, len(p.rows))
	steps := 0
	for _, e := range p.edges {
		by := lane{e.from, false}
		if come[e.to] > leave[e.from] {
			by = lane{e.to, true}
		}
		p.by = append(p.by, by)
		for row := p.row[e.from] + 1; row < p.row[e.to]; row++ {
			if p.lanes[row] == nil {
				p.lanes[row] = map[lane]int{}
			}
			p.lanes[row][by] = 0
			if steps++; steps > maxEdges {
				return false
			}
		}
	}
	return true
}

// place gives everything its place: rows below each other, each in the middle.
func (p *placing) place() {
	p.at, p.top = make([]point, len(p.row)), make([]int, len(p.rows))
	middle := make([]int, len(p.row)) // of a node, from the middle of its row as if no edge passed
	for _, row := range p.rows {
		for i, node := range row {
			middle[node] = (2*i + 1 - len(row)) * (nodeWidth + nodeGap) / 2
		}
	}
	widths := make([]int, len(p.rows))
	for i, row := range p.rows {
		widths[i] = p.line(row, p.lanes[i], middle)
		p.Width = max(p.Width, widths[i]+2*around)
	}
	y := around
	for i, row := range p.rows {
		if i > 0 && p.first[i] {
			y += levelGap - rowGap
		}
		p.top[i] = y
		left := (p.Width - widths[i]) / 2
		for _, node := range row {
			p.at[node] = point{p.at[node].x + left, y}
		}
		for l := range p.lanes[i] {
			p.lanes[i][l] += left
		}
		y += nodeHeight + rowGap
	}
	p.Height = y - rowGap + around
}

// line puts a row's nodes and lanes beside each other from 0 on, each lane near its owner, and returns how wide it is.
func (p *placing) line(row []int, lanes map[lane]int, middle []int) int {
	sorted := slices.SortedFunc(maps.Keys(lanes), func(a, b lane) int {
		return cmp.Or(middle[a.owner]-middle[b.owner], a.owner-b.owner, map[bool]int{true: 1}[a.comes]-map[bool]int{true: 1}[b.comes])
	})
	x := 0
	for _, node := range row {
		for len(sorted) > 0 && middle[sorted[0].owner] < middle[node] {
			lanes[sorted[0]] = x + laneWidth/2
			x, sorted = x+laneWidth, sorted[1:]
		}
		x += nodeGap / 2
		p.at[node].x = x
		x += nodeWidth + nodeGap/2
	}
	for _, l := range sorted {
		lanes[l] = x + laneWidth/2
		x += laneWidth
	}
	return x
}

// draw makes the lines of the edges.
func (p *placing) draw() {
	var solid, dashed, tips []byte
	tipped := map[int]bool{}
	for i, e := range p.edges {
		line := &solid
		if e.part {
			line = &dashed
		}
		from := point{p.at[e.from].x + nodeWidth/2, p.at[e.from].y + nodeHeight}
		for row := p.row[e.from] + 1; row < p.row[e.to]; row++ {
			to := point{p.lanes[row][p.by[i]], p.top[row]}
			below := point{to.x, to.y + nodeHeight}
			p.stroke(line, from, to, e.part)
			p.stroke(line, to, below, e.part)
			from = below
		}
		end := point{p.at[e.to].x + nodeWidth/2, p.at[e.to].y}
		p.stroke(line, from, end, e.part)
		if !tipped[e.to] {
			tipped[e.to] = true
			tips = path(tips, "M", end.x, end.y, "l", -4, -8, "h", 8, "z")
		}
	}
	p.solid, p.dashed, p.tips = string(solid), string(dashed), string(tips)
}

// stroke draws a line from one point to another below it, once.
func (p *placing) stroke(line *[]byte, from, to point, part bool) {
	key := segment{from, to, part}
	if p.drawn[key] {
		return
	}
	p.drawn[key] = true
	if *line = path(*line, "M", from.x, from.y); from.x == to.x {
		*line = path(*line, "V", to.y)
		return
	}
	half := (to.y - from.y) / 2
	*line = path(*line, "C", from.x, from.y+half, to.x, to.y-half, to.x, to.y)
}

// path appends commands and numbers of path data.
func path(text []byte, parts ...any) []byte {
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			text = append(text, part...)
		case int:
			text = append(strconv.AppendInt(text, int64(part), 10), ' ')
		}
	}
	return text
}
