package catalog_test

import (
	"testing"

	"patterngate/catalog"
)

// A person swaps letters. Results of calls keep the narrower [catalog.Near].
func TestNearTyped(t *testing.T) {
	names := []string{"goal", "policy", "list", "test", "model", "nights", "runs", "tools", "reload", "nodes_in", "nodes_inn", "set_a", "set_b"}
	for got, want := range map[string]string{
		"gaol": "goal", "tset": "test", "modle": "model", "nigths": "nights", "polcy": "policy", "lst": "list", "RUNS": "runs", "rnus": "runs",
		"nodes_nin": "", "set_c": "", "toosl": "tools", "tst": "test", "glao": "", "xyz": "", "": "",
	} {
		if near := catalog.NearTyped(got, names); near != want {
			t.Errorf("NearTyped(%q) = %q, want %q", got, near, want)
		}
	}
	if near := catalog.Near("gaol", names); near != "" {
		t.Errorf("Near(gaol) = %q, want none: results of calls do not count a swap as one edit", near)
	}
	if near := catalog.NearTyped("setting_x", []string{"setting_xyz", "setting_xy"}); near != "setting_xy" {
		t.Errorf("NearTyped of two names at other distances = %q, want the nearest", near)
	}
}
