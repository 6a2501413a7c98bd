package local

import (
	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/decisions"
	"patterngate/patterns/redaction"
)

// Approvals returns the questions that the runs of the state file ask people. In memory there are none, because no
// person could answer them.
func (e *Engine) Approvals() patterns.Approvals {
	if e.file == nil {
		return decisions.Approvals{}
	}
	return decisions.Approvals{Store: e.file.journal, Host: decider{e.file}}
}

// decider gives package decisions what it needs of the engine.
type decider struct{ *file }

func (d decider) Rules() redaction.Rules    { return d.hiding() }
func (d decider) Catalog() *catalog.Catalog { return d.Settings().Catalog }

func (d decider) Changed(run string) {
	d.scheduler.nudge()
	if run != "" {
		d.waiters.announce(run)
	}
}

func (f *file) signer() decisions.Signer { return decisions.Signer{Store: f.journal} }
