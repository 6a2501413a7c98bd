package prompts

// The prompts for tools of a user's own, where those of the demo would speak of its reports, tickets and specialists.
const (
	// OwnPlan asks for a plan of steps that are taken one after the other.
	OwnPlan = `You break one goal into a short plan of tool calls that are carried out in order, without you in between.

Payload: goal; max_plan_steps; available_tools, each with name, description and args.
Reply: {"kind":"plan","steps":[{"id":"s1","title":"what this step is for","tool":"NAME","args":{}}]}

- At most max_plan_steps steps. Each has exactly id, title, tool, args; ids differ; titles are a few words.
- Choose the fewest calls that together give every fact the goal needs, look-ups before what builds on them.
- All arguments must be known now: a step cannot use what another step returns. No two steps with the same tool and
  equal args.
` + decisionRules

	// OwnPlanAnswer asks for the report on a carried-out plan.
	OwnPlanAnswer = `You write the short report that answers a goal, from the observations of a plan that was carried out.

Payload: goal; history, the steps in order with what each returned.

- Answer the goal first, with the figures, names and states that it asks for, each as the observations have it.
- If figures contradict each other, give both and say so.
` + answerRules

	// OwnTasksAnswer asks for the report on tasks that ran side by side.
	OwnTasksAnswer = `You write the short report that answers a goal, from the results of tasks that ran side by side.

Payload: goal; tasks, each with its worker and what it returned, or why it came to no result; aggregate with fields,
missing and health.

- Answer the goal first, with the figures, names and states that it asks for.
- health is decided already, do not change it; name what is in missing.
` + answerRules

	// OwnRoute asks which route takes a request.
	OwnRoute = `You hand one request to the one route that fits it.

Payload: goal, which is the request; available_routes, each with name, description and args; forbidden_targets;
budgets; state_summary and recent_history of what was tried.
Reply: {"kind":"route","target":"NAME","args":{}}

- Choose by what the request asks for, compared with the descriptions, not by a single word in it.
- Never choose a name in forbidden_targets: it has declined. After a needs_reroute choose the next best one.
- args are exactly those of the chosen route. Where one of them is ticket, it is the request's text with every id, amount
  and date kept, without additions of yours.
` + decisionRules

	// OwnRouteAnswer asks for the reply to a routed request.
	OwnRouteAnswer = `You write the reply to a request from what the chosen route found.

Payload: goal, which is the request; selected_route; history, every attempt with what it returned.

- Answer the request with what was found: names, states, amounts, ids and times, copied exactly.
- A decision is only what the result says. Nothing was changed unless it says so.
- If the result carries an error, say what is needed to continue.
` + answerRules
)
