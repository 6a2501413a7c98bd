package assembly

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"patterngate/server/settings"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/rules"
	"patterngate/server/settings/yamldoc"
)

// faultCase is a file and the one line that says what is wrong with it.
type faultCase struct{ file, want string }

func testFaults(t *testing.T, tests map[string]faultCase) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := loadText(t, tt.file)
			if err == nil {
				t.Fatalf("Load(%q) loaded, want %s", tt.file, tt.want)
			}
			if got := err.Error(); got != tt.want {
				t.Errorf("Load(%q)\n got %s\nwant %s", tt.file, got, tt.want)
			}
		})
	}
}

// loadText loads a file pg.yaml with that text; faults name it without its directory.
func loadText(t *testing.T, text string, environ ...string) (Loaded, []yamldoc.Fault, error) {
	t.Helper()
	loaded, warnings, err := Load(settings.Sources{Path: writeConfig(t, text), Environ: environ}, LoadOptions{})
	if faults, ok := errors.AsType[*yamldoc.Error](err); ok {
		shorten(faults.Faults)
	}
	shorten(warnings)
	return loaded, warnings, err
}

func writeConfig(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pg.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func shorten(faults []yamldoc.Fault) {
	for i := range faults {
		if strings.HasSuffix(faults[i].File, "pg.yaml") {
			faults[i].File = "pg.yaml"
		}
	}
}

// sameConfig compares configurations; secrets by what they hold.
func sameConfig(want, got settings.Config) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmpopts.IgnoreTypes(grammar.Position{}), cmpopts.IgnoreUnexported(settings.Config{}), cmp.Comparer(func(a, b rules.Policy) bool { return a.Name == b.Name && bytes.Equal(a.Kept(), b.Kept()) }), cmp.Comparer(func(a, b settings.Secret) bool { return a.Reveal() == b.Reveal() }))
}

// binaries is a PATH on which the programs of the tests' files are.
func binaries(t testing.TB, names ...string) (path string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return "PATH=" + dir
}

// httpTool is the shortest http tool, with more members.
func httpTool(name, more string) string {
	return name + ": {description: Finds., effect: read, request: {method: GET, url: 'https://a.example/x'}" + more + "}"
}

// refundTools are the tools of the policies in these tests: lines 2 to 15 of a file.
const refundTools = `version: 1
catalog:
  http:
    read_order:
      description: Reads an order.
      effect: read
      request: {method: GET, url: "https://a.example/orders/{order_id}"}
      input: {order_id: {type: string, pattern: "^A-[0-9]{4}$"}}
    refund_charge:
      description: Pays money back.
      effect: write
      request: {method: POST, url: "https://a.example/refunds"}
      input: {order_id: {type: string}, amount_cents: {type: integer, minimum: 1}, reason: {type: string, enum: [late, broken], optional: true}}
patterns: {supervised_refund: {tools: [read_order, refund_charge], policy: refunds}}
policies:
  refunds:
`

// withPolicy is a file with these members of the policy refunds, from line 17 on.
func withPolicy(members ...string) string {
	text := refundTools
	for _, m := range members {
		text += "    " + strings.ReplaceAll(m, "\n", "\n    ") + "\n"
	}
	return text
}
