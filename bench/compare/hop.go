package main

import (
	"fmt"

	"patterngate/bench"
)

// hopRounds is how many short rounds make one round. They are short so that the speed of the machine hardly changes within one.
const hopRounds = 4

// What a hop may cost beside the bare echo.
const (
	mostTime        = 1.15 // of a call
	leastThroughput = 0.85 // of 64 at once
)

// hop prints a line for one call at a time and one for many at once, in each era.
func (c *comparison) hop(http bool) error {
	over := "stdio"
	if http {
		over = "HTTP"
	}
	fmt.Printf("hop over %s: describe_catalog beside an echo of the same answer, %d rounds of %d calls\n", over, hopRounds*c.rounds, c.runs/2)
	fmt.Printf("%-28s %9s %9s %9s %9s %13s  %s\n", "", "bare us", "ours us", "control", "ours", "half of them", "target")
	for _, era := range bench.Eras() {
		sides, err := c.programs.Hop(c.model, era, http)
		if err != nil {
			return err
		}
		h, err := bench.MeasureHop(sides, hopRounds*c.rounds, c.runs/2)
		for _, s := range sides {
			_ = s.Close() // measured already
		}
		if err != nil {
			return err
		}
		each := h.Each[2].To(h.Each[0])
		row(string(era)+" time of a call", h.Each, h.Each[1].Over(h.Each[0]), each, fmt.Sprintf("<= %.2f", mostTime), each.Median <= mostTime)
		fresh := h.New[2].To(h.New[0])
		row(string(era)+" not asked before", h.New, h.New[1].Over(h.New[0]), fresh, "", fresh.Median <= mostTime)
		crowd := h.Crowd[0].To(h.Crowd[2])
		row(string(era)+" 64 at once", h.Crowd, h.Crowd[0].Over(h.Crowd[1]), crowd, fmt.Sprintf(">= %.2f", leastThroughput), crowd.Median >= leastThroughput)
	}
	fmt.Println()
	return nil
}

// row prints a line, with a target if there is one.
func row(title string, f []bench.Figures, control float64, ours bench.Spread, target string, met bool) {
	if target != "" {
		target += " " + verdict(met)
	}
	fmt.Printf("%-28s %9.1f %9.1f %8.2fx %8.2fx %5.2f to %4.2f  %s\n",
		title, us(f[0].Median()), us(f[2].Median()), control, ours.Median, ours.Low, ours.High, target)
}
