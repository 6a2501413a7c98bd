package assembly

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/settings"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

// Snapshot returns the part of a configuration that determines its runs, as canonical JSON. It contains the model with its
// provider resolved, the demo, redaction, the wait for callers and the patterns. Settings of the process are not included.
// A secret is a reference (spec/config.md section 8). The record of runs stores the snapshot by its [Loaded.Hash].
func (c Loaded) Snapshot() []byte {
	root := c.Value()
	for _, process := range []string{"log", "limits", "http", "results", "state", "inbox", "notify"} {
		delete(root, process)
	}
	root["llm"] = c.LLM.Snapshot(root["llm"], c.AsksOthers())
	root["wait"] = map[string]any{"caller_seconds": c.Wait.Caller.Seconds()}
	root["redact"] = grammar.TextValues(c.Redacted())
	root["policies"] = c.usedPolicies()
	if locked := c.lockedTools(); len(locked) > 0 {
		root[lockMember] = locked
	}
	return ijson.Canonical(root)
}

// lockMember is the member of a snapshot with the accepted definitions of its servers' tools. Its runs were judged by them.
const lockMember = "lock"

// Hash returns the SHA-256 of the [Loaded.Snapshot], as "sha256:" and hex. Configurations with equal hashes give equal
// runs.
func (c Loaded) Hash() string { return hashOf(c.Snapshot()) }

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// configOfSnapshot loads what [Loaded.Snapshot] wrote under a hash, with secrets from an environment. Settings of the
// process have the values of the embedded default. A limit of a kind that the snapshot lacks is unlimited, since another
// version can have another default. Any other key that it lacks has its default. An error is a [*patterns.Lacking].
func configOfSnapshot(hash string, snapshot []byte, keys snapshotKeys, environ []string) (Loaded, error) {
	unreadable := &patterns.Lacking{Cause: "config_missing", Needs: []string{hash}}
	tree, err := snapshotTree(hash, snapshot, keys)
	if err != nil {
		return Loaded{}, unreadable
	}
	var c Loaded
	if err := c.Embed(nil); err != nil {
		return Loaded{}, unreadable
	}
	for i := range c.Patterns {
		c.Patterns[i].Budget = withoutLimits(c.Patterns[i].Budget)
	}
	faults := &yamldoc.Faults{}
	read := grammar.NewReader(faults, nil)
	read.File(tree.root, c.Keys(nil))
	if faults.Err() != nil {
		return Loaded{}, unreadable
	}
	for i := range c.Patterns {
		p := &c.Patterns[i]
		c.Settle(p, read.Said("patterns", p.Name, "policy") != nil, func(param string) bool { return read.Said("patterns", p.Name, "params", param) != nil })
	}
	c.BuiltinPolicy = read.Said("policies") == nil
	if c.lock, err = lockOf(tree.locked); err != nil {
		return Loaded{}, unreadable
	}
	if c.LLM.Key.Set() {
		if c.LLM.Referred = c.LLM.Key.Nowhere(environ) == ""; !c.LLM.Referred {
			return Loaded{}, &patterns.Lacking{Cause: "secret_missing", Needs: []string{c.LLM.Key.String()}}
		}
		return c, nil
	}
	if !tree.keyed {
		return c, nil
	}
	if c.LLM.APIKey = settings.NewSecret(machine.Lookup(environ, settings.KeyVariable)); !c.LLM.APIKey.Set() {
		return Loaded{}, &patterns.Lacking{Cause: "secret_missing", Needs: []string{settings.KeyReference}}
	}
	return c, nil
}

// snapshotKeys are the references to a model's key that a snapshot can hold besides OPENAI_API_KEY.
type snapshotKeys struct {
	own     settings.LLM // of this process, with its URL
	unasked bool         // no model is asked, so any reference is allowed
}

// known reports whether this process's own configuration sends every key that the snapshot's roles refer to, to the same
// server.
func (k snapshotKeys) known(llm map[string]any) bool {
	top, _ := llm["base_url"].(string)
	models, _ := llm["models"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(models)) {
		role, _ := models[name].(map[string]any)
		reference := role["api_key"]
		if reference == nil {
			continue
		}
		url, _ := role["base_url"].(string)
		url = cmp.Or(url, top)
		ours := slices.ContainsFunc(k.own.Models, func(m settings.ModelRole) bool {
			return m.Key.Set() && ijson.Equal(reference, m.Key.Shown()) && url == cmp.Or(m.BaseURL, k.own.BaseURL)
		})
		if !ours && (url != k.own.BaseURL || !k.own.Key.Set() || !ijson.Equal(reference, k.own.Key.Shown())) {
			return false
		}
	}
	return true
}

// snapshotRead is a snapshot in the form that the configuration's reader takes.
type snapshotRead struct {
	root   *yamldoc.Node
	keyed  bool           // it refers to the key
	locked map[string]any // see [Loaded.lockedTools]
}

// snapshotTree reads a snapshot of that hash. It refuses references to a key other than OPENAI_API_KEY and those in keys.
// It also refuses a key with another URL than this process has. A state file must not choose which secret is sent where.
func snapshotTree(hash string, snapshot []byte, keys snapshotKeys) (out snapshotRead, err error) {
	value, err := ijson.DecodeCanonical(snapshot)
	if err != nil {
		return out, err
	}
	members, _ := value.(map[string]any)
	if members == nil || hashOf(snapshot) != hash || !bytes.Equal(ijson.Canonical(value), snapshot) {
		return out, errors.New(wrongSnapshot)
	}
	llm, _ := members["llm"].(map[string]any)
	if reference, there := llm["api_key"]; there {
		url, _ := llm["base_url"].(string)
		switch {
		case keys.unasked || ijson.Equal(reference, settings.SecretReference()) && url == keys.own.BaseURL:
			delete(llm, "api_key")
			out.keyed = true
		case !keys.own.Key.Set() || url != keys.own.BaseURL || !ijson.Equal(reference, keys.own.Key.Shown()):
			return out, errors.New(keyElsewhere)
		}
	}
	if !keys.unasked && !keys.known(llm) {
		return out, errors.New(roleKeyElsewhere)
	}
	out.locked, _ = members[lockMember].(map[string]any)
	delete(members, lockMember)
	out.root = yamldoc.NodeOf(members)
	return out, nil
}

// withoutLimits returns a budget in which the limits that a file can set are unlimited, since null in a snapshot means no
// limit.
func withoutLimits(b gateway.Budget) gateway.Budget {
	for _, limit := range []*gateway.Limit{
		&b.MaxToolCalls, &b.MaxLLMCalls, &b.MaxTokens, &b.MaxExecuteSteps, &b.MaxDispatches, &b.MaxDelegations, // limits of loops stay, since earlier snapshots lack them
	} {
		*limit = gateway.Unlimited
	}
	return b
}

// usedPolicies returns the whole policies that judge patterns and tools. A run continues under its own rules, whatever a
// file contains then.
func (c Loaded) usedPolicies() map[string]any {
	used := map[string]any{}
	for i := range c.Policies {
		if p := &c.Policies[i]; c.uses(p.Name) {
			used[p.Name] = string(p.Kept())
		}
	}
	return used
}

// uses reports whether a policy judges any pattern or tool.
func (c *Loaded) uses(name string) bool {
	return len(c.judgedAlone(name)) > 0 || slices.ContainsFunc(c.Patterns, func(p settings.Pattern) bool { return p.Judge == name })
}
