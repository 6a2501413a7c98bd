package server

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"patterngate/gateway"
	"patterngate/gateway/stopreason"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
)

// These are the resources that every client may read (spec/surface.md section 3).
const (
	catalogURI = "patterngate://catalog"
	reasonsURI = "patterngate://stop-reasons"
)

const jsonType = "application/json"

// addResources adds the resources. Their texts describe what is served at the time they are read.
func (s *Server) addResources() {
	s.addResource(catalogURI, "catalog", catalogResource, catalogResourceAbout,
		func(ctx context.Context) (json.RawMessage, error) { return s.newest().catalog.Whole(ctx) })
	s.addResource(reasonsURI, "stop-reasons", reasonsResource, reasonsResourceAbout,
		func(context.Context) (json.RawMessage, error) { return s.newest().reasons() })
}

func (s *Server) addResource(uri, name, title, description string, text func(context.Context) (json.RawMessage, error)) {
	r := mcp.NewResource(uri, name, mcp.WithResourceTitle(title), mcp.WithResourceDescription(description), mcp.WithMIMEType(jsonType))
	s.mcp.AddResource(r, func(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		body, err := text(ctx)
		if err != nil {
			return nil, s.fault(ctx, err)
		}
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: jsonType, Text: string(body)}}, nil
	})
}

// reasons returns the registry's rows for the stop reasons that the served tools can have.
func (s *Server) reasons() (json.RawMessage, error) {
	names := map[gateway.Kind][]string{}
	for _, name := range ownTools {
		if s.offers(name) {
			names[gateway.Kind(name)] = []string{name}
		}
	}
	for _, plans := range s.plansOffered() {
		names[gateway.Planning] = append(names[gateway.Planning], arguments.PlanTool(plans, patterns.StatusVerb))
	}
	for _, p := range s.config.reached() {
		names[p.Spec.Kind] = append(names[p.Spec.Kind], p.Spec.Name)
	}
	rows := []Reason{}
	for _, row := range stopreason.All() {
		if r := ReasonOf(row, func(kind gateway.Kind) []string { return names[kind] }); len(r.Patterns) > 0 {
			rows = append(rows, r)
		}
	}
	return envelope.AppendJSON(nil, DeclaredReasons(rows, s.config.reached()))
}

// DeclaredReasons adds to the registry's rows the stop reasons that only policies of these patterns declare.
func DeclaredReasons(rows []Reason, offered []Pattern) []Reason {
	known := map[string]bool{}
	for _, r := range rows {
		known[r.Name] = true
	}
	at := map[string]int{}
	for _, p := range offered {
		for _, reason := range p.Reasons {
			row, ok := stopreason.Blocked(p.Spec.Kind, reason)
			if !ok || known[row.Name] {
				continue
			}
			i, there := at[row.Name]
			if !there {
				i, at[row.Name] = len(rows), len(rows)
				rows = append(rows, ReasonOf(row, func(gateway.Kind) []string { return nil }))
			}
			rows[i] = rows[i].also(row, p.Spec)
		}
	}
	return rows
}

// also returns the row with one more pattern that it occurs with.
func (r Reason) also(row stopreason.Reason, spec patterns.Spec) Reason {
	more := ReasonOf(row, func(kind gateway.Kind) []string {
		if kind != spec.Kind {
			return nil
		}
		return []string{spec.Name}
	})
	for _, name := range more.Patterns {
		if !slices.Contains(r.Patterns, name) {
			r.Patterns = append(r.Patterns, name)
		}
	}
	for _, phase := range more.Phases {
		if !slices.Contains(r.Phases, phase) {
			r.Phases = append(r.Phases, phase)
		}
	}
	return r
}

// Reason is a stop reason as clients see it.
type Reason struct {
	Name     string   `json:"name"`
	Meaning  string   `json:"meaning"`
	Level    string   `json:"level"`    // run or task
	Patterns []string `json:"patterns"` // tools that it occurs with
	Phases   []string `json:"phases"`
	ExitCode int      `json:"exit_code"` // of the command "call"; -1 if no run ends with it
	Next     string   `json:"next"`
}

// ReasonOf returns a row of the registry in the form for clients. named returns the tools of a kind. Places of kinds
// without a tool are left out.
func ReasonOf(s stopreason.Reason, named func(gateway.Kind) []string) Reason {
	r := Reason{
		Name: s.Name, Meaning: s.Meaning, Level: s.Level(), Patterns: []string{}, Phases: []string{},
		ExitCode: int(s.Exit), Next: string(s.Next),
	}
	for _, p := range s.Places {
		names := named(p.Kind)
		for _, n := range names {
			if !slices.Contains(r.Patterns, n) {
				r.Patterns = append(r.Patterns, n)
			}
		}
		for _, phase := range p.Phases {
			if len(names) > 0 && !slices.Contains(r.Phases, phase) {
				r.Phases = append(r.Phases, phase)
			}
		}
	}
	return r
}

// boundURI shortens a URI that is not Patterngate's, because the answer shows it. mcp-go then answers in both eras with
// the right code that it does not exist.
func (s *Server) boundURI(_ context.Context, _ any, req *mcp.ReadResourceRequest) {
	req.Params.URI = absentName(req.Params.URI)
}

// absentName returns a name from a client in a form that an answer can show. Names up to 256 bytes stay as they are. A
// shortened name ends in dots, so no real name matches it.
func absentName(name string) string {
	const bearable = 256
	if len(name) <= bearable {
		return name
	}
	return printable.Name(name) + "..."
}

// hooked adds the hooks that run around mcp-go's own handlers.
func (s *Server) hooked(h *mcpserver.Hooks) *mcpserver.Hooks {
	h.AddAfterInitialize(s.instruct)
	h.AddAfterDiscover(s.instructModern)
	h.AddAfterListTools(s.inOrder)
	h.AddAfterListPrompts(s.listedPrompts)
	h.AddAfterListResourceTemplates(s.listedTemplates)
	h.AddBeforeReadResource(s.boundURI)
	h.AddBeforeReadResource(s.hideRuns)
	h.AddBeforeReadResource(s.hidePlans)
	h.AddAfterSubscribe(s.subscribe)
	h.AddAfterUnsubscribe(s.unsubscribe)
	h.AddBeforeSubscriptionsListen(s.listenToRuns)
	h.AddOnUnregisterSession(s.forgetSubscriptions)
	h.AddBeforeGetPrompt(s.checkPrompt)
	h.AddAfterSetLevel(s.levels.set)
	h.AddOnUnregisterSession(s.levels.forget)
	return h
}
