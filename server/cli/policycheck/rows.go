package policycheck

import (
	"errors"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns/record"
	"patterngate/server/settings/yamldoc"
)

// testRow returns a recorded proposal as a row of a policy's tests (spec/config.md section 5.3): what the policy saw, and
// the decision. The arguments are the proposed ones.
func testRow(name string, p record.Proposal, args map[string]any) map[string]any {
	call := map[string]any{"tool": p.Tool, "args": args}
	if p.Tool == "" {
		call = map[string]any{"tool": "final", "args": map[string]any{"answer": p.Answer}}
	}
	row := map[string]any{"name": name, "call": call, "principal": p.Facts.Principal.ID, "now": p.Facts.Now.Format(time.RFC3339Nano), "want": p.Decision}
	if p.Facts.Client.Name != "" {
		row["client"] = map[string]any{"name": p.Facts.Client.Name, "version": p.Facts.Client.Version}
	}
	if p.Rule != "" {
		row["want_rule"] = p.Rule
	}
	if p.Blocked() {
		row["want_reason"] = p.Reason
	}
	var effects []any
	for _, e := range p.Effects {
		effects = append(effects, rowEffect(p, e))
	}
	if len(effects) > 0 {
		row["effects"] = effects
	}
	return row
}

// rowEffect returns an earlier call for a row.
func rowEffect(p record.Proposal, e gateway.Entry) map[string]any {
	v := map[string]any{"tool": e.Tool, "args": e.Args, "status": string(e.Status)}
	if ago := math.Round(p.Facts.Now.Sub(e.At).Seconds()); ago > 0 {
		v["seconds_ago"] = ago
	}
	if e.Status != gateway.Finished {
		return v
	}
	if result, ok := e.Observation.(map[string]any); ok {
		v["result"] = result
	}
	if !e.OK() {
		v["ok"] = false
	}
	return v
}

// rowMembers is the order of a row's members. Other members follow, sorted by name.
var rowMembers = []string{"name", "pattern", "principal", "client", "now", "tool", "status", "ok", "args", "result", "seconds_ago", "effects", "call", "want", "want_rule", "want_reason"}

// plainWord matches a text that YAML reads as the same text without quotes.
var plainWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// yamlWords are plain words that some YAML readers take for other values.
var yamlWords = []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}

// flowYAML writes a decoded value on one line.
func flowYAML(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, name := range ordered(v) {
			parts = append(parts, flowText(name)+": "+flowYAML(v[name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = flowYAML(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return flowText(v)
	}
	return string(ijson.Canonical(v))
}

func ordered(members map[string]any) []string {
	rank := func(name string) int {
		if i := slices.Index(rowMembers, name); i >= 0 {
			return i
		}
		return len(rowMembers)
	}
	names := slices.Sorted(maps.Keys(members))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names
}

func flowText(s string) string {
	if plainWord.MatchString(s) && !slices.Contains(yamlWords, strings.ToLower(s)) {
		return s
	}
	return string(ijson.Canonical(s))
}

// appendRows adds rows to the tests of a policy. steps lead to the policy's mapping in the file. It keeps all other text:
// it reads the result again and compares. The error says why it cannot add the rows.
func appendRows(source, text string, steps []string, rows []map[string]any) (string, error) {
	before := yamldoc.Read(source, []byte(text), &yamldoc.Faults{})
	policy, ok := nodeBelow(before, steps...)
	if !ok || policy.Kind != yamldoc.Mapping {
		return "", errors.New(nothingAt(strings.Join(steps, "."), source))
	}
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] != "" {
		lines[last] += "\n"
	}
	tests, there := nodeBelow(policy, "tests")
	var at, indent int
	var written []string
	switch {
	case there && tests.Kind == yamldoc.List && len(tests.Items) > 0:
		at, indent, ok = behindList(lines, tests)
	case there:
		ok = false
	default:
		at, indent, ok = behindMapping(lines, policy)
		written = append(written, strings.Repeat(" ", indent)+"tests:\n")
	}
	if !ok {
		return "", errors.New(notBlock(strings.Join(steps, ".")))
	}
	for _, row := range rows {
		written = append(written, strings.Repeat(" ", indent)+"- "+flowYAML(row)+"\n")
	}
	after := strings.Join(slices.Insert(lines, at, written...), "")
	if !sameButTests(before, yamldoc.Read(source, []byte(after), &yamldoc.Faults{}), steps, rows) {
		return "", errors.New(rowsNotAdded(source))
	}
	return after, nil
}

// behindList returns the line after the last item of a block list, and the column of its dashes. It returns false if the
// list is not a block list.
func behindList(lines []string, list *yamldoc.Node) (at, indent int, ok bool) {
	last := list.Items[len(list.Items)-1].At.Line - 1
	first := list.Items[0].At.Line - 1
	for _, i := range []int{first, last} {
		dash := strings.TrimLeft(lines[i], " ")
		if !strings.HasPrefix(dash, "- ") {
			return 0, 0, false
		}
		indent = len(lines[i]) - len(dash)
	}
	return behind(lines, last, indent), indent, true
}

// behindMapping returns the same for the members of a block mapping.
func behindMapping(lines []string, m *yamldoc.Node) (at, indent int, ok bool) {
	if len(m.Members) == 0 {
		return 0, 0, false
	}
	last := m.Members[len(m.Members)-1]
	line := last.At.Line - 1
	indent = last.At.Column - 1
	if strings.TrimLeft(lines[line][:indent], " ") != "" || m.Members[0].At.Column != last.At.Column {
		return 0, 0, false
	}
	at = line + 1
	for i := at; i < len(lines); i++ { // a list below it can be in the same column
		rest := strings.TrimLeft(lines[i], " ")
		switch {
		case strings.TrimSpace(rest) == "" || rest[0] == '#':
		case len(lines[i])-len(rest) > indent, len(lines[i])-len(rest) == indent && strings.HasPrefix(rest, "- "):
			at = i + 1
		default:
			return at, indent, true
		}
	}
	return at, indent, true
}

// behind returns the first line after i that is not indented deeper than a column. Blank lines and comments before it
// belong to what follows.
func behind(lines []string, i, indent int) int {
	at := i + 1
	for j := at; j < len(lines); j++ {
		rest := strings.TrimLeft(lines[j], " ")
		switch {
		case strings.TrimSpace(rest) == "" || rest[0] == '#':
		case len(lines[j])-len(rest) > indent:
			at = j + 1
		default:
			return at
		}
	}
	return at
}

// sameButTests reports whether after equals before with these rows added to the policy's tests.
func sameButTests(before, after *yamldoc.Node, steps []string, rows []map[string]any) bool {
	was, wasOK := before.Decoded().(map[string]any)
	is, isOK := after.Decoded().(map[string]any)
	if !wasOK || !isOK {
		return false
	}
	policy := was
	for _, step := range steps {
		next, ok := policy[step].(map[string]any)
		if !ok {
			return false
		}
		policy = next
	}
	tests, _ := policy["tests"].([]any)
	for _, row := range rows {
		tests = append(tests, row)
	}
	policy["tests"] = tests
	return ijson.Equal(was, is)
}

// nodeBelow returns the node under these keys, or false if there is none.
func nodeBelow(n *yamldoc.Node, steps ...string) (*yamldoc.Node, bool) {
	for _, step := range steps {
		if n = n.Member(step); n == nil {
			return nil, false
		}
	}
	return n, true
}
