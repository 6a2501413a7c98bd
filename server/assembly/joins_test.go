package assembly

import (
	"slices"
	"testing"

	"patterngate/patterns"
)

// A target that only the lists of allowed tools name is a route like any other: it declines by its status alone.
func TestRerouteOfWhatIsOnlyAllowed(t *testing.T) {
	const tools = `version: 1
catalog:
  http:
    look: {description: Looks., effect: read, request: {method: GET, url: 'https://shop.example/look'}}
    seek: {description: Seeks., effect: read, request: {method: GET, url: 'https://shop.example/seek'}}
`
	for name, text := range map[string]string{
		"desk":         "patterns:\n  desk: {kind: routing, title: Desk, description: Asks one., tools: [look], allow: {policy: [look, seek], execution: [look, seek]}}\n",
		"route_ticket": "demo: {enabled: true}\npatterns:\n  route_ticket: {allow: {policy: [look, seek], execution: [look, seek]}}\n",
	} {
		loaded, _, err := loadText(t, tools+text)
		if err != nil {
			t.Fatal(name, err)
		}
		d, err := Declare(loaded, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		specs := d.Specs()
		i := slices.IndexFunc(specs, func(s patterns.Spec) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("there is no %s", name)
		}
		for _, target := range []string{"look", "seek"} {
			reroute := specs[i].Reroute[target]
			if reroute == nil {
				t.Errorf("%s: a result of %s must say done or needs_reroute", name, target)
			} else if reroute(map[string]any{"found": true}) || !reroute(map[string]any{"status": "needs_reroute"}) {
				t.Errorf("%s: %s declines otherwise than by its status", name, target)
			}
		}
	}
}
