package settings

import (
	"cmp"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// MaxDepth is the maximum number of patterns that can be nested.
const MaxDepth = 4

// patternPath returns the path of a pattern in a configuration.
func patternPath(name string) *yamldoc.Path { return (*yamldoc.Path)(nil).Key("patterns").Key(name) }

// path returns the path of the key that names the tool or pattern of a worker or route.
func (h Hand) path(p *Pattern) *yamldoc.Path {
	at := patternPath(p.Name).Key(handsKeyOf(p.Kind))
	switch {
	case h.Item > 0:
		return at.Item(h.Item - 1)
	case h.Pattern != "":
		return at.Key(h.Name).Key("pattern")
	}
	return at.Key(h.Name).Key("tool")
}

// acrossPatterns checks the patterns together: names, which pattern calls which, cycles, depth and budgets.
func (r *loader) acrossPatterns(c *Config) {
	for i := range c.Patterns {
		p := &c.Patterns[i]
		if !p.Enabled {
			continue
		}
		r.needsHands(p)
		r.handNames(c, p)
		for _, h := range p.Hands {
			r.handPattern(c, p, h)
		}
		r.namesAmong(p, "critical", p.Critical, p.CallNames())
		r.limitedTools(p)
		if b := p.Budget; p.Kind == gateway.TaskDecomposition && b.MinPlanSteps > b.MaxPlanSteps {
			at := patternPath(p.Name).Key("budget").Key("min_plan_steps")
			r.Faults.Add(r.At(at), at, yamldoc.Fault{Reason: overPlanSteps(yamldoc.NumberText(float64(b.MaxPlanSteps))), Want: wantPlanSteps})
		}
	}
	r.toolNames(c)
	w := chains{reader: r.Reader, config: c, depth: map[string]int{}, under: map[string]bool{}}
	for i := range c.Patterns {
		if p := &c.Patterns[i]; p.Enabled && len(p.Hands) > 0 {
			w.from(p, nil)
		}
	}
	if !w.cyclic {
		w.tooDeep()
		r.within(c)
	}
}

// needsHands refuses a pattern of your own that names nothing to call, and a pattern that has both tools and workers or
// routes. An empty list of tools is only a warning.
func (r *loader) needsHands(p *Pattern) {
	if p.Kind == gateway.Call {
		return
	}
	here, hands := patternPath(p.Name), handsKeyOf(p.Kind)
	tools, named := r.Said("patterns", p.Name, "tools"), r.Said("patterns", p.Name, cmp.Or(hands, "tools"))
	switch {
	case hands != "" && tools != nil && named != nil && len(tools.Items) > 0 && len(p.Hands) > 0:
		at := here.Key("tools")
		r.Faults.Add(r.KeyAt(at), at, yamldoc.Fault{Reason: toolsAnd(hands), Want: wantOneOfBoth})
	case p.IsOwn() && tools == nil && named == nil:
		at := here.Key(cmp.Or(hands, "tools"))
		want := wantTools
		if hands != "" {
			want = wantHands(hands)
		}
		r.Faults.Add(r.At(here), at, yamldoc.Fault{Reason: "missing", Want: want})
	case p.IsOwn() && len(p.CallNames()) == 0:
		at := here.Key(cmp.Or(hands, "tools"))
		if named == nil {
			at = here.Key("tools")
		}
		r.Faults.Warn(r.At(at), at, yamldoc.Fault{Reason: nothingToCall, Want: wantATool})
	}
}

// handNames refuses names of workers and routes that are reserved or that another tool has.
func (r *loader) handNames(c *Config, p *Pattern) {
	known := c.ToolNames()
	for _, h := range p.Hands {
		at := patternPath(p.Name).Key(handsKeyOf(p.Kind)).Key(h.Name)
		switch {
		case slices.Contains(tools.TakenNames, h.Name):
			r.Faults.Add(r.KeyAt(at), at, yamldoc.Fault{Reason: hasOwnMeaning(h.Name), Want: wantOtherNameOf(handNoun(p.Kind))})
		case h.Tool != h.Name && slices.Contains(known, h.Name) && !(h.Pattern == h.Name): // handPattern reports this case
			r.Faults.Add(r.KeyAt(at), at, yamldoc.Fault{Reason: isTool(h.Name), Want: wantOtherNameOf(handNoun(p.Kind))})
		}
	}
}

// handPattern checks a worker or route that is a pattern.
func (r *loader) handPattern(c *Config, p *Pattern, h Hand) {
	if h.Pattern == "" {
		return
	}
	at := h.path(p)
	child, known := c.Pattern(h.Pattern)
	var f yamldoc.Fault
	switch {
	case slices.Contains(c.ToolNames(), h.Pattern):
		f = yamldoc.Fault{Reason: isTool(h.Pattern), Want: wantTool(h.Pattern)}
	case !known:
		var names []string
		for _, q := range c.Patterns {
			if q.Enabled && q.Name != p.Name && q.Kind != gateway.Planning && q.Equipped() {
				names = append(names, q.Name)
			}
		}
		if f = (yamldoc.Fault{Reason: noPattern(h.Pattern), DidYouMean: gateway.NearTyped(h.Pattern, names)}); f.DidYouMean == "" {
			f.Want = thereAreNone
			if len(names) > 0 {
				f.Want = thereAre(strings.Join(names[:min(len(names), 20)], ", "))
			}
		}
	case !child.Enabled:
		f = yamldoc.Fault{Reason: notEnabled(h.Pattern), Want: wantEnabled(handNoun(p.Kind))}
	case child.Kind == gateway.Planning:
		f = yamldoc.Fault{Reason: isPlanning(h.Pattern), Want: wantOtherKind}
	case !child.Equipped():
		f = yamldoc.Fault{Reason: hasNoTools(h.Pattern), Want: wantToolsIn(handNoun(p.Kind))}
	default:
		return
	}
	r.Faults.Add(r.At(at), at, f)
}

// namesAmong refuses the names in the list key of a pattern that are not in known.
func (r *loader) namesAmong(p *Pattern, key string, names, known []string) {
	path := patternPath(p.Name).Key(key)
	for i, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		f := unknownName(name, known, p.Kind)
		r.Faults.Add(r.At(path.Item(i)), path.Item(i), f)
	}
}

