package assembly

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/settings"
	"patterngate/server/settings/grammar"
)

// reloaded loads a configuration from its own snapshot.
func reloaded(c Loaded, environ ...string) (Loaded, error) {
	return configOfSnapshot(c.Hash(), c.Snapshot(), snapshotKeys{own: c.LLM}, environ)
}

// A run is continued under exactly what it began with.
func TestSnapshotIsExact(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pg.yaml")
	rapid.Check(t, func(t *rapid.T) {
		text, environ := drawnConfig(t)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, _, err := Load(settings.Sources{Path: path, Environ: environ}, LoadOptions{})
		if err != nil {
			t.Fatalf("Load(%s): %v", text, err)
		}
		again, err := reloaded(loaded, environ...)
		if err != nil {
			t.Fatalf("the snapshot of %s does not load: %v\n%s", text, err, loaded.Snapshot())
		}
		if got, want := again.Hash(), loaded.Hash(); got != want {
			t.Fatalf("hash %s after a round trip, want %s:\n%s\n%s", got, want, again.Snapshot(), loaded.Snapshot())
		}
		if diff := sameConfig(determining(loaded), determining(again)); diff != "" {
			t.Fatalf("a round trip changes what runs go by (-want +got):\n%s", diff)
		}
	})
}

// determining is what of a configuration a run goes by.
func determining(c Loaded) settings.Config {
	d := settings.Config{Demo: c.Demo, DemoEnabled: c.DemoEnabled, Catalog: c.Catalog, Patterns: c.Patterns, Redact: c.Redacted()}
	d.Wait.Caller = c.Wait.Caller
	if d.LLM.Provider = c.LLM.Resolved(); d.LLM.Provider == "openai" {
		d.LLM = c.LLM
		d.LLM.Provider = "openai"
	}
	return d
}

// drawnConfig makes a file that loads, and an environment for it.
func drawnConfig(t *rapid.T) (text string, environ []string) {
	file := map[string]any{"version": 1.0}
	maybe := func(in map[string]any, name string, value func() any) {
		if rapid.Bool().Draw(t, "has "+name) {
			in[name] = value()
		}
	}
	number := func(least, most float64) func() any {
		return func() any { return rapid.Float64Range(least, most).Draw(t, "number") }
	}
	count := func(least, most int) func() any {
		return func() any { return float64(rapid.IntRange(least, most).Draw(t, "count")) }
	}
	names := func() any {
		return grammar.TextValues(rapid.SliceOfN(rapid.StringMatching(`[a-zA-Z0-9_-]{1,12}`), 0, 4).Draw(t, "names"))
	}
	llm, wait, patterns := map[string]any{}, map[string]any{}, map[string]any{}
	maybe(llm, "provider", func() any { return rapid.SampledFrom([]string{"auto", "rules"}).Draw(t, "provider") })
	maybe(llm, "model", func() any { return rapid.StringMatching(`[a-z"\\é😀 ]{0,6}m`).Draw(t, "model") })
	maybe(llm, "base_url", func() any { return "http://127.0.0.1:" + fmt.Sprint(rapid.IntRange(1, 9).Draw(t, "port")) })
	maybe(llm, "timeout_seconds", number(0, 3600))
	maybe(llm, "max_retries", count(0, 10))
	maybe(wait, "caller_seconds", number(0, 86_400))
	maybe(file, "demo", func() any { return map[string]any{"delay_factor": number(0, 100)()} })
	maybe(file, "redact", func() any {
		return grammar.TextValues(rapid.SliceOfN(rapid.SampledFrom([]string{"/args/a", "/answer", "/result/*/é", "/input/a~1b"}), 0, 4).Draw(t, "redact"))
	})
	for _, name := range settings.BuiltinPatterns {
		budget, p := map[string]any{}, map[string]any{}
		maybe(budget, "max_seconds", number(0, 86_400))
		for _, limit := range []string{"max_tool_calls", "max_llm_calls", "max_tokens"} {
			maybe(budget, limit, count(0, 10_000))
		}
		maybe(p, "enabled", func() any { return rapid.Bool().Draw(t, "enabled") })
		maybe(p, "allow", func() any { return map[string]any{"policy": names(), "execution": names()} })
		if name == "supervised_refund" {
			maybe(p, "params", func() any {
				usd := rapid.SampledFrom([]float64{0, 0.1, 1e-7, 999.995, 1e16, 1e20, 1e21, 1.7976931348623157e308})
				return map[string]any{"auto_refund_limit_usd": exponent(usd.Draw(t, "usd")), "max_refund_per_run_usd": exponent(usd.Draw(t, "usd"))}
			})
			maybe(p, "approver", func() any {
				approver := map[string]any{"cap_usd": number(0, 1e6)()}
				maybe(approver, "kind", func() any { return rapid.SampledFrom([]string{"inbox", "simulated", "reject"}).Draw(t, "kind") })
				maybe(approver, "expires_seconds", count(60, 2_592_000))
				maybe(approver, "min_assurance", func() any { return rapid.SampledFrom([]string{"user", "signed"}).Draw(t, "assurance") })
				return approver
			})
		}
		if name == "plan" {
			drawnPlanning(t, p, budget)
		}
		p["budget"] = budget
		patterns[name] = p
	}
	file["llm"], file["wait"], file["patterns"] = llm, wait, patterns
	if rapid.Bool().Draw(t, "has a key") {
		environ = append(environ, settings.KeyVariable+"=key")
	}
	text = string(ijson.Canonical(file))
	return strings.NewReplacer(`"<`, "", `>"`, "").Replace(text), environ
}

