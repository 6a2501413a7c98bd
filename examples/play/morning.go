package main

import "fmt"

// morning: a report over three MCP servers, on four days. The plan is the client's: three workers, side by side.
func morning(s *stage) {
	s.open()
	s.connect("morning_report")
	for _, day := range []struct{ is, date, want, health string }{
		{"A good day: all three answer.", "2026-11-19", "ok success", "green"},
		{"A day on which much was paid back: more than a tenth of the sales is red.", "2026-11-20", "ok success", "red"},
		{"The warehouse does not answer: a worker fails, the report comes without its field.", "2026-11-21", "ok success", "yellow"},
		{"No sales figures: that worker is critical, so there is no report.", "2026-11-22", "stopped critical_task_failed", ""},
	} {
		s.say(day.is)
		r := s.call("morning_report", day.want, fmt.Sprintf(`{"goal": "How did the shop do?", "day": %q, "plan": {"tasks": [
			{"id": "s", "worker": "sales"}, {"id": "r", "worker": "refunds"}, {"id": "w", "worker": "stock"}]}}`, day.date))
		if day.health != "" {
			s.member(r, "aggregate")
		}
		if r.Aggregate.Health != day.health {
			s.fail("%s: health %q, want %q", day.date, r.Aggregate.Health, day.health)
		}
	}
}
