package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline/english"
)

// step is a call of a plan of subtasks. Arguments that an earlier step finds are in from, by name.
type step struct {
	call
	from map[string]found
}

// found is a member of what another step returns.
type found struct {
	step int
	out  output
}

// Limits of a plan of subtasks where the payload names none.
const (
	usualSubtasks = 15
	usualDepth    = 3
	perRound      = 3 // of an iterative plan
	// widest is how many subtasks a goal gets that only wants an overview.
	widest = 6
)

// subtasks answers with the calls that the goal speaks of and those that find their arguments. What no other call's result
// is needed for waits for nothing; what changes something waits for all that only reads.
func (r *reading) subtasks() (string, error) {
	r.try()
	if r.wantsMore() {
		return "", r.unclear(r.nothingMeets())
	}
	r.link()
	picks := r.pickTools()
	var lacking error
	if len(picks) == 0 {
		if picks, lacking = r.vaguely(); len(picks) == 0 {
			return "", cmp.Or(lacking, error(r.unclear(r.nothingMeets())))
		}
	}
	d := draft{r: r, picks: picks}
	if err := d.draw(); err != nil {
		return "", err
	}
	return d.document(), nil
}

// wantsMore reports whether the goal wants a change that these rules do not propose. Half a plan would look like a whole one.
func (r *reading) wantsMore() bool {
	for i := range r.tools {
		if !r.may(i) && len(r.asked[i]) > 0 {
			return true
		}
	}
	return false
}

// draft is a plan of subtasks in the making. Every step stands behind those whose results it takes.
type draft struct {
	r     *reading
	picks []pick
	steps []step
}

// draw makes the steps. What the goal leaves out is asked as in [reading.calls] does.
func (d *draft) draw() error {
	r := d.r
	slices.SortStableFunc(d.picks, func(a, b pick) int { return r.order(a.tool, b.tool) })
	var lacking error
	for _, p := range d.picks {
		before := len(d.steps)
		if _, err := d.stepsOf(p.tool); err != nil {
			d.steps = d.steps[:before] // what was only to be looked up for it
			if p.main && p.certain {
				return err
			}
			lacking = cmp.Or(lacking, err)
		}
	}
	calls := make([]call, len(d.steps))
	for i, s := range d.steps {
		calls[i] = s.call
	}
	if r.wholePicture(calls) {
		d.widen(calls)
	}
	if len(d.steps) == 0 {
		return cmp.Or(lacking, error(r.unclear(r.nothingMeets())))
	}
	d.readFirst()
	return nil
}

// widen adds what else is known about the same things.
func (d *draft) widen(calls []call) {
	for _, c := range d.r.widen(calls, widest) {
		if !slices.ContainsFunc(d.steps, func(s step) bool { return s.tool == c.tool }) {
			d.steps = append(d.steps, step{call: c})
		}
	}
}

// readFirst puts the steps that read before those that change something. No step takes anything from the latter.
func (d *draft) readFirst() {
	place := make([]int, len(d.steps))
	var sorted []step
	for _, reading := range []bool{true, false} {
		for i, s := range d.steps {
			if d.reads(i) == reading {
				place[i] = len(sorted)
				sorted = append(sorted, s)
			}
		}
	}
	for _, s := range sorted {
		for name, f := range s.from {
			f.step = place[f.step]
			s.from[name] = f
		}
	}
	d.steps = sorted
}

func (d *draft) reads(i int) bool { return d.r.tools[d.steps[i].tool].Effect == catalog.Read }

// stepsOf are the steps of a tool, made with those before them when first asked for.
func (d *draft) stepsOf(tool int) ([]int, error) {
	var known []int
	for i, s := range d.steps {
		if s.tool == tool {
			known = append(known, i)
		}
	}
	if len(known) > 0 {
		return known, nil
	}
	p := pick{tool: tool}
	if at := slices.IndexFunc(d.picks, func(p pick) bool { return p.tool == tool }); at >= 0 {
		p = d.picks[at]
	}
	f := d.r.fill(tool, p.clauses, d.r.follow)
	sources, err := d.provided(p, f)
	if err != nil {
		return nil, err
	}
	return d.add(p, f, sources)
}

// provided are the sources of the arguments that the goal leaves out.
func (d *draft) provided(p pick, f filled) (map[string]source, error) {
	if f.complete() {
		return nil, nil
	}
	way := d.r.ways(p.tool, func(i int) bool {
		return slices.ContainsFunc(d.picks, func(p pick) bool { return p.tool == i })
	})
	sources := map[string]source{}
	for _, name := range f.missing {
		s, ok := d.r.chooseSource(p.tool, f, name, way)
		if !ok {
			f.missing = []string{name}
			return nil, d.r.incomplete(p.tool, f)
		}
		sources[name] = s
	}
	return sources, nil
}

