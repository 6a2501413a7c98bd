package storetest

import (
	"errors"
	"fmt"

	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// aCase is a step over a store in which run 1 runs in this process under epoch 1.
type aCase struct {
	before []store.Step // each is a change of its own
	step   store.Step
	holds  bool
	then   func(store.Reader) error // what is stored afterwards; nil: it is not looked at
}

var (
	head   = store.Head{Events: 3, Hash: []byte{3}, Newest: 3000}
	parked = store.Park{N: 1, Head: head, Wake: 9000, Expires: 9500, Kind: "approval", Key: "approve#1", Phase: "human"}
	ended  = store.End{N: 1, Head: head, Ended: 5000, Status: "ok", StopReason: "success", Phase: "done", Summary: "Done."}
	asked  = store.AddQuestion{Approval: 5, Run: 1, Seq: 1, Rule: "r", Digest: "d", Since: 10, Expires: 9500, Shown: []byte("{}")}
	answer = store.AnswerQuestion{Approval: 5, Run: 1, Digest: "d", Now: 20, Answer: []byte(`{"yes":1}`), Signature: "s", Channel: "cli"}
	heard  = store.HearAnswer{Approval: 5, Run: 1}
	spend  = store.SpendApproval{Approval: 5, Run: 1, Answer: []byte(`{"yes":1}`), Signature: "s", Once: "k"}
	aKey   = store.TakeKey{Tool: "pay", Once: "o", Args: []byte{1}, Run: 1, Act: "pay#1", Effect: "pay#1"}
	kept   = store.KeepOutcome{Tool: "pay", Once: "o", Run: 1, Act: "pay#1", Body: []byte(`{"state":"ok"}`)}
	aPlan  = store.Plan{N: 9, Principal: "local:1", Pattern: "plan", Version: 1, Revision: 1, Created: 1, Changed: 1, Sum: []byte{1}, Body: []byte("{}")}
	isPlan = store.PlanIs{N: 9, Version: 1, Sum: []byte{1}}
)

// state holds the row of run 1 against a state and an epoch.
func state(want string, epoch int64) func(store.Reader) error {
	return func(r store.Reader) error {
		row, err := r.Row(1)
		if err == nil && (row == nil || row.State != want || row.Epoch != epoch) {
			err = fmt.Errorf("the run is %+v, want %s under %d", row, want, epoch)
		}
		return err
	}
}

// question holds the row of question 5 against a state.
func question(want string) func(store.Reader) error {
	return func(r store.Reader) error {
		q, err := r.Question(5)
		if err == nil && (q == nil || q.State != want) {
			err = fmt.Errorf("the question is %+v, want %s", q, want)
		}
		return err
	}
}

// holder is the run that has plan 9.
func holder(run, under int64) func(store.Reader) error {
	return func(r store.Reader) error {
		p, err := r.PlanBody(9)
		if err == nil && (p == nil || p.Run != run || p.Under != under || string(p.Body) != "{}") {
			err = fmt.Errorf("the plan is %+v, want it held by %d over %d", p, run, under)
		}
		return err
	}
}

// key holds the act that has the business key; "": none has.
func key(act string, done bool) func(store.Reader) error {
	return func(r store.Reader) error {
		a, err := r.Act("pay", "o")
		switch {
		case err != nil || act == "" && a == nil:
			return err
		case act == "" || a == nil || a.Act != act || (a.Body != nil) != done:
			return fmt.Errorf("the key is %+v's, want %q's, done %t", a, act, done)
		}
		return nil
	}
}

var cases = map[string]aCase{
	"park":                          {nil, parked, true, state("parked", 1)},
	"park a cancelled run":          {[]store.Step{store.Recall{N: 1}}, parked, true, state("ready", 1)},
	"park, answered in between":     {[]store.Step{asked, answer}, waitsFor(5), true, state("ready", 1)},
	"park, not answered":            {[]store.Step{asked}, waitsFor(5), true, state("parked", 1)},
	"park, a child has gone on":     {nil, withChild(store.Standing{N: 7, Epoch: 1, State: "parked"}), true, state("ready", 1)},
	"park, a child stands so":       {nil, withChild(store.Standing{N: 7}), true, state("parked", 1)},
	"end":                           {nil, ended, true, state("ended", 1)},
	"take what is ready":            {[]store.Step{store.Seize{N: 1}}, store.Take{N: 1, Epoch: 2, State: "ready", Owner: "me"}, true, state("running", 3)},
	"take under another epoch":      {[]store.Step{store.Seize{N: 1}}, store.Take{N: 1, Epoch: 1, State: "ready", Owner: "me"}, false, state("ready", 2)},
	"take what stands otherwise":    {[]store.Step{parked}, store.Take{N: 1, Epoch: 1, State: "ready", Owner: "me"}, false, state("parked", 1)},
	"take what was cancelled":       {[]store.Step{parked, store.CancelResting{N: 1, Epoch: 1}}, store.Take{N: 1, Epoch: 2, State: "ready", Owner: "me"}, false, state("ready", 2)},
	"give up another's":             {nil, store.GiveUp{N: 1, Epoch: 1, Owner: "other"}, true, state("running", 1)},
	"release":                       {nil, store.Release{Owner: "other"}, true, state("running", 1)},
	"seize":                         {nil, store.Seize{N: 1}, true, state("ready", 2)},
	"seize what rests":              {[]store.Step{parked}, store.Seize{N: 1}, false, state("parked", 1)},
	"recall":                        {nil, store.Recall{N: 1}, true, state("running", 1)},
	"recall what rests":             {[]store.Step{parked}, store.Recall{N: 1}, false, nil},
	"cancel what rests":             {[]store.Step{parked}, store.CancelResting{N: 1, Epoch: 1}, true, state("ready", 2)},
	"cancel what runs":              {nil, store.CancelResting{N: 1, Epoch: 1}, false, state("running", 1)},
	"cancel under another epoch":    {[]store.Step{parked}, store.CancelResting{N: 1, Epoch: 4}, false, state("parked", 1)},
	"wake":                          {[]store.Step{parked}, store.Wake{N: 1}, true, state("ready", 2)},
	"wake what runs":                {nil, store.Wake{N: 1}, true, state("running", 1)},
	"settle":                        {[]store.Step{parked}, store.Settle{N: 1, Epoch: 1, Head: head}, true, state("ready", 2)},
	"settle what runs":              {nil, store.Settle{N: 1, Epoch: 1, Head: head}, false, state("running", 1)},
	"note":                          {[]store.Step{parked}, store.Noted{N: 1, Epoch: 1, Head: head}, true, state("parked", 2)},
	"note of what runs":             {nil, store.Noted{N: 1, Epoch: 1, Head: head}, false, nil},
	"break":                         {nil, store.Break{N: 1, Ended: 5000, Summary: "broken"}, true, state("broken", 2)},
	"lack":                          {[]store.Step{store.Seize{N: 1}}, store.Lack{N: 1, Epoch: 2}, true, state("ready", 2)},
	"bury":                          {[]store.Step{ended}, store.Bury{N: 1, RunID: journal.RunID(1), Pattern: "p", Principal: "local:1", StopReason: "success", Ended: 5000, Head: head}, true, gone},
	"bury without a tombstone":      {nil, store.Bury{N: 1}, true, forgotten},
	"an event behind the record":    {nil, store.AddEvent{N: 1, Event: chain(1, 1, 1, nil)[0]}, true, nil},
	"an event that does not follow": {nil, store.AddEvent{N: 1, Event: chain(1, 2, 1, nil)[0]}, false, nil},
	"a run is as seen":              {[]store.Step{parked}, store.RunIs{N: 1, State: "parked", Kind: "approval", Key: "approve#1"}, true, nil},
	"a run is not as seen":          {[]store.Step{parked}, store.RunIs{N: 1, State: "running"}, false, nil},
	"no run is as seen":             {nil, store.RunIs{N: 4}, true, nil},
	"a child whose parent went on":  {nil, store.Begin{N: 2, Parent: 1, ParentEpoch: 1, Owner: "me"}, true, nil},

	"close a question":             {[]store.Step{asked}, store.CloseQuestion{Approval: 5, Run: 1, State: "expired"}, true, question("expired")},
	"close what was answered":      {[]store.Step{asked, answer}, store.CloseQuestion{Approval: 5, Run: 1, State: "expired"}, false, question("answered")},
	"answer":                       {[]store.Step{asked}, answer, true, question("answered")},
	"answer twice":                 {[]store.Step{asked, answer}, answer, false, question("answered")},
	"answer too late":              {[]store.Step{asked}, answeredAt(9500), false, question("open")},
	"answer what was changed":      {[]store.Step{asked}, answeredFor("other"), false, question("open")},
	"answer of a run that is over": {[]store.Step{asked, ended}, answer, false, question("open")},
	"hear":                         {[]store.Step{asked, answer}, heard, true, question("taken")},
	"hear twice":                   {[]store.Step{asked, answer, heard}, heard, false, nil},
	"hear what is open":            {[]store.Step{asked}, heard, false, nil},
	"spend":                        {[]store.Step{asked, answer, heard}, spend, true, nil},
	"spend again by the same call": {[]store.Step{asked, answer, heard, spend}, spend, true, nil},
	"spend by another call":        {[]store.Step{asked, answer, heard, spend}, spentBy("other", ""), false, nil},
	"spend what was not heard":     {[]store.Step{asked, answer}, spend, false, nil},
	"spend another answer":         {[]store.Step{asked, answer, heard}, store.SpendApproval{Approval: 5, Run: 1, Answer: []byte("{}"), Signature: "s", Once: "k"}, false, nil},
	"spend a share":                {[]store.Step{asked, answer, heard}, spentBy("k", "a"), true, nil},
	"spend a share twice":          {[]store.Step{asked, answer, heard, spentBy("k", "a")}, spentBy("other", "a"), false, nil},
	"spend another share":          {[]store.Step{asked, answer, heard, spentBy("k", "a")}, spentBy("other", "b"), true, nil},
	"count an attempt":             {[]store.Step{asked}, store.CountRefused{Approval: 5, Most: 1}, true, nil},
	"count one too many":           {[]store.Step{asked, store.CountRefused{Approval: 5, Most: 1}}, store.CountRefused{Approval: 5, Most: 1}, false, nil},
	"no keys":                      {nil, store.KeysAre{}, true, nil},
	"other keys":                   {nil, store.KeysAre{Mark: "m"}, false, nil},
	"an act":                       {nil, store.UseAct{Nonce: "n", At: 1}, true, nil},
	"an act twice":                 {[]store.Step{store.UseAct{Nonce: "n", At: 1}}, store.UseAct{Nonce: "n", At: 2}, false, nil},
	"sign in":                      {[]store.Step{store.AddSignIn{Token: []byte{1}, Until: 100, Now: 1}}, store.UseSignIn{Token: []byte{1}, Now: 50}, true, nil},
	"sign in too late":             {[]store.Step{store.AddSignIn{Token: []byte{1}, Until: 100, Now: 1}}, store.UseSignIn{Token: []byte{1}, Now: 100}, false, nil},
	"clear no switch":              {nil, store.ClearSwitch{Tool: "pay"}, false, nil},

	"take a free key":             {nil, aKey, true, key("pay#1", false)},
	"take its own key":            {[]store.Step{aKey}, aKey, true, key("pay#1", false)},
	"take another's key":          {[]store.Step{aKey}, store.TakeKey{Tool: "pay", Once: "o", Run: 1, Act: "pay#2", Effect: "pay#2"}, false, key("pay#1", false)},
	"adopt":                       {[]store.Step{aKey}, store.AdoptKey{Tool: "pay", Once: "o", Run: 2, Act: "pay#5", FromRun: 1, FromAct: "pay#1"}, true, key("pay#5", false)},
	"adopt what is done":          {[]store.Step{aKey, kept}, store.AdoptKey{Tool: "pay", Once: "o", Run: 2, Act: "pay#5", FromRun: 1, FromAct: "pay#1"}, false, key("pay#1", true)},
	"adopt another's":             {[]store.Step{aKey}, store.AdoptKey{Tool: "pay", Once: "o", Run: 2, Act: "pay#5", FromRun: 3, FromAct: "pay#1"}, false, key("pay#1", false)},
	"a key is done":               {[]store.Step{aKey, kept}, store.KeyDone{Tool: "pay", Once: "o", Run: 1, Act: "pay#1"}, true, key("pay#1", true)},
	"a key is under way":          {[]store.Step{aKey}, store.KeyDone{Tool: "pay", Once: "o", Run: 1, Act: "pay#1"}, false, nil},
	"free a key":                  {[]store.Step{aKey}, store.FreeKey{Tool: "pay", Once: "o", Run: 1, Act: "pay#1", Effect: "pay#1"}, true, key("", false)},
	"free by a later attempt":     {[]store.Step{aKey}, store.FreeKey{Tool: "pay", Once: "o", Run: 1, Act: "pay#1", Effect: "pay#2"}, true, key("pay#1", false)},
	"free by one that settled it": {[]store.Step{aKey}, store.FreeKey{Tool: "pay", Once: "o", Run: 1, Act: "pay#1", Effect: "pay#2", Settled: true}, true, key("", false)},
	"free what is done":           {[]store.Step{aKey, kept}, store.FreeKey{Tool: "pay", Once: "o", Run: 1, Act: "pay#1", Effect: "pay#1"}, true, key("pay#1", true)},

	"no plan":             {nil, store.PlanIs{N: 9, Missing: true}, true, nil},
	"a plan is there":     {[]store.Step{store.AddPlan{Plan: aPlan}}, store.PlanIs{N: 9, Missing: true}, false, nil},
	"a plan is as seen":   {[]store.Step{store.AddPlan{Plan: aPlan}}, isPlan, true, nil},
	"a plan is held":      {[]store.Step{store.AddPlan{Plan: aPlan}, store.HoldPlan{N: 9, Run: 1, Under: 2}}, isPlan, false, holder(1, 2)},
	"a plan has changed":  {[]store.Step{store.AddPlan{Plan: aPlan}}, store.PlanIs{N: 9, Version: 2, Sum: []byte{1}}, false, nil},
	"add a plan twice":    {[]store.Step{store.AddPlan{Plan: aPlan}}, store.AddPlan{Plan: aPlan}, false, holder(0, 0)},
	"hold a plan":         {[]store.Step{store.AddPlan{Plan: aPlan}}, store.HoldPlan{N: 9, Run: 1}, true, holder(1, 0)},
	"give a plan back":    {[]store.Step{store.AddPlan{Plan: aPlan}, store.HoldPlan{N: 9, Run: 1}}, store.HoldPlan{N: 9}, true, holder(0, 0)},
	"hidden values":       {nil, store.AddHidden{N: 1, Values: []store.HiddenValue{{Hash: []byte{1}, Value: []byte(`"x"`)}}}, true, hidden(1)},
	"hidden values go":    {[]store.Step{store.AddHidden{N: 1, Values: []store.HiddenValue{{Hash: []byte{1}, Value: []byte(`"x"`)}}}}, store.DropHidden{N: 1, Itself: true}, true, hidden(0)},
	"not a parent's":      {[]store.Step{store.AddHidden{N: 1, Values: []store.HiddenValue{{Hash: []byte{1}, Value: []byte(`"x"`)}}}}, store.DropHidden{N: 1}, true, hidden(1)},
	"hidden, parent runs": {[]store.Step{store.AddHidden{N: 2, Values: []store.HiddenValue{{Hash: []byte{1}, Value: []byte(`"x"`)}}}}, store.DropHidden{N: 2, Parent: 1, Itself: true}, true, nil},
}

func waitsFor(ap int64) store.Step {
	p := parked
	p.Questions = []int64{ap}
	return p
}

func withChild(s store.Standing) store.Step {
	p := parked
	p.Children = []store.Standing{s}
	return p
}

func answeredAt(now int64) store.Step {
	a := answer
	a.Now = now
	return a
}

func answeredFor(digest string) store.Step {
	a := answer
	a.Digest = digest
	return a
}

func spentBy(once, share string) store.Step {
	s := spend
	s.Once, s.Share = once, share
	return s
}

func hidden(n int) func(store.Reader) error {
	return func(r store.Reader) error {
		list, err := r.Hidden(1)
		if err == nil && len(list) != n {
			err = fmt.Errorf("%d hidden values, want %d", len(list), n)
		}
		return err
	}
}

// forgotten holds that nothing of run 1 is left.
func forgotten(r store.Reader) error {
	row, err := r.Row(1)
	stones, errStones := r.Tombstones()
	if row != nil || len(stones) != 0 {
		return fmt.Errorf("%+v, tombstones %+v", row, stones)
	}
	return errors.Join(err, errStones)
}

// gone holds that nothing of run 1 is left but its tombstone.
func gone(r store.Reader) error {
	row, err := r.Row(1)
	stones, errStones := r.Tombstones()
	if row != nil || len(stones) != 1 || stones[0].RunID != journal.RunID(1) || stones[0].Events != head.Events {
		return fmt.Errorf("%+v, tombstones %+v", row, stones)
	}
	return errors.Join(err, errStones)
}
