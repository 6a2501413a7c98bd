package patterns

import "time"

// Switch is a kill switch that is on: it stops calls of one tool, runs of one pattern, or everything. The zero Switch stops
// everything.
type Switch struct {
	Tool, Pattern          string // at most one of them
	Reason                 string // of who set it, for people
	By, Channel, Assurance string
	At                     time.Time
}