// add makes the steps of a tool. Where a step before it is one of several of its kind there is one for each of them, but
// not of what changes something.
func (d *draft) add(p pick, f filled, sources map[string]source) ([]int, error) {
	before := map[string][]int{}
	many := 1
	for _, name := range sortedKeys(sources) {
		list, err := d.stepsOf(sources[name].tool)
		if err != nil {
			return nil, err
		}
		writes := d.r.tools[p.tool].Effect != catalog.Read
		if len(list) > 1 && (writes || many > 1 && many != len(list)) {
			f.missing = []string{name}
			return nil, d.r.incomplete(p.tool, f)
		}
		before[name], many = list, max(many, len(list))
	}
	var made []int
	for _, c := range d.r.callsOf(p, f) {
		for k := range many {
			s := step{call: c, from: map[string]found{}}
			for name, list := range before {
				s.from[name] = found{list[min(k, len(list)-1)], sources[name].out}
			}
			made = append(made, len(d.steps))
			d.steps = append(d.steps, s)
		}
	}
	return made, nil
}

// fit drops steps until at most limit are left: those that no other one needs and that the goal speaks of least. Dropping
// an earlier one would leave a later one without its argument.
func (d *draft) fit(limit int) {
	for len(d.steps) > max(limit, 1) {
		worst := -1
		for i := range d.steps {
			if !d.needed(i) && (worst < 0 || d.r.keep(d.steps[i].call) <= d.r.keep(d.steps[worst].call)) {
				worst = i
			}
		}
		d.steps = slices.Delete(d.steps, worst, worst+1)
		for _, later := range d.steps {
			for name, f := range later.from {
				if f.step > worst {
					f.step--
					later.from[name] = f
				}
			}
		}
	}
}

// needed reports whether another step takes something from the i-th.
func (d *draft) needed(i int) bool {
	return slices.ContainsFunc(d.steps, func(s step) bool { return s.takesFrom(i) })
}

func (s step) takesFrom(i int) bool {
	for _, f := range s.from {
		if f.step == i {
			return true
		}
	}
	return false
}

// waitsFor are the steps that must be completed before the i-th, without those that others of them wait for anyway.
func (d *draft) waitsFor(i int) []int {
	var list []int
	for k := range i {
		switch {
		case d.steps[i].takesFrom(k):
			list = append(list, k)
		case d.reads(i):
		case !d.reads(k): // one change after the other
			if k == d.lastChange(i) {
				list = append(list, k)
			}
		case !d.neededByReads(k):
			list = append(list, k)
		}
	}
	return list
}

// lastChange is the step before the i-th that changes something, or -1.
func (d *draft) lastChange(i int) int {
	for i--; i >= 0 && d.reads(i); i-- {
	}
	return i
}

func (d *draft) neededByReads(k int) bool {
	for i, s := range d.steps {
		if d.reads(i) && s.takesFrom(k) {
			return true
		}
	}
	return false
}

// describe says what a step looks up or does, by the tool's title and the arguments.
func (d *draft) describe(i int) string {
	s, t := d.steps[i], d.r.tools[d.steps[i].tool]
	var parts []string
	for _, a := range t.arguments {
		if f, ok := s.from[a.Name]; ok {
			what := " from "
			if f.out.first {
				what = fromFirstEntry
			}
			parts = append(parts, english.Readable(a.Name)+what+d.label(f.step))
		} else if v := valued(a.Name, s.args[a.Name]); v != "" {
			parts = append(parts, strings.TrimSuffix(english.Readable(a.Name), " "+strings.ToLower(currencyOf(a.Name)))+" "+v)
		}
	}
	text := d.title(i)
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return clip(text, 600)
}

func (d *draft) title(i int) string {
	t := d.r.tools[d.steps[i].tool]
	if title := line(t.Title, maxText); title != "" {
		return title
	}
	return capitalised(cmp.Or(line(english.Readable(t.Name), maxText), "step"))
}

// label names a step among others: its title in small letters, with a number where a tool is called several times.
func (d *draft) label(i int) string {
	n := 1
	for k := range i {
		if d.steps[k].tool == d.steps[i].tool {
			n++
		}
	}
	label := strings.ToLower(d.title(i))
	if n > 1 {
		label += fmt.Sprintf(" (%d)", n)
	}
	return label
}

// mend returns the refusal to make a new plan. Rules cannot judge what went wrong and what could replace it.
func mend() error {
	return &patterns.ModelFault{
		Reason: "goal_unclear",
		Say:    noReplan,
	}
}
