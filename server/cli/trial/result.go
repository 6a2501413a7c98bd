package trial

import (
	"encoding/json"
	"fmt"

	"patterngate/ijson"
)

// demoResult is the part of a tool's structured result that the demo reads.
type demoResult struct {
	Status string `json:"status"`
	Next   struct {
		Say string `json:"say"`
	} `json:"next"`
	StopReason    string           `json:"stop_reason"`
	Joined        bool             `json:"joined"`
	Plan          []map[string]any `json:"plan"`
	SelectedRoute string           `json:"selected_route"`
	Aggregate     struct {
		Health string `json:"health"`
	} `json:"aggregate"`
	Problems []struct {
		Pointer string `json:"pointer"`
		Reason  string `json:"reason"`
		Want    string `json:"want"`
	} `json:"problems"`
	Trace []struct {
		Retried bool `json:"retried"`
	} `json:"trace"`
	History []struct {
		Supervisor struct {
			Decision  string   `json:"decision"`
			Reason    string   `json:"reason"`
			Revisions []string `json:"revisions"`
		} `json:"supervisor"`
		Executed struct {
			Name string         `json:"name"`
			Args map[string]any `json:"args"`
		} `json:"executed_action"`
		Human struct {
			Approved bool   `json:"approved"`
			Comment  string `json:"comment"`
		} `json:"human_approval"`
	} `json:"history"`
	Effects []struct {
		Tool   string `json:"tool"`
		Effect string `json:"effect"`
		Status string `json:"status"`
	} `json:"effects"`
}

// readDemoResult reads a structured result. An invalid result becomes one that no act expects.
func readDemoResult(structured any) demoResult {
	var r demoResult
	if structured == nil {
		return r
	}
	if err := json.Unmarshal(ijson.Canonical(structured), &r); err != nil {
		return demoResult{StopReason: "unreadable: " + err.Error()}
	}
	return r
}

func (r demoResult) retried() int {
	n := 0
	for _, row := range r.Trace {
		if row.Retried {
			n++
		}
	}
	return n
}

// paid returns the sum of refunds, from the record.
func (r demoResult) paid() float64 {
	total := 0.0
	for _, h := range r.History {
		if h.Executed.Name == "issue_refund" {
			amount, _ := h.Executed.Args["amount_usd"].(float64)
			total += amount
		}
	}
	return total
}

// asked reports whether a person had to approve every refund.
func (r demoResult) asked() bool {
	seen := false
	for _, h := range r.History {
		if h.Executed.Name == "issue_refund" {
			seen = true
			if h.Supervisor.Decision != "escalate" {
				return false
			}
		}
	}
	return seen
}

// done returns in words what the run's calls did.
func (r demoResult) done() string {
	reads, writes := 0, 0
	for _, e := range r.Effects {
		switch {
		case e.Status != "done":
		case e.Effect == "read":
			reads++
		default:
			writes++
		}
	}
	switch {
	case reads+writes == 0:
		return "nothing was called"
	case writes == 0:
		return count(reads, "look-up")
	case r.paid() > 0:
		return fmt.Sprintf("%s, %s, %.2f USD paid", count(reads, "look-up"), count(writes, "write"), r.paid())
	}
	return count(reads, "look-up") + ", " + count(writes, "write")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
