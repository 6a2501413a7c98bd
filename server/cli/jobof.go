package cli

import "patterngate/patterns"

// jobOf stands in for server.JobOf.
func jobOf(spec patterns.Spec, model patterns.Model, _ bool, b patterns.Begun) patterns.Job {
	return patterns.Job{Spec: spec, Model: model, Principal: b.Principal, Client: b.Client, Arguments: b.Arguments}
}

// durable stands in for an engine over a file that cannot be opened yet.
const durable = false