// drawnPlanning adds to a pattern what only planning has.
func drawnPlanning(t *rapid.T, p, budget map[string]any) {
	flag := func(name string) bool { return rapid.Bool().Draw(t, "has "+name) }
	if flag("narrow") {
		p["allow"] = map[string]any{"policy": nil, "execution": []any{}}
	}
	if flag("tools") {
		p["tools"] = grammar.TextValues(rapid.SliceOfN(rapid.SampledFrom(append([]string{"nope"}, settings.DemoTools...)), 0, 4).Draw(t, "tools"))
	}
	if flag("own llm") {
		p["llm"] = map[string]any{"model": "m", "temperature": rapid.Float64Range(0, 2).Draw(t, "temperature")}
	}
	if flag("words") {
		p["instructions"] = rapid.StringMatching(`[a-z
"é😀 ]{0,9}(\{\{/\* a \*/\}\})?`).Draw(t, "instructions")
	}
	p["require_approval"] = rapid.SampledFrom([]string{"none", "plan", "write"}).Draw(t, "require")
	budget["max_replans"], budget["max_calls_per_tool"] = float64(rapid.IntRange(0, 10_000).Draw(t, "replans")), rapid.SampledFrom([]any{nil, 0.0, 7.0}).Draw(t, "per tool")
	budget["subtask_timeout_seconds"] = rapid.Float64Range(0, 86_400).Draw(t, "seconds")
}

// exponent marks a number that a file cannot spell in digits alone.
func exponent(n float64) any {
	if n > ijson.MaxInteger {
		return fmt.Sprintf("<%e>", n)
	}
	return n
}

