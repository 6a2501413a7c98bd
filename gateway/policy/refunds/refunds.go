// Package refunds has the policy for the demo's refund tools. The policy is part of the embedded configuration. Its rules are
// ordinary rules, compiled for these tools.
//
// The text of the policy is server/settings/rules/demo_refunds.yaml. A test there writes the Go form that this package embeds.
// Reading the YAML at each start would take longer than the rest of the start.
package refunds

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/policy"
)

// Name is how the policy is called, and Pattern whose params count wherever it judges.
const (
	Name    = "demo_refunds"
	Pattern = "supervised_refund"
)

//go:embed refunds.json
var embedded []byte

// Source returns the source of the policy, without its tests and description. The caller must not change it.
var Source = sync.OnceValue(func() policy.Source {
	var s policy.Source
	_ = json.Unmarshal(embedded, &s) // a test holds that it is the text's
	return s
})

// Compile compiles a source of the policy for the demo's tools. params replace parameters of the source.
func Compile(source policy.Source, params map[string]any) (*policy.Policy, error) {
	tools, err := demo.Tools(demo.Config{})
	if err != nil {
		return nil, err
	}
	all, err := catalog.New(slices.DeleteFunc(tools, func(t catalog.Tool) bool { return !slices.Contains(demo.RefundTools, t.Name) })...)
	if err != nil {
		return nil, err
	}
	made, faults := policy.New(source, policy.Reach{
		Catalog: all, Alone: demo.RefundTools,
		Patterns: []policy.Reached{{Name: Pattern, Kind: gateway.Supervisor, Tools: demo.RefundTools, Params: params}},
	})
	for _, f := range faults {
		if !f.Warning {
			return nil, fmt.Errorf("%s: %s", f.Member, f)
		}
	}
	if made == nil {
		return nil, errors.New("the policy does not compile")
	}
	return made, nil
}

// Limits are the params of the reference patterns. The zero Limits pay nothing.
type Limits struct {
	AutoUSD   float64 // a refund above it needs a person
	PerRunUSD float64 // all refunds of a run together
	Days      float64 // a payment older than this is not refunded
}

// Defaults are those of the embedded configuration.
var Defaults = Limits{AutoUSD: 1000, PerRunUSD: 2000, Days: 14}

// Judge is the policy with these limits; one that does not compile blocks every call.
func (l Limits) Judge() *policy.Judge {
	made, err := Compile(Source(), l.params())
	if err != nil {
		return nil
	}
	return made.For(Pattern)
}

func (l Limits) params() map[string]any {
	return map[string]any{"auto_refund_limit_usd": l.AutoUSD, "max_refund_per_run_usd": l.PerRunUSD, "refund_window_days": l.Days}
}