// limitedTools refuses per-tool limits for tools that the pattern does not have.
func (r *loader) limitedTools(p *Pattern) {
	known := p.CallNames()
	if p.Kind == gateway.Call {
		known = []string{p.Tool}
	}
	n := r.Said("patterns", p.Name, "budget", "per_tool")
	if n == nil {
		return
	}
	path := patternPath(p.Name).Key("budget").Key("per_tool")
	for _, m := range n.Members {
		if !slices.Contains(known, m.Key) {
			r.Faults.Add(m.At, path.Key(m.Key), unknownName(m.Key, known, p.Kind))
		}
	}
}

// ToolNames returns the names of the MCP tools that clients see for the pattern.
func (p Pattern) ToolNames() []string {
	if p.Kind != gateway.Planning {
		return []string{p.Name}
	}
	names := make([]string, len(PlanVerbs))
	for i, verb := range PlanVerbs {
		names[i] = p.Name + "_" + string(verb)
	}
	return names
}

// maxPlanName is the maximum length of the name of a planning pattern in bytes. It leaves space for the suffixes of the
// tools' names.
const maxPlanName = 54

// toolNames refuses two patterns that would give clients tools of the same name.
func (r *loader) toolNames(c *Config) {
	owner := map[string]string{}
	for _, name := range BuiltinPatterns { // disabled built-in patterns keep their names
		for _, tool := range (Pattern{Name: name, Kind: builtinKinds[name]}).ToolNames() {
			owner[tool] = name
		}
	}
	for _, p := range c.Exposed() {
		owner[p.Name] = p.Name
	}
	for i := range c.Patterns {
		p := &c.Patterns[i]
		if !p.IsOwn() {
			continue
		}
		at := patternPath(p.Name)
		if p.Kind == gateway.Planning && len(p.Name) > maxPlanName {
			r.Faults.Add(r.KeyAt(at), at, yamldoc.Fault{
				Reason: nameTooLong(yamldoc.NumberText(float64(len(p.Name))), string(PlanVerbs[0])),
				Want:   wantShorterName(yamldoc.NumberText(maxPlanName)),
			})
		}
		for _, tool := range p.ToolNames() {
			if before, taken := owner[tool]; taken && before != p.Name && p.Enabled && !isOurTool(p.Name) {
				r.Faults.Add(r.KeyAt(at), at, yamldoc.Fault{Reason: planToolTaken(tool, before), Want: wantOtherName})
				break
			}
			if slices.Contains(reservedTools, tool) && tool != p.Name {
				r.Faults.Add(r.KeyAt(at), at, yamldoc.Fault{Reason: planToolOfServer(tool), Want: wantOtherName})
				break
			}
			if p.Enabled {
				owner[tool] = p.Name
			}
		}
	}
}

