package cli

import (
	"slices"

	"patterngate/server/settings/yamldoc"
)

// phrases warns of tools without a phrase about which a rule may ask a person. Without it the approver reads the tool's name and
// its arguments, and no sentence.
func (r *loading) phrases(l *Loaded) {
	var asked []string
	for _, name := range sortedNames(l.made.by) {
		asked = append(asked, l.made.by[name].Asks()...)
	}
	for _, t := range l.Catalog.tools() {
		if t.Phrase == "" && slices.Contains(asked, t.Name) {
			r.Faults.Record(l.FaultAt(yamldoc.Fault{
				Severity: yamldoc.SeverityWarning, Reason: "a rule may ask a person about a call of " + t.Name + ", and it has no phrase",
				Want: `write phrase: "what a call does, with {arguments}"`,
			}, l.declaredAt(t.Name)...))
		}
	}
}
