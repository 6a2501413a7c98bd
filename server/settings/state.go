package settings

import (
	"cmp"
	"slices"
	"strings"

	"patterngate/patterns/redaction"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// MemoryState is the state value for runs that are not stored: they end with the process.
const MemoryState = ":memory:"

// stateKey returns the key of the state file: the path of a file, or :memory:.
func stateKey(name string, target *string) grammar.Key {
	key := grammar.Path(name, target)
	read := key.Read
	key.Takes = pathOr(MemoryState)
	key.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		if n.Kind == yamldoc.Text && n.Text == MemoryState {
			*target = MemoryState
			return
		}
		if n.Kind == yamldoc.Text && strings.Contains(n.Text, "\x00") {
			r.Faults.Add(n.At, path, yamldoc.Fault{Reason: nulInPath, Want: wantFile})
			return
		}
		read(r, n, path)
	}
	return key
}

// keys returns the keys of the wait section (spec/config.md section 2).
func (c *Wait) keys() []grammar.Key {
	const most = 240 // no client waits longer for a call
	return []grammar.Key{
		grammar.Seconds("caller_seconds", &c.Caller, grammar.MaxSeconds).Means("How long a run waits for its caller's next route or actions. 0: it does not wait."),
		grammar.Seconds("default_seconds", &c.Default, most).Means("How long a call waits for its run by default. After that the call returns and the run continues."),
		grammar.Seconds("max_seconds", &c.Max, most).Means("How long a call can ask to wait for its run."),
		grammar.Seconds("join_seconds", &c.Join, grammar.MaxSeconds).Means("How long an equal call gets a result that was never delivered, instead of starting a second run."),
	}
}

// acrossWait refuses a default wait that is longer than the maximum.
func (r *loader) acrossWait(c Wait) {
	if c.Default <= c.Max {
		return
	}
	group := (*yamldoc.Path)(nil).Key("wait")
	most, usual := group.Key("max_seconds"), group.Key("default_seconds")
	path, f := usual, yamldoc.Fault{Got: yamldoc.NumberText(c.Default.Seconds()), Want: wantAtMostMax(yamldoc.NumberText(c.Max.Seconds()))}
	if _, said := r.Places[usual.String()]; !said {
		path, f = most, yamldoc.Fault{Got: yamldoc.NumberText(c.Max.Seconds()), Want: wantAtLeastDefault(yamldoc.NumberText(c.Default.Seconds()))}
	}
	f.Reason = defaultOverMax
	r.Faults.Add(r.Places[path.String()], path, f)
}

// Redacted returns the redact pointers, sorted, each once.
func (c Config) Redacted() []string {
	return slices.Compact(slices.Sorted(slices.Values(c.Redact)))
}

// HiddenValues returns all redact pointers, sorted, each once. A pointer of one tool has the form that records use:
// charge:/args/card. Policy vars that read a hidden value are included.
func (c Config) HiddenValues() []string {
	list := slices.Clone(c.Redact)
	add := func(t tools.Tool) {
		for _, pointer := range t.Redact {
			if t.Enabled {
				list = append(list, t.Name+":"+pointer)
			}
		}
	}
	for _, t := range c.Catalog.HTTP {
		add(t.Tool)
	}
	for _, s := range c.Catalog.Servers {
		for _, t := range s.Tools {
			if s.Enabled {
				add(t.Tool)
			}
		}
	}
	for _, p := range c.Policies {
		names, texts := make([]string, len(p.Vars)), make([]string, len(p.Vars))
		for i, v := range p.Vars {
			names[i], texts[i] = v.Name, v.Text
		}
		list = append(list, redaction.ComputedVars(list, names, texts)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Quiet returns the log settings of every command but serve: the level is warn if none is set.
func (c Log) Quiet() Log {
	c.Level = cmp.Or(c.Level, "warn")
	return c
}