// chains walks from each pattern to the patterns that it calls.
type chains struct {
	reader *grammar.Reader
	config *Config
	depth  map[string]int  // of visited patterns: the number of nested patterns, themselves included
	under  map[string]bool // patterns on the way that is being walked
	cyclic bool
}

// from returns how many patterns are nested in p, itself included. above are the names of the patterns on the way to it. It
// reports cycles as faults.
func (w *chains) from(p *Pattern, above []string) int {
	if n, known := w.depth[p.Name]; known {
		return n
	}
	w.under[p.Name] = true
	above = append(slices.Clone(above), p.Name)
	deepest := 0
	for _, h := range p.Hands {
		child, known := w.config.pattern(h.Pattern)
		switch {
		case !known || !child.Enabled:
		case w.under[h.Pattern]:
			w.cyclic = true
			way := append(above[slices.Index(above, h.Pattern):], h.Pattern)
			at := h.path(p)
			w.reader.Faults.Add(w.reader.At(at), at, yamldoc.Fault{Reason: aCycle(shownWay(way)), Want: wantNoCycle})
		default:
			deepest = max(deepest, w.from(child, above))
		}
	}
	delete(w.under, p.Name)
	w.depth[p.Name] = deepest + 1
	return deepest + 1
}

// tooDeep refuses the patterns whose depth is MaxDepth+1. A deeper pattern contains one of these, so it gets no fault of
// its own.
func (w *chains) tooDeep() {
	for i := range w.config.Patterns {
		p := &w.config.Patterns[i]
		if w.depth[p.Name] != MaxDepth+1 {
			continue
		}
		way, at := []string{p.Name}, (*yamldoc.Path)(nil)
		for next := p; next != nil; {
			var deeper *Pattern
			for _, h := range next.Hands {
				if child, known := w.config.pattern(h.Pattern); known && w.depth[child.Name] == w.depth[next.Name]-1 && child.Enabled {
					if deeper = child; at == nil {
						at = h.path(p)
					}
					way = append(way, child.Name)
					break
				}
			}
			next = deeper
		}
		w.reader.Faults.Add(w.reader.At(at), at, yamldoc.Fault{
			Reason: nestedTooDeep(yamldoc.NumberText(float64(len(way))), shownWay(way)), Want: wantDepth(MaxDepth),
		})
	}
}

// shownWay returns a way from pattern to pattern as text. It shortens a way of more than 12 names.
func shownWay(names []string) string {
	if len(names) > 12 {
		names = slices.Concat(names[:6], []string{"..."}, names[len(names)-5:])
	}
	return strings.Join(names, " -> ")
}

// pattern returns the pattern of that name. The caller can change it.
func (c *Config) pattern(name string) (*Pattern, bool) {
	for i := range c.Patterns { // a Pattern is large: none is copied
		if p := &c.Patterns[i]; p.Name == name && name != "" {
			return p, true
		}
	}
	return nil, false
}

// within refuses a limit of the file that is higher than the limit of a pattern that calls this one. If the limit is only
// the kind's default, the caller's limit applies when the pattern runs.
func (r *loader) within(c *Config) {
	told := map[string]bool{}
	for i := range c.Patterns {
		p := &c.Patterns[i]
		if !p.Enabled {
			continue
		}
		for _, h := range p.Hands {
			child, known := c.pattern(h.Pattern)
			if !known {
				continue
			}
			ours := inheritedKeys(&p.Budget)
			for i, limit := range inheritedKeys(&child.Budget) {
				most, bounded := ours[i].Show().(float64)
				figure, limited := limit.Show().(float64)
				at := patternPath(child.Name).Key("budget").Key(limit.Name)
				if !bounded || !limited || figure <= most || told[at.String()] {
					continue
				}
				if r.Said("patterns", child.Name, "budget", limit.Name) == nil {
					child.handDown(limit.Name, figure)
					continue
				}
				told[at.String()] = true
				r.Faults.Add(r.At(at), at, yamldoc.Fault{
					Reason: overCaller(yamldoc.NumberText(figure), yamldoc.NumberText(most), p.Name), Want: wantAtMost(yamldoc.NumberText(most)),
				})
			}
		}
	}
}
