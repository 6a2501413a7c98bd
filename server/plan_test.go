package server

import (
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/reference"
	"patterngate/server/arguments"
)

// withPlanning adds the three tools of a planning pattern that begin runs, over the tools of the first pattern.
func withPlanning(list []Pattern, llm bool) []Pattern {
	first := list[0].Spec
	for _, verb := range []patterns.PlanVerb{patterns.DecomposeVerb, patterns.ExecuteVerb, patterns.ReplanVerb} {
		spec := patterns.Spec{
			Name: arguments.PlanTool("plan", verb), Kind: gateway.Planning, Plans: "plan", LLM: llm, Envelope: patterns.RequireNone,
			Catalog: first.Catalog, Tools: planningTools, Policy: planningTools, Execution: planningTools,
			Budget: gateway.DefaultBudget(gateway.Planning),
		}
		reference.Declare(&spec)
		list = append(list, Pattern{Spec: spec})
	}
	return list
}

// planningTools are the demo's tools that only read.
var planningTools = demo.ReadTools

// offersPlanning serves a planning pattern too, without a language model.
func offersPlanning(c *Config) { c.Patterns = withPlanning(c.Patterns, false) }
