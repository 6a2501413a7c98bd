package upstream

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"patterngate/catalog"
)

// Of two secrets one may begin the other: nothing of the longer one is left.
func TestVeilHidesTheLongerFirst(t *testing.T) {
	var v veil
	v.add(nil, "admin1")
	v.add(nil, "admin1-swordfish")
	if got := v.hide("login admin1-swordfish as admin1"); got != "login *** as ***" {
		t.Errorf("hide = %s", got)
	}
}

// A text of many lines and one that is renewed often have no other forgotten, nor themselves.
func TestVeilKeepsEachSecret(t *testing.T) {
	var v veil
	reveal := func(s catalog.Secret) {
		if _, err := s.Text(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := v.reveal(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	is := func(text string) catalog.Secret {
		return catalog.NewSecret(func(context.Context) (string, error) { return text, nil }, nil)
	}
	reveal(is("swordfish"))
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("line number %d.", i))
	}
	chain := strings.Join(lines, "\n")
	reveal(is(chain))
	n := 0
	renewed := catalog.NewSecret(func(context.Context) (string, error) { n++; return fmt.Sprintf("token number %d.", n), nil }, nil)
	for range 500 {
		reveal(renewed)
		renewed.Forget()
	}
	for _, text := range []string{"swordfish", chain, "line number 0.", "line number 199.", "token number 500."} {
		if got := v.hide(text); got != "***" {
			t.Errorf("hide(%.20q) = %.100q", text, got)
		}
	}
	if got := v.hide("token number 1."); got != "token number 1." {
		t.Errorf("a text of long ago is kept without end: %s", got)
	}
}
