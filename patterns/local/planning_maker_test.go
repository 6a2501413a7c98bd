package local_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// oracleMaker makes up subtasks.
type oracleMaker struct {
	*rand.Rand
	prefix        string
	earlier       []*oracleSub
	tree, callers bool
}

var oracleTools = []string{"r0", "r1", "i0"}

func (m *oracleMaker) make(n int) []*oracleSub {
	subs := make([]*oracleSub, n)
	places := m.Perm(n) // where the i-th in the order of dependencies stands
	var known []*oracleSub
	known = append(known, m.earlier...)
	for i := range n {
		id := fmt.Sprint(m.prefix, i)
		s := &oracleSub{ID: id, Desc: "Do " + id + ".", Critical: m.IntN(4) == 0}
		for _, k := range known {
			if m.IntN(len(known)+1) < 2 && m.IntN(3) > 0 {
				s.Deps = append(s.Deps, k.ID)
			}
		}
		m.Shuffle(len(s.Deps), func(i, j int) { s.Deps[i], s.Deps[j] = s.Deps[j], s.Deps[i] })
		if m.tree && i > 0 && m.IntN(2) == 0 {
			s.Parent = known[len(known)-1-m.IntN(min(3, i))].ID
		}
		m.work(s, known)
		known = append(known, s)
		subs[places[i]] = s
	}
	if m.tree {
		m.mend(subs)
	}
	return subs
}

// mend removes what makes a tree cyclic or too deep.
func (m *oracleMaker) mend(subs []*oracleSub) {
	p := &oraclePlan{Subs: subs, Strategy: "hierarchical"}
	for _, s := range subs {
		depth := 1
		for up := p.sub(s.Parent); up != nil; up = p.sub(up.Parent) {
			depth++
		}
		if depth > 3 {
			s.Parent = ""
		}
	}
	for _, s := range subs {
		for p.circular(s, nil) {
			if s.Parent != "" {
				s.Parent = ""
			} else {
				s.Deps = nil
				s.Args = object{"id": s.ID}
				if s.Tool == "model" || s.Tool == "caller" {
					s.Args = nil
				}
				if p.circular(s, nil) {
					for _, o := range subs {
						if o.Parent == s.ID {
							o.Parent = ""
						}
					}
				}
			}
		}
	}
}

func (p *oraclePlan) circular(s *oracleSub, over []*oracleSub) bool {
	if slices.Contains(over, s) {
		return true
	}
	over = append(slices.Clip(over), s)
	return slices.ContainsFunc(p.waits(s), func(d *oracleSub) bool { return p.circular(d, over) })
}

// work gives a subtask its executor and arguments.
func (m *oracleMaker) work(s *oracleSub, known []*oracleSub) {
	s.Tool = oracleTools[m.IntN(len(oracleTools))]
	s.Args = object{"id": s.ID}
	switch k := m.IntN(8); {
	case k == 0 && m.callers:
		s.Tool, s.Args = "caller", nil
		if m.IntN(2) == 0 {
			s.Expect = object{"type": "object", "properties": object{"v": object{"type": "integer"}}, "required": []any{"v"}}
		}
	case k <= 2:
		s.Tool, s.Args = "model", nil
	case len(known) > 0 && m.IntN(6) == 0: // the same call as another's
		if o := known[m.IntN(len(known))]; o.Args["id"] != nil && o.Args["n"] == nil && o.Args["x"] == nil {
			s.Tool, s.Args = o.Tool, object{"id": o.Args["id"]}
		}
		return
	}
	if len(s.Deps) == 0 || m.IntN(2) == 0 {
		return
	}
	var d *oracleSub
	id := s.Deps[m.IntN(len(s.Deps))]
	for _, k := range known {
		if k.ID == id {
			d = k
		}
	}
	if s.Args == nil {
		s.Args = object{}
	}
	switch {
	case d.Tool == "model":
		s.Args["x"] = "$results." + d.ID
	case d.Tool == "caller" && d.Expect == nil && m.IntN(2) == 0:
		s.Args["n"] = "$results." + d.ID
	case m.IntN(3) == 0:
		s.Args["x"] = []string{"$results." + d.ID, "$$results." + d.ID}[m.IntN(2)]
	default:
		s.Args["n"] = "$results." + d.ID + "./v"
	}
}
