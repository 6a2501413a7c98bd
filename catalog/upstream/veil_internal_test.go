package upstream

import "testing"

// Of two secrets one may begin the other: nothing of the longer one is left.
func TestVeilHidesTheLongerFirst(t *testing.T) {
	var v veil
	v.add("admin1")
	v.add("admin1-swordfish")
	if got := v.hide("login admin1-swordfish as admin1"); got != "login *** as ***" {
		t.Errorf("hide = %s", got)
	}
}
