package settings_test

import (
	"testing"

	"patterngate/server/settings"
	"patterngate/server/settings/rules"
)

// The embedded configuration has the policy of the demo, and judges by it as its whole file says.
func TestDemoPolicyIsEmbedded(t *testing.T) {
	var c settings.Config
	if err := c.Embed(nil); err != nil {
		t.Fatal(err)
	}
	whole := c.PolicyNamed(rules.Demo).Whole().Source
	if got := c.PolicyNamed(rules.Demo); got == nil || !got.Embedded || string(got.Kept()) != string((&rules.Policy{Source: whole}).Kept()) {
		t.Errorf("the embedded configuration has %+v", got)
	}
}
