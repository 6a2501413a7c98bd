// Package refunds has the policy that judges the demo's refund tools, as it is embedded in the configuration: rules like any
// other, compiled for the tools that they are written for.
//
// Its text is server/settings/rules/demo_refunds.yaml; a test there writes what this package embeds of it, since reading YAML takes longer
// than all else of a start.
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

// Source is the policy as it is written, without its tests and description. It must not be changed.
var Source = sync.OnceValue(func() policy.Source {
	var s policy.Source
	_ = json.Unmarshal(embedded, &s) // a test holds that it is the text's
	return s
})

// Compile compiles a text of the policy for the demo's tools, with params laid over its own.
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
