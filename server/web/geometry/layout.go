package geometry

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// Sizes of a drawn plan in CSS pixels. The page never shrinks the drawing: in a narrow window it scrolls.
const (
	nodeWidth, nodeHeight = 190, 84
	nodeGap               = 14 // between two nodes of a row
	laneWidth             = 8  // of an edge that passes a row
	rowGap                = 24 // between two rows of one level
	levelGap              = 46 // between two levels
	nodesInRow            = 5
	around                = 8 // margin on each side

	maxNodes  = 400  // larger plans are not drawn
	maxEdges  = 4000 // bounds the edges, and also the places where an edge passes a row
	untangled = 3    // how often all levels are sorted, downward and upward
)

// Edge leads from one subtask of a plan to a subtask that runs after it. Both are given by their index in the plan.
type Edge struct {
	From, To int
	Part     bool // From is a part of To, which joins the results of its parts; false: To depends on From
}

// Layout holds the positions of a plan's nodes and the lines of its edges, in CSS pixels. Levels follow each other from top to
// bottom. The zero Layout is an empty drawing.
type Layout struct {
	Width, Height int
	At            []Point // the upper left corner of each node, by its index in the plan
	// Path data (SVG 2 section 9.3). Solid has the lines of dependencies, Dashed those of parts, Tips the arrowheads of both.
	Solid, Dashed, Tips string
}

// Point is a position in CSS pixels from the upper left corner of the drawing.
type Point struct{ X, Y int }

// lane is where edges pass the rows between their ends. Edges that leave the same node share a lane, or edges that enter the
// same node do.
type lane struct {
	owner int
	comes bool // the edges enter owner; false: they leave it
}

// placing holds a Layout while [Arrange] computes it.
type placing struct {
	Layout
	levels [][]int
	edges  []Edge
	level  []int
	order  []int            // the position of each node in its level
	rows   [][]int          // the nodes of each row, from left to right
	row    []int            // the row of each node
	first  []bool           // whether each row is the first of its level
	lanes  []map[lane]int   // the lanes of each row, with their x
	top    []int            // the y of each row
	by     []lane           // the lane of each edge
	drawn  map[segment]bool // lines that are drawn already
}

// segment is the line of an edge between two rows, or through one row.
type segment struct {
	from, to Point
	part     bool
}

// Arrange lays out a plan of n nodes. levels holds the indices of the nodes that run together, first level first. A node that
// is in no level is placed below all others. An edge that does not lead to a later level is left out. Arrange returns false
// if the plan is empty or too large to draw: more than 400 nodes, more than 4,000 edges, or more than 4,000 places where an
// edge passes a row.
func Arrange(n int, levels [][]int, edges []Edge) (Layout, bool) {
	if n == 0 || n > maxNodes || len(edges) > maxEdges {
		return Layout{}, false
	}
	p := placing{level: make([]int, n), order: make([]int, n), row: make([]int, n), drawn: map[segment]bool{}}
	p.enter(levels)
	for _, e := range edges {
		if p.level[e.From] < p.level[e.To] {
			p.edges = append(p.edges, e)
		}
	}
	p.untangle()
	p.wrap()
	if !p.passes() {
		return Layout{}, false
	}
	p.place()
	p.draw()
	return p.Layout, true
}

// enter stores the levels. A node that is in several levels stays in the first one.
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

// untangle sorts the nodes of each level by the positions of their neighbours in other levels, so that few edges cross. Nodes
// that compare equal keep their order.
func (p *placing) untangle() {
	before, after := make([][]int, len(p.level)), make([][]int, len(p.level))
	for _, e := range p.edges {
		before[e.To], after[e.From] = append(before[e.To], e.From), append(after[e.From], e.To)
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

// number stores the position of each node of a level.
func (p *placing) number(level []int) {
	for at, node := range level {
		p.order[node] = at
	}
}

// sort orders a level by the mean position of each node's neighbours in their own levels. A node without neighbours keeps its
// position.
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

// wrap splits each level into rows of about equal length, at most nodesInRow nodes each.
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

// passes finds the lanes of each row. A long edge shares a lane with the long edges that leave its first node, or with those
// that enter its last node, whichever are more. passes returns false if edges pass rows more than maxEdges times.
func (p *placing) passes() bool {
	leave, come := make([]int, len(p.row)), make([]int, len(p.row))
	for _, e := range p.edges {
		if p.row[e.To]-p.row[e.From] > 1 {
			leave[e.From]++
			come[e.To]++
		}
	}
	p.lanes = make([]map[lane]int, len(p.rows))
	steps := 0
	for _, e := range p.edges {
		by := lane{e.From, false}
		if come[e.To] > leave[e.From] {
			by = lane{e.To, true}
		}
		p.by = append(p.by, by)
		for row := p.row[e.From] + 1; row < p.row[e.To]; row++ {
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

// place computes all positions. Rows follow each other from top to bottom, each centred.
func (p *placing) place() {
	p.At, p.top = make([]Point, len(p.row)), make([]int, len(p.rows))
	middle := make([]int, len(p.row)) // how far each node is from the middle of its row if no edge passes
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
			p.At[node] = Point{p.At[node].X + left, y}
		}
		for l := range p.lanes[i] {
			p.lanes[i][l] += left
		}
		y += nodeHeight + rowGap
	}
	p.Height = y - rowGap + around
}

// line places the nodes and lanes of a row side by side, starting at x = 0 and with each lane near its owner. It returns the
// width of the row.
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
		p.At[node].X = x
		x += nodeWidth + nodeGap/2
	}
	for _, l := range sorted {
		lanes[l] = x + laneWidth/2
		x += laneWidth
	}
	return x
}

// draw makes the path data of all edges.
func (p *placing) draw() {
	var solid, dashed, tips []byte
	tipped := map[int]bool{}
	for i, e := range p.edges {
		line := &solid
		if e.Part {
			line = &dashed
		}
		from := Point{p.At[e.From].X + nodeWidth/2, p.At[e.From].Y + nodeHeight}
		for row := p.row[e.From] + 1; row < p.row[e.To]; row++ {
			to := Point{p.lanes[row][p.by[i]], p.top[row]}
			below := Point{to.X, to.Y + nodeHeight}
			p.stroke(line, from, to, e.Part)
			p.stroke(line, to, below, e.Part)
			from = below
		}
		end := Point{p.At[e.To].X + nodeWidth/2, p.At[e.To].Y}
		p.stroke(line, from, end, e.Part)
		if !tipped[e.To] {
			tipped[e.To] = true
			tips = path(tips, "M", end.X, end.Y, "l", -4, -8, "h", 8, "z")
		}
	}
	p.Solid, p.Dashed, p.Tips = string(solid), string(dashed), string(tips)
}

// stroke draws a line from one point to a lower one, unless that line is drawn already.
func (p *placing) stroke(line *[]byte, from, to Point, part bool) {
	key := segment{from, to, part}
	if p.drawn[key] {
		return
	}
	p.drawn[key] = true
	if *line = path(*line, "M", from.X, from.Y); from.X == to.X {
		*line = path(*line, "V", to.Y)
		return
	}
	half := (to.Y - from.Y) / 2
	*line = path(*line, "C", from.X, from.Y+half, to.X, to.Y-half, to.X, to.Y)
}

// path appends commands and numbers to path data.
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
