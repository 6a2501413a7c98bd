package gateway_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
)

// hashed is a policy that says one thing of every call.
type hashed struct {
	hash string
	gateway.Verdict
}

func (h hashed) Review(gateway.Case) gateway.Verdict { return h.Verdict }
func (h hashed) Hash() string                        { return h.hash }

func TestEachOfTwoPoliciesMustApprove(t *testing.T) {
	yes, no := gateway.Verdict{Decision: gateway.Approve, Reason: "yes"}, gateway.Verdict{Reason: "no"}
	ask := gateway.Verdict{Decision: gateway.Escalate, Reason: "ask", Expires: time.Hour, Least: gateway.UserAssurance}
	sign := gateway.Verdict{Decision: gateway.Escalate, Reason: "sign", Expires: time.Minute, Least: gateway.SignedAssurance}
	to := revise("to", n(1))
	tests := map[string]struct{ pattern, tool, want gateway.Verdict }{
		"both approve":                 {yes, gateway.Verdict{Decision: gateway.Approve, Reason: "also"}, yes},
		"the tool's blocks":            {yes, no, no},
		"the pattern's blocks":         {no, ask, no},
		"both block":                   {gateway.Verdict{Reason: "first"}, no, gateway.Verdict{Reason: "first"}},
		"a change before a no?":        {to, no, no},
		"a change before a yes":        {yes, to, to},
		"a change before a person":     {ask, to, to},
		"a person":                     {yes, ask, ask},
		"no rule of the tool's":        {ask, gateway.Verdict{}, gateway.Verdict{}},
		"an unknown decision":          {yes, gateway.Verdict{Decision: 77}, gateway.Verdict{Decision: 77}},
		"the shorter and the stricter": {ask, sign, gateway.Verdict{Decision: gateway.Escalate, Reason: "ask", Expires: time.Minute, Least: gateway.SignedAssurance}},
		"a time and none": {gateway.Verdict{Decision: gateway.Escalate, Reason: "any"}, ask,
			gateway.Verdict{Decision: gateway.Escalate, Reason: "any", Expires: time.Hour, Least: gateway.UserAssurance}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := gateway.Among{Pattern: hashed{"p", tt.pattern}, Tools: map[string]gateway.Reviewer{"pay": hashed{"t", tt.tool}}}
			if diff := cmp.Diff(tt.want, a.Review(gateway.Case{Tool: "pay"})); diff != "" {
				t.Errorf("Review, -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(tt.pattern, a.Review(gateway.Case{Tool: "look"})); diff != "" {
				t.Errorf("Review of a tool without a policy of its own, -want +got:\n%s", diff)
			}
		})
	}
	unknown := gateway.Verdict{Unknown: true, Reason: "counts"}
	for _, tt := range []struct{ pattern, tool, want gateway.Verdict }{
		{unknown, yes, unknown}, {yes, unknown, unknown}, {no, unknown, no}, {unknown, no, no}, {to, unknown, unknown}, {ask, unknown, unknown},
	} {
		a := gateway.Among{Pattern: hashed{"p", tt.pattern}, Tools: map[string]gateway.Reviewer{"pay": hashed{"t", tt.tool}}}
		if diff := cmp.Diff(tt.want, a.Review(gateway.Case{Tool: "pay"})); diff != "" {
			t.Errorf("Review of what is not known, -want +got:\n%s", diff)
		}
		if r := gateway.JudgeAlone(a, catalog.Tool{Name: "pay"}, gateway.Case{Tool: "pay"}, true); r.Unknown != tt.want.Unknown || r.Decision != gateway.Block {
			t.Errorf("the whole review: %s, unknown %v", r.Decision, r.Unknown)
		}
	}
	if got := (gateway.Among{}).Review(gateway.Case{Tool: "pay"}); got.Decision != gateway.Approve || got.Reason != gateway.Allowlisted {
		t.Errorf("without policies: %+v", got)
	}
}

func TestPoliciesByTheirHash(t *testing.T) {
	a, b := hashed{hash: "sha256:a"}, hashed{hash: "sha256:b"}
	one := map[string]gateway.Reviewer{"pay": a, "mail": a}
	two := map[string]gateway.Reviewer{"pay": a, "mail": b}
	tests := map[string]struct {
		among gateway.Among
		want  string // "": another one
	}{
		"the pattern's":            {gateway.Among{Pattern: a}, "sha256:a"},
		"the tools' one":           {gateway.Among{Tools: one}, "sha256:a"},
		"the pattern's and tools'": {gateway.Among{Pattern: a, Tools: one}, "sha256:a"},
		"two":                      {gateway.Among{Pattern: a, Tools: two}, ""},
		"the tools' two":           {gateway.Among{Tools: two}, ""},
	}
	seen := map[string]string{}
	for name, tt := range tests {
		got := tt.among.Hash()
		if tt.want != "" && got != tt.want {
			t.Errorf("%s: Hash = %s, want %s", name, got, tt.want)
		}
		if other, ok := seen[got]; ok && tt.want == "" {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[got] = name
	}
}
