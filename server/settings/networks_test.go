package settings_test

import (
	"strings"
	"testing"
)

// An address that is never dialled is told of when the file is read, at its place and with the line to add; with that line the
// warning is gone.
func TestClosedAddressesAreWarnedOf(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:8080/x/{id}": `127.0.0.1 is a loopback address, and Patterngate does not connect to it, so every call fails; write allow_networks: ["127.0.0.1/32"] in catalog`,
		"https://10.1.2.3/x":           `10.1.2.3 is a private address, and Patterngate does not connect to it, so every call fails; write allow_networks: ["10.1.2.3/32"] in catalog`,
		"http://[::1]:8080/x":          `::1 is a loopback address, and Patterngate does not connect to it, so every call fails; write allow_networks: ["::1/128"] in catalog`,
		"http://localhost:8080/x":      `localhost leads to 127.0.0.1, a loopback address, and Patterngate does not connect to it, so every call fails; write allow_networks: ["127.0.0.1/32", "::1/128"] in catalog`,
		"https://pay.example.com/x":    "",
	} {
		for place, text := range map[string]string{
			"catalog.http.find.request.url":  "version: 1\ncatalog:\n  http: {find: {description: Finds., effect: read, input: {id: {type: string}}, request: {method: GET, url: '" + url + "'}}}\n",
			"catalog.servers.crm.http.url":   "version: 1\ncatalog:\n  servers: {crm: {http: {url: '" + strings.ReplaceAll(url, "/{id}", "") + "'}, tools: {look: {effect: read}}}}\n",
			"catalog.servers.down.http.url!": "version: 1\ncatalog:\n  servers: {down: {enabled: false, http: {url: '" + strings.ReplaceAll(url, "/{id}", "") + "'}, tools: {look: {effect: read}}}}\n",
		} {
			told := func(text string) (lines []string) {
				_, warnings, err := readText(t, text)
				if err != nil {
					t.Fatalf("%v in\n%s", err, text)
				}
				for _, w := range warnings {
					if strings.Contains(w.Reason, "does not connect") {
						lines = append(lines, w.Path+": "+w.Reason+"; "+w.Want)
						if w.Line != 3 {
							t.Errorf("%s is in line 3", w)
						}
					}
				}
				return lines
			}
			got := told(text)
			if want == "" || strings.HasSuffix(place, "!") {
				if got != nil {
					t.Errorf("%s at %s: %q, want no warning", url, place, got)
				}
				continue
			}
			if len(got) != 1 || got[0] != place+": "+want {
				t.Errorf("%s: %q\nwant %q", url, got, place+": "+want)
				continue
			}
			line := strings.TrimSuffix(want[strings.Index(want, "allow_networks"):], " in catalog")
			if got := told(strings.Replace(text, "catalog:\n", "catalog:\n  "+line+"\n", 1)); got != nil {
				t.Errorf("%s with the line %s: %q", url, line, got)
			}
		}
	}
}
