package main

import (
	"bytes"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
)

// Sizes of the picture, in px at its width of 1,000.
const (
	pictureWidth  = 1000
	bandLeft      = 10
	mainLeft      = 28 // the two columns of the main way
	mainWidth     = 176
	mainHeight    = 54
	mainGap       = 26
	besideLeft    = 432 // the three columns beside it
	besideWidth   = 178
	besideHeight  = 41
	besideGap     = 7
	titleHeight   = 32
	mainLetters   = 23 // in a line of a box on the main way
	besideLetters = 27
)

// A picture is where everything is in docs/architecture.svg.
type picture struct {
	height int
	bands  []drawnBand
	boxes  []drawnBox
	arrows []string // path data
}

type drawnBand struct {
	title     string
	number, y int
	height    int
}

type drawnBox struct {
	name          string // within its band
	words         []string
	x, y, w, h    int
	main          bool
	band          int
	arriving, row int // arrows that end here; the row of the whole picture
}

// bandOf returns the band of a package.
func bandOf(name string) int {
	found, longest := -1, -1
	for i, b := range bands {
		for _, prefix := range strings.Fields(b.prefixes) {
			if (name == prefix || strings.HasPrefix(name, prefix+"/")) && len(prefix) > longest {
				found, longest = i, len(prefix)
			}
		}
	}
	return found
}

// drawing computes the picture from the lists alone.
func drawing(floors map[string]floor, boxes map[string]box) *picture {
	p := &picture{height: 10}
	at := map[string]int{} // indexes of p.boxes
	row := 0
	for number, b := range bands {
		var main, beside []string
		rows := 0
		for _, name := range slices.Sorted(maps.Keys(floors)) {
			switch {
			case bandOf(name) != number:
			case boxes[name].row > 0:
				main = append(main, name)
				rows = max(rows, boxes[name].row)
			default:
				beside = append(beside, name)
			}
		}
		if len(main)+len(beside) == 0 {
			continue
		}
		top := p.height
		for _, name := range main {
			of := boxes[name]
			at[name] = len(p.boxes)
			p.boxes = append(p.boxes, drawnBox{
				name: shortName(name), words: fold(of.purpose, mainLetters), main: true, band: number, row: row + of.row,
				x: mainLeft + (of.column-1)*(mainWidth+mainGap), y: top + 14 + (of.row-1)*(mainHeight+mainGap), w: mainWidth, h: mainHeight,
			})
		}
		for i, name := range beside {
			p.boxes = append(p.boxes, drawnBox{
				name: shortName(name), words: fold(boxes[name].purpose, 100), band: number,
				x: besideLeft + i%3*(besideWidth+besideGap), y: top + titleHeight + i/3*(besideHeight+besideGap), w: besideWidth, h: besideHeight,
			})
		}
		height := max(14+rows*(mainHeight+mainGap)-mainGap+14, titleHeight+(len(beside)+2)/3*(besideHeight+besideGap)-besideGap+12)
		p.bands = append(p.bands, drawnBand{b.title, number, top, height})
		p.height += height + 12
		row += rows
	}
	p.height += 16 // the legend
	for _, from := range slices.Sorted(maps.Keys(boxes)) {
		for _, to := range strings.Fields(boxes[from].uses) {
			a, okA := at[from]
			b, okB := at[to]
			if okA && okB {
				p.arrow(&p.boxes[a], &p.boxes[b])
			}
		}
	}
	return p
}

// arrow draws from a box to another: across in one row, down to the next row, or by the lane between the columns.
func (p *picture) arrow(from, to *drawnBox) {
	if from.row == to.row {
		y := from.y + from.h/2
		if from.x < to.x {
			p.arrows = append(p.arrows, fmt.Sprintf("M%d %dH%d", from.x+from.w, y, to.x-2))
		} else {
			p.arrows = append(p.arrows, fmt.Sprintf("M%d %dH%d", from.x, y, to.x+to.w+2))
		}
		return
	}
	if from.x == mainLeft && to.x == mainLeft && to.row > from.row+1 { // by the lane on the left, past the boxes between them
		lane := mainLeft - 9
		p.arrows = append(p.arrows, fmt.Sprintf("M%d %dH%dV%dH%d", from.x, from.y+from.h-14, lane, to.y+14, to.x-2))
		return
	}
	end := to.x + to.w/2 + to.arriving*24
	to.arriving++
	switch turn := to.y - 11; {
	case from.x == to.x && to.row == from.row+1:
		p.arrows = append(p.arrows, fmt.Sprintf("M%d %dV%d", end, from.y+from.h, to.y-2))
	case to.row == from.row+1:
		p.arrows = append(p.arrows, fmt.Sprintf("M%d %dV%dH%dV%d", from.x+from.w/2+24, from.y+from.h, turn, end, to.y-2))
	default: // by the lane between the columns
		p.arrows = append(p.arrows, fmt.Sprintf("M%d %dV%dH%dV%dH%dV%d", from.x+from.w/2+48, from.y+from.h, from.y+from.h+8, mainLeft+mainWidth+mainGap/2, turn, end, to.y-2))
	}
}