// What a snapshot needs and this process lacks is named; nothing that a state file says beyond that is followed.
func TestSnapshotOfOthers(t *testing.T) {
	keyed := embedded(t)
	keyed.LLM.APIKey = settings.NewSecret("key")
	rules := embedded(t)
	swapped := strings.Replace(string(keyed.Snapshot()), "env:OPENAI_API_KEY", "env:AWS_SECRET_ACCESS_KEY", 1)
	newer := strings.Replace(string(rules.Snapshot()), `"demo":{`, `"demo":{"colour":"red",`, 1)
	spaced := strings.Replace(string(rules.Snapshot()), `{`, `{ `, 1)
	missing := func(hash string) *patterns.Lacking {
		return &patterns.Lacking{Cause: "config_missing", Needs: []string{hash}}
	}
	tests := map[string]struct {
		hash, snapshot string
		environ        []string
		want           *patterns.Lacking
	}{
		"no key here":              {keyed.Hash(), string(keyed.Snapshot()), nil, &patterns.Lacking{Cause: "secret_missing", Needs: []string{"env:OPENAI_API_KEY"}}},
		"an empty key":             {keyed.Hash(), string(keyed.Snapshot()), []string{"OPENAI_API_KEY="}, &patterns.Lacking{Cause: "secret_missing", Needs: []string{"env:OPENAI_API_KEY"}}},
		"another hash":             {keyed.Hash(), string(rules.Snapshot()), nil, missing(keyed.Hash())},
		"a key of another name":    {hashOf([]byte(swapped)), swapped, []string{"AWS_SECRET_ACCESS_KEY=a", "OPENAI_API_KEY=b"}, missing(hashOf([]byte(swapped)))},
		"a key that is not known":  {hashOf([]byte(newer)), newer, nil, missing(hashOf([]byte(newer)))},
		"JSON that is not ours":    {hashOf([]byte(spaced)), spaced, nil, missing(hashOf([]byte(spaced)))},
		"nothing":                  {hashOf(nil), "", nil, missing(hashOf(nil))},
		"a list":                   {hashOf([]byte("[]")), "[]", nil, missing(hashOf([]byte("[]")))},
		"a mapping without things": {hashOf([]byte("{}")), "{}", nil, missing(hashOf([]byte("{}")))},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := configOfSnapshot(tt.hash, []byte(tt.snapshot), snapshotKeys{}, tt.environ)
			got, ok := errors.AsType[*patterns.Lacking](err)
			if !ok {
				t.Fatalf("configOfSnapshot = %v, want %v", err, tt.want)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("configOfSnapshot lacks (-want +got):\n%s", diff)
			}
		})
	}
	// A key in this environment does not stand in for one that a run did not have.
	plain := embedded(t)
	plain.LLM.BaseURL = "http://127.0.0.1:1"
	again, err := reloaded(plain, "OPENAI_API_KEY=key")
	if err != nil || again.LLM.APIKey.Set() || again.Hash() != plain.Hash() {
		t.Errorf("a run without a key is continued with one: %v, %v", again.LLM.APIKey, err)
	}
	if again, err := reloaded(keyed, "OPENAI_API_KEY=other"); err != nil || again.LLM.APIKey.Reveal() != "other" {
		t.Errorf("the key of this environment is %q, %v; want other", again.LLM.APIKey.Reveal(), err)
	}
	if text := string(keyed.Snapshot()); strings.Contains(text, `"key"`) || !strings.Contains(text, `"api_key":{"secret":"env:OPENAI_API_KEY"}`) {
		t.Errorf("the snapshot holds the key, or no reference to it: %s", text)
	}
}

// The policy of a refund is its rules and params; the other patterns of the demo have none.
func TestPolicyHash(t *testing.T) {
	c := embedded(t)
	hash := func(pattern string) string { return policyHash(reviewerIn(t, c, pattern)) }
	if hash("route_ticket") != hash("run_orchestrator") || hash("route_ticket") != hashOf([]byte("{}")) {
		t.Errorf("policyHash of patterns without a policy: %s and %s, want the hash of {}", hash("route_ticket"), hash("run_orchestrator"))
	}
	before := hash("supervised_refund")
	if c.Patterns[3].Budget.MaxSteps++; hash("supervised_refund") != before || len(before) != len("sha256:")+64 || before == hash("route_ticket") {
		t.Errorf("policyHash = %s, and with another budget %s", before, hash("supervised_refund"))
	}
	if c.Patterns[3].Param("refund_window_days", 15.0); hash("supervised_refund") == before {
		t.Errorf("policyHash does not see the window")
	}
}

// reviewerIn is what judges a pattern's calls in a configuration.
func reviewerIn(t testing.TB, c Loaded, pattern string) gateway.Reviewer {
	t.Helper()
	p, ok := c.Pattern(pattern)
	if !ok {
		t.Fatalf("no pattern %s", pattern)
	}
	all, err := c.catalog()
	if err != nil {
		t.Fatal(err)
	}
	set, err := c.policies(all)
	if err != nil {
		t.Fatal(err)
	}
	return c.reviewer(p, set)
}
