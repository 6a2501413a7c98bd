package patterns

// Rehearsal is what a run would come to as far as that can be said before anything is called: nothing of it is performed or
// recorded, and no run begins (spec/surface.md section 1, dry_run).
type Rehearsal struct {
	// Result is that of the intent: [Success] where it is accepted; else it is stopped as the run would be, with its problems.
	Result Result
	// Verdict is the worst of the rows: block, escalate, unknown, revise, approve; approve where there is none. It is empty where
	// the intent is refused.
	Verdict string
	// Judged are the calls of the intent, in their order.
	Judged []RehearsedRow
}

// RehearsedRow is how one call would be judged.
type RehearsedRow struct {
	Step        string         `json:"step"` // step number, task id, attempt
	Tool        string         `json:"tool"` // final for the closing answer
	ArgsHash    string         `json:"args_hash"`
	Decision    string         `json:"decision"` // block, escalate, unknown, revise, approve
	Rule        string         `json:"rule"`
	Reason      string         `json:"reason"`
	Text        string         `json:"-"` // of the rule, for people
	Values      map[string]any `json:"values"`
	RevisedArgs map[string]any `json:"revised_args,omitempty"`
	Need        []string       `json:"need,omitempty"`
	Passes      int            `json:"passes"`
}
