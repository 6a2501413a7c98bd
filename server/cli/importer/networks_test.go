package importer

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"patterngate/catalog"
)

// What was confirmed and what was not stand side by side: every key that stands there as a comment can be taken in.
func TestInitNamesNetworksOnce(t *testing.T) {
	server := func(name, address string, allow bool) Server {
		tool := importedTool{effect: catalog.Read, allow: allow}
		tool.Name = "look_at_" + name
		return Server{
			From: ClientServer{Name: name}, Name: name, url: "http://" + address + "/mcp", network: netip.PrefixFrom(netip.MustParseAddr(address), 32), tools: []importedTool{tool},
		}
	}
	for name, tt := range map[string]struct {
		servers   []Server
		says      string
		has, will []netip.Prefix
	}{
		"both":      {[]Server{server("near", "10.0.0.7", true), server("far", "10.0.0.8", false)}, "\n  # add to allow_networks before you enable a tool there: \"10.0.0.8/32\"\n", prefixes("10.0.0.7/32"), prefixes("10.0.0.7/32")},
		"confirmed": {[]Server{server("near", "10.0.0.7", true)}, "\n  allow_networks: [\"10.0.0.7/32\"]", prefixes("10.0.0.7/32"), prefixes("10.0.0.7/32")},
		"none":      {[]Server{server("far", "10.0.0.8", false)}, "\n  # allow_networks: [\"10.0.0.8/32\"]", nil, prefixes("10.0.0.8/32")},
	} {
		text := string(importedText("x", "patterngate.lock", tt.servers))
		if !strings.Contains(text, tt.says) {
			t.Errorf("%s: %q is not in\n%s", name, tt.says, text)
		}
		taken := regexp.MustCompile(`(?m)^( *)# ([a-z_]+: [\[{])`).ReplaceAllString(text, "$1$2")
		for text, want := range map[string][]netip.Prefix{text: tt.has, taken: tt.will} {
			loaded, _, err := loadWritten(t, text)
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			if !slices.Equal(loaded.Catalog.AllowNetworks, want) {
				t.Errorf("%s: the networks are %v, want %v:\n%s", name, loaded.Catalog.AllowNetworks, want, text)
			}
		}
	}
}

func prefixes(text string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(text)} }
