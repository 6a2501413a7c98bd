package main

// orders: refunds over npm's filesystem server and an HTTP service. The client's model proposes each action; here that is
// written out.
func orders(s *stage) {
	s.open()
	s.connect("refund_order", "read_order")

	s.say("Below the limit: the order is read, and the money goes back without an approval.")
	s.call("refund_order", "ok success", `{"goal": "Ann's parcel came late: pay her back.", "order_id": "A-1001", "actions": [
		{"kind": "tool", "name": "read_order", "args": {"path": "A-1001.json"}},
		{"kind": "tool", "name": "refund_charge", "args": {"order_id": "A-1001", "amount_cents": 4900, "reason": "late parcel"}},
		{"kind": "final", "answer": "Ann got her 49 EUR back."}]}`)

	s.say("Asked once more, for more: an order is refunded once, so nothing is sent.")
	s.call("refund_order", "stopped supervisor_block:once_reused", `{"goal": "Ann wants 60 EUR.", "order_id": "A-1001", "actions": [
		{"kind": "tool", "name": "read_order", "args": {"path": "A-1001.json"}},
		{"kind": "tool", "name": "refund_charge", "args": {"order_id": "A-1001", "amount_cents": 6000, "reason": "late parcel"}}]}`)

	s.say("An order that was not read: the rule order_was_read blocks the refund, and nothing is sent.")
	s.call("refund_order", "stopped supervisor_block:order_not_read", `{"goal": "Pay Bo back.", "order_id": "A-1002", "actions": [
		{"kind": "tool", "name": "refund_charge", "args": {"order_id": "A-1002", "amount_cents": 1900, "reason": "late parcel"}}]}`)

	s.say("A file that is not an order: outside the bound, and refused before the server sees it.")
	s.call("read_order", "stopped tool_bad_args:read_order", `{"path": "../patterngate.yaml"}`)

	s.say("Above the limit: the run waits for a person. No tool here can approve it.")
	r := s.call("refund_order", "waiting approval", `{"goal": "Cem's glass came broken: pay him back.", "order_id": "A-1003", "actions": [
		{"kind": "tool", "name": "read_order", "args": {"path": "A-1003.json"}},
		{"kind": "tool", "name": "refund_charge", "args": {"order_id": "A-1003", "amount_cents": 23900, "reason": "broken glass"}},
		{"kind": "final", "answer": "Cem got his 239 EUR back."}]}`)
	s.approve(r, 6)
	s.wait(r, "ok success")

	s.say("What the service paid:")
	s.show("ledger.jsonl")
}
