package web

import (
	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/record"
)

// demo reports whether every tool that a run called, and every tool that its questions are about, was simulated. It returns false if
// there is no such tool, if the record cannot be read completely, or if this program does not know the run's tools.
func (p *Pages) demo(s record.Story, about ...patterns.Asked) bool {
	simulated := p.simulated(s)
	tools := map[string]bool{}
	for _, a := range about {
		toolsOf(a, tools)
	}
	for _, row := range s.Rows {
		switch row.Kind {
		case string(patterns.ToolEffect):
			tools[row.Name] = true
		case record.Unreadable:
			return false
		}
	}
	for tool := range tools {
		if !simulated(tool) {
			return false
		}
	}
	return len(tools) > 0
}

// toolsOf adds the tools that a question is about.
func toolsOf(a patterns.Asked, tools map[string]bool) {
	e, whole := a.Plan()
	if !whole {
		tools[a.Question.Tool] = true
		return
	}
	for _, step := range e.Steps {
		if step.Tool != planning.ModelExecutor && step.Tool != planning.CallerExecutor {
			tools[step.Tool] = true
		}
	}
}

// simulated returns a function that reports whether a tool of a run is simulated. It is false for every tool of a run that this program
// does not know the tools of.
func (p *Pages) simulated(s record.Story) func(tool string) bool {
	if p.config.Simulated != nil {
		if known := p.config.Simulated(s.Hashes()); known != nil {
			return known
		}
	}
	return func(string) bool { return false }
}

// demoRows returns a function that reports whether a question is about simulated tools. It reads the records of at most 20 runs. For
// a question of another run it returns false.
func (p *Pages) demoRows() func(patterns.Asked) bool {
	const most = 20
	stories := map[string]record.Story{}
	return func(a patterns.Asked) bool {
		story, known := stories[a.Question.Run]
		if !known && len(stories) < most && p.config.Simulated != nil {
			if events, _, err := p.config.Owner.Record(a.Question.Run); err == nil {
				story = record.Read(events)
			}
			stories[a.Question.Run] = story
		}
		return p.demo(story, a)
	}
}
