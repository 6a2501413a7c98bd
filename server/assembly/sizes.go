package assembly

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"patterngate/gateway"
	"patterngate/patterns/local"
	"patterngate/server"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// maxListedProperties, maxListedInput and maxListedOutput limit a tool that a file declares (spec/config.md section 7,
// input; design.md section 7). Clients drop larger tools.
const (
	maxListedProperties = 14
	maxListedInput      = server.MaxListedSchema // bytes
	maxListedOutput     = 4 << 10                // bytes
)

// oversize is a tool of a pattern of the file that clients would drop.
type oversize struct {
	pattern, tool string
	yamldoc.Fault
}

// oversized returns these tools among those that are served.
func (c *Loaded) oversized(s *server.Server) (list []oversize) {
	owner := map[string]string{}
	for _, p := range c.Patterns {
		if !p.IsOwn() || !p.Enabled || p.Kind == gateway.Call { // a call has its tool's schema; validate warns about it
			continue
		}
		for _, tool := range p.ToolNames() {
			owner[tool] = p.Name
		}
	}
	for _, t := range s.Tools() {
		pattern, own := owner[t.Name]
		if !own {
			continue
		}
		add := func(has, most int, noun, want string) {
			if has > most {
				list = append(list, oversize{pattern, t.Name, yamldoc.Fault{
					Reason: overListed(noun, t.Name, has, map[bool]string{true: "properties", false: "bytes"}[most == maxListedProperties], most),
					Want:   want,
				}})
			}
		}
		add(countProperties(t.RawInputSchema), maxListedProperties, theInputSchema, wantLessInput)
		add(len(t.RawInputSchema), maxListedInput, theInputSchema, wantShorterInput)
		add(len(t.RawOutputSchema), maxListedOutput, theOutputSchema, wantShorterAnswer)
	}
	return list
}

// Oversized returns the tools of patterns of the file that clients would drop, as faults with their places.
func (l Loaded) Oversized(s *server.Server) (faults []yamldoc.Fault) {
	for _, o := range l.oversized(s) {
		at := []string{"patterns", o.pattern}
		if settings.Says(l.Root, "patterns", o.pattern, "input") {
			at = append(at, "input")
		}
		faults = append(faults, l.FaultAt(o.Fault, at...))
	}
	return faults
}

// countProperties returns the number of properties at a schema's root.
func countProperties(schema json.RawMessage) int {
	var root struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &root) // Patterngate made this JSON
	return len(root.Properties)
}

// bearable returns an error if clients would drop a tool.
func (c *Loaded) bearable(s *server.Server) error {
	var faults []error
	for _, o := range c.oversized(s) {
		where := "patterns." + o.pattern
		if p, _ := c.Pattern(o.pattern); p.At.Line > 0 {
			where = atLine(p.At.Line, where)
		}
		faults = append(faults, fmt.Errorf("%s: %s; %s", where, o.Reason, o.Want))
	}
	return errors.Join(faults...)
}

// bearableBefore is bearable for a configuration that is not served yet.
func (c *Loaded) bearableBefore(d *Declaration) error {
	if !slices.ContainsFunc(c.Patterns, func(p settings.Pattern) bool { return p.IsOwn() && p.Enabled && p.Kind != gateway.Call }) {
		return nil
	}
	s, err := wire(*c, d, &local.Engine{}, served{slog.New(slog.DiscardHandler), c.InboxURL})
	if err != nil {
		return err
	}
	return c.bearable(s)
}
