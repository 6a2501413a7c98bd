package main

import "fmt"

// errand: a plan of subtasks over own tools, which a person approves as a whole because it writes.
func errand(s *stage) {
	s.open()
	s.connect("errand_decompose", "errand_execute", "errand_replan", "errand_status")

	s.say("The client's model plans: look at the order and its parcel, then note on the order where the parcel is.")
	p := s.call("errand_decompose", "ok success", `{"goal": "Bo asks for his parcel: note on the order where it is.", "team": "support", "plan": {"subtasks": [
		{"id": "order", "description": "Look at the order", "tool": "read_order", "args": {"order_id": "A-1002"}},
		{"id": "parcel", "description": "Ask where the parcel is", "tool": "track_parcel", "args": {"order_id": "A-1002"}},
		{"id": "note", "description": "Note the place", "tool": "note_order", "dependencies": ["order", "parcel"],
			"args": {"order_id": "A-1002", "text": "$results.parcel./place"}}]}}`)

	s.say("It writes, so a person sees the whole plan before anything of it runs.")
	r := s.call("errand_execute", "waiting approval", fmt.Sprintf(`{"plan_id": %q}`, p.PlanID))
	s.approve(r, 11)
	s.wait(r, "ok success")
	s.show("errand/orders/A-1002.notes")

	s.say("A plan that only reads runs at once.")
	p = s.call("errand_decompose", "ok success", `{"goal": "Which orders are there, and what of A-1003?", "team": "warehouse", "plan": {"subtasks": [
		{"id": "all", "description": "Which there are", "tool": "list_orders", "args": {}},
		{"id": "one", "description": "Look at one", "tool": "read_order", "args": {"order_id": "A-1003"}}]}}`)
	s.call("errand_execute", "ok success", fmt.Sprintf(`{"plan_id": %q, "parallel": true}`, p.PlanID))
}
