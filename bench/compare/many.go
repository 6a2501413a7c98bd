package main

import (
	"fmt"

	"patterngate/bench"
)

// What many runs at once may cost.
const (
	atOnce       = 1000
	mostTimes    = 1.3 // the time of one
	mostMB       = 170.0
	mostMBServed = 230.0
)

// whose says whose plan is carried out.
func whose(by bench.Proposer) string {
	if by == bench.ByCaller {
		return "caller's plan"
	}
	return "rules' plan"
}

var proposers = []bench.Proposer{bench.ByRules, bench.ByCaller}

// manyLocal prints the time and memory of many runs at once in a process of their own.
func (c *comparison) manyLocal() error {
	c.manyHead("in process")
	for _, by := range proposers {
		err := c.manyRow(whose(by), mostMB, func() (bench.Many, error) { return c.programs.ManyInProcess(by, atOnce) })
		if err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

// manyHTTP prints the same of a server. A session has a cost of its own, which is allowed it where there are many.
func (c *comparison) manyHTTP() error {
	c.manyHead("over HTTP")
	for _, way := range []struct {
		title    string
		era      bench.Era
		sessions int
		most     float64
	}{
		{"2026-07-28", bench.Stateless, 1, mostMBServed},
		{"2025-11-25", bench.Handshake, 1, mostMBServed},
		{"1,000 sessions", bench.Handshake, atOnce, mostMBServed + mostSessionKB*atOnce/1024},
	} {
		for _, by := range proposers {
			err := c.manyRow(way.title+" "+whose(by), way.most, func() (bench.Many, error) {
				return c.programs.ManyOverHTTP(c.model, way.era, by, atOnce, way.sessions)
			})
			if err != nil {
				return err
			}
		}
	}
	fmt.Println()
	return nil
}

func (c *comparison) manyHead(where string) {
	fmt.Printf("%d orchestrator runs at once with the reference's delays, %s: %d times\n", atOnce, where, manyTimes)
	fmt.Printf("%-30s %7s %7s %7s %8s %13s %13s %12s %15s\n", "", "one s", "all s", "cpu s", "all/one", "from to", "target", "peak MB", "target")
}

// manyTimes is how often they are carried out, each time by a new process.
const manyTimes = 3

func (c *comparison) manyRow(title string, most float64, measure func() (bench.Many, error)) error {
	var one, all, cpu bench.Figures
	var times, peaks []float64
	for range manyTimes {
		m, err := measure()
		if err != nil {
			return fmt.Errorf("%s: %w", title, err)
		}
		one, all, cpu = append(one, m.One), append(all, m.All), append(cpu, m.CPU)
		times, peaks = append(times, m.Times()), append(peaks, m.PeakMB)
	}
	r, peak := bench.SpreadOf(times), bench.SpreadOf(peaks)
	fmt.Printf("%-30s %7.3f %7.3f %7.2f %7.2fx %5.2f to %4.2f %13s %4.0f to %4.0f %15s\n",
		title, one.Median().Seconds(), all.Median().Seconds(), cpu.Median().Seconds(),
		r.Median, r.Low, r.High, fmt.Sprintf("<= %.1f %s", mostTimes, verdict(r.Median <= mostTimes)),
		peak.Low, peak.High, fmt.Sprintf("<= %.0f %s", most, verdict(peak.High <= most)))
	return nil
}

// What a new principal's session may cost, and what all may leave behind: the answers that the server keeps take one
// of these megabytes, and the figures are whole ones.
const (
	mostSessionKB = 16
	mostLeftMB    = 2
)

// sessions prints what sessions cost the server.
func (c *comparison) sessions() error {
	got, err := c.programs.MeasureSessions(c.model, bench.MostPrincipals)
	if err != nil {
		return err
	}
	fmt.Printf("sessions over HTTP: %d, each of a principal of its own\n", got.N)
	fmt.Printf("%-28s %8.1f %8s %s\n", "KB each, in use", got.EachKB, fmt.Sprintf("< %d", mostSessionKB), verdict(got.EachKB < mostSessionKB))
	fmt.Printf("%-28s %8d %8s %s\n\n", "MB in all, after DELETE", got.LeftMB, fmt.Sprintf("<= %d", mostLeftMB), verdict(got.LeftMB <= mostLeftMB))
	return nil
}
