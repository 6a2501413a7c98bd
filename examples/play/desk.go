package main

// desk: a router whose routes are patterns. Only the offline rules propose here. All they know about these tools is
// their texts and schemas.
func desk(s *stage) {
	s.open()
	s.connect("order_desk", "where_is_it", "order_report", "refund_order")

	s.say("A question that one route answers: the run of where_is_it is a child of the run of order_desk.")
	r := s.call("order_desk", "ok success", `{"request": "Where is the parcel of order A-1002?"}`)
	s.member(r, "trace")

	s.say("An unknown parcel: that route declines, and another one takes the request.")
	s.call("order_desk", "ok success", `{"request": "Where is the parcel of order A-1003, and to which customer does it go?"}`)

	s.say("A small refund: the child reads the order, then pays. Its calls are judged by its own policy.")
	s.call("order_desk", "ok success", `{"request": "Refund 49 EUR of order A-1001 because the parcel came late."}`)

	s.say("A large one: the child waits for a person, and so does the desk.")
	r = s.call("order_desk", "waiting approval", `{"request": "Refund 239 EUR of order A-1003 because the glass came broken."}`)
	s.approve(r, 6)
	s.wait(r, "ok success")

	s.say("Every run with its child, and what the service paid:")
	s.run("runs list")
	s.show("ledger.jsonl")
}
