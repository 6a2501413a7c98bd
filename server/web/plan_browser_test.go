package web

import (
	"fmt"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/server/web/webtest"
)

// widePlan has a tree over a wide level, long edges, ids and words as long as they may be.
func widePlan() patterns.PlanState {
	long := strings.Repeat("w", 64)
	rows := []patterns.SubtaskRow{todo("start", strings.Repeat("w", 64), patterns.SubtaskCompleted), todo(long, "model", patterns.SubtaskRunning, "start")}
	for i := range 13 {
		rows = append(rows, todo(fmt.Sprintf("region_%d", i+1), "fetch_sales_data", patterns.SubtaskCompleted, "start"))
		rows[len(rows)-1].Parent = "report"
	}
	rows = append(rows, todo("report", "model", patterns.SubtaskPending, "region_1", long), todo("mail", "caller", patterns.SubtaskPending, "report", "start"))
	rows[0].Description = hostileText + strings.Repeat(" and on", 300)
	return work(sketch(hostileText, rows...), patterns.Running)
}

// The page of a plan is readable on a desk and on a phone, by day and by night, folded and unfolded, has no fault that axe
// knows, and is walked through by keyboard.
func TestPlanInABrowser(t *testing.T) {
	s := seen(t)
	const wide = "plan_00000000000000f1"
	s.plans[aPlan], s.plans[wide] = everyStatus(), widePlan()
	url, p := visited(t, s)
	for name, path := range map[string]string{"plan": aPlan, "unfolded": aPlan + "#subtasks", "subtask": aPlan + "#s-kpis", "wide": wide, "wide unfolded": wide + "#subtasks"} {
		t.Run(name, func(t *testing.T) {
			p.For(t)
			for _, width := range []int{1280, 400} {
				for _, dark := range []bool{false, true} {
					p.Size(width, 800)
					p.Dark(dark)
					p.Open(url + "/r") // an address that differs in its fragment alone is not loaded again
					p.Open(url + "/p/" + path)
					if n := p.Overflow(); n > 0 {
						t.Errorf("%d px, dark %v: %d px to the side", width, dark, n)
					}
					for _, v := range p.Axe() {
						t.Errorf("%d px, dark %v: %s", width, dark, v)
					}
					p.Screenshot(fmt.Sprintf("%d-%v", width, map[bool]string{false: "light", true: "dark"}[dark]))
				}
			}
			for _, stop := range p.Walk() {
				if !stop.Ring || !stop.InSight || stop.Name == "" {
					t.Errorf("focus on %s: ring %v, in sight %v", stop, stop.Ring, stop.InSight)
				}
			}
			if strings.Contains(p.Title(), "owned") || p.Has("main b") || p.Has(`a[href*="evil"]`) {
				t.Error("a model's text became part of the page")
			}
			if n := webtest.Eval[int](p, `[...document.querySelectorAll(".node")].filter(n => [...n.querySelectorAll("text")].some(t => { const a = t.getBoundingClientRect(), b = n.querySelector("rect").getBoundingClientRect(); return a.left < b.left || a.right > b.right || a.bottom > b.bottom })).length`); n > 0 {
				t.Errorf("the words of %d nodes stand over their edge", n)
			}
		})
	}
	p.For(t)
	for _, c := range p.Complaints() {
		t.Errorf("the browser complains: %s", c)
	}
}

// A node leads to its subtask, which unfolds and stays unfolded while the page follows the run.
func TestPlanLiveInABrowser(t *testing.T) {
	s := seen(t)
	s.plans[aPlan] = everyStatus()
	url, p := visited(t, s)
	p.Open(url + "/p/" + aPlan)
	words := func() string {
		return webtest.Eval[string](p, `document.querySelector('a[href="#s-compare"] .how').textContent`)
	}
	if p.Shown("#s-kpis .inside") || words() != "in progress" {
		t.Fatalf("before the click kpis is unfolded, or compare is not in progress:\n%s", p.Text("main"))
	}
	p.Click(`a.node[href="#s-compare"]`)
	p.Until(`document.querySelector("#s-compare .inside").checkVisibility()`)
	if p.Shown("#s-kpis .inside") || p.Address() != url+"/p/"+aPlan+"#s-compare" {
		t.Errorf("at %s kpis is unfolded: %v", p.Address(), p.Shown("#s-kpis .inside"))
	}
	done := everyStatus()
	done.Result.Planned.View.Plan.Subtasks[3].Status = patterns.SubtaskCompleted
	s.mu.Lock()
	s.plans[aPlan] = done
	s.mu.Unlock()
	p.Loads("a change of the run", func() { s.changes <- []string{aRun} })
	if got := words(); got != "completed" || !p.Shown("#s-compare .inside") || p.Shown("#stale") {
		t.Errorf("after the change the node reads %q; unfolded %v, called stale %v", got, p.Shown("#s-compare .inside"), p.Shown("#stale"))
	}
}

// Without scripts, by keyboard: from the graph to a subtask and on to what it depends on.
func TestPlanByKeyboard(t *testing.T) {
	s := seen(t)
	s.plans[aPlan] = everyStatus()
	url, p := visited(t, s)
	p.Scripts(false)
	p.Open(url + "/p/" + aPlan)
	p.WalkTo("outlook Do outlook blocked the model")
	p.Press("Enter")
	if !p.Shown("#s-outlook .inside") {
		t.Fatalf("Enter on a node does not unfold it; at %s", p.Address())
	}
	p.WalkTo("churn")
	p.Press("Enter")
	if !p.Shown("#s-churn .inside") || p.Address() != url+"/p/"+aPlan+"#s-churn" {
		t.Errorf("at %s", p.Address())
	}
}