// shortName is a package without the floor that its band names.
func shortName(name string) string {
	if first, rest, below := strings.Cut(name, "/"); below && first != "ijson" {
		return rest
	}
	return name
}

// fold breaks words into lines of at most so many letters.
func fold(text string, most int) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= most {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

const pictureStyle = `
text { font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; font-size: 12px; fill: #1f2933 }
.page { fill: #ffffff }
.title { font-size: 15px; font-weight: 600 }
.name { font-size: 13px; font-weight: 600 }
.main { fill: #ffffff; stroke: #33507a; stroke-width: 2 }
.beside { fill: #ffffff; fill-opacity: .75; stroke: #9aa8b8; stroke-width: 1 }
.arrow { fill: none; stroke: #33507a; stroke-width: 2 }
#head path { fill: #33507a }
.b0 { fill: #eef1f5 } .b1 { fill: #f3eefa } .b2 { fill: #e9f1fb } .b3 { fill: #e8f5ee } .b4 { fill: #fdf1e2 } .b5 { fill: #fbeceb } .b6 { fill: #f0f0ec }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.page { fill: #0d1117 }
.main { fill: #161b22; stroke: #8fb4e8 }
.beside { fill: #161b22; stroke: #5b6775 }
.arrow { stroke: #8fb4e8 }
#head path { fill: #8fb4e8 }
.b0 { fill: #1c2128 } .b1 { fill: #251f33 } .b2 { fill: #172638 } .b3 { fill: #16291f } .b4 { fill: #30240f } .b5 { fill: #331c1b } .b6 { fill: #23231f }
}
`

// svg returns the picture as a file. It has a background of its own, so it is readable on a dark page too.
func (p *picture) svg() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%d" role="img" aria-label="The packages of Patterngate">`+"\n", pictureWidth, p.height, p.height)
	b.WriteString("<!-- Made by: go test . -run TestArchitecture -update -->\n")
	b.WriteString("<style>" + pictureStyle + "</style>\n")
	b.WriteString(`<defs><marker id="head" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10z"/></marker></defs>` + "\n")
	fmt.Fprintf(&b, `<rect class="page" width="%d" height="%d"/>`+"\n", pictureWidth, p.height)
	for _, band := range p.bands {
		fmt.Fprintf(&b, `<rect class="b%d" x="%d" y="%d" width="%d" height="%d" rx="8"/>`+"\n", band.number, bandLeft, band.y, pictureWidth-2*bandLeft, band.height)
		fmt.Fprintf(&b, `<text class="title" x="%d" y="%d">%s</text>`+"\n", besideLeft, band.y+22, html.EscapeString(band.title))
	}
	for _, path := range p.arrows {
		fmt.Fprintf(&b, `<path class="arrow" d="%s" marker-end="url(#head)"/>`+"\n", path)
	}
	for _, box := range p.boxes {
		class := map[bool]string{true: "main", false: "beside"}[box.main]
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="5"/>`, class, box.x, box.y, box.w, box.h)
		fmt.Fprintf(&b, `<text class="name" x="%d" y="%d">%s</text>`, box.x+8, box.y+17, html.EscapeString(box.name))
		for i, line := range box.words {
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`, box.x+8, box.y+33+i*15, html.EscapeString(line))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", mainLeft, p.height-10, "Thick boxes: the way of one call. An arrow means: uses. Small boxes: all other packages.")
	b.WriteString("</svg>\n")
	return b.Bytes()
}
