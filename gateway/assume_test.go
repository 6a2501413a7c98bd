package gateway_test

import (
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
)

// What depends on whether an assumed call goes well is unknown only where the verdict does; what depends on its result always is.
func TestReviewOfAssumedCalls(t *testing.T) {
	tools, err := catalog.New(payWith(t, `{"cents":{"type":"integer"}}`))
	if err != nil {
		t.Fatal(err)
	}
	capped := gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		least, most := number(c.Args, "cents"), number(c.Args, "cents")
		unknown := false
		for _, e := range c.Effects {
			if e.Assumed && e.Well == 0 {
				unknown = true
			} else if e.Counts() {
				least += number(e.Args, "cents")
			}
			most += number(e.Args, "cents")
		}
		switch {
		case unknown, most == 13:
			return gateway.Verdict{Unknown: true, Reason: "cap", Rule: "cap"}
		case least > 100:
			return gateway.Verdict{Reason: "cap"}
		}
		return gateway.Verdict{Decision: gateway.Approve, Reason: "fine"}
	})
	for name, tt := range map[string]struct {
		before []float64
		cents  float64
		want   string
	}{
		"under the cap however it goes": {[]float64{10, 20}, 70, "approve fine"},
		"over it however it goes":       {[]float64{10}, 101, "block cap"},
		"it depends":                    {[]float64{10, 20}, 71, "unknown cap"},
		"on one of two":                 {[]float64{1, 20}, 85, "unknown cap"},
		"on the result":                 {[]float64{1}, 12, "unknown cap"},
		"of eight":                      {[]float64{1, 1, 1, 1, 1, 1, 1, 1}, 2, "approve fine"},
		"of too many":                   {[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1}, 2, "unknown cap"},
	} {
		g := gateway.NewGate(gateway.Config{Catalog: tools, Execution: []string{"pay"}, Reviewer: capped, Budget: gateway.NoBudget()})
		for _, cents := range tt.before {
			g.Assume(gateway.Proposal{Tool: "pay", Args: values{"cents": cents}})
		}
		r := g.Review(gateway.Case{Tool: "pay", Args: values{"cents": tt.cents}})
		got := r.Decision.String() + " " + r.Reason
		if r.Unknown {
			got = "unknown " + r.Reason
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
