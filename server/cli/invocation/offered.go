package invocation

import (
	"log/slog"

	"patterngate/catalog/upstream"
	"patterngate/server"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// Listed returns the tools that a client of a server with this configuration sees. Tools whose line in the lock does not count
// are not among them.
func (a *StateFile) Listed() ([]upstream.Tool, error) {
	loaded, err := a.Load()
	if err != nil {
		return nil, err
	}
	c, err := a.Counting("tools", loaded)
	if err != nil {
		return nil, err
	}
	tools, err := toolsOf(c, a.Environ)
	if err != nil {
		return nil, console.Fault("tools", err)
	}
	return tools, nil
}

// Patterns returns the patterns of the configuration in force.
func (a *Invocation) Patterns() ([]server.Pattern, error) {
	loaded, _, err := assembly.Load(settings.Sources{Path: a.Config, Environ: a.Environ}, assembly.LoadOptions{})
	if err != nil {
		return nil, err
	}
	d, err := assembly.Declare(loaded, a.Environ)
	if err != nil {
		return nil, err
	}
	return d.Offered(), nil
}

// Offered returns the tools that a server with this configuration would have. It opens no state file.
func (a *Invocation) Offered() ([]upstream.Tool, error) {
	loaded, _, err := assembly.Load(settings.Sources{Path: a.Config, Environ: a.Environ}, assembly.LoadOptions{})
	if err != nil {
		return nil, err
	}
	return toolsOf(loaded, a.Environ)
}

// toolsOf returns the tools of a server with a configuration, with their whole output schemas. It opens no state file.
func toolsOf(c assembly.Loaded, environ []string) ([]upstream.Tool, error) {
	s, err := c.Server(environ, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	var tools []upstream.Tool
	outputs := s.Outputs()
	for _, t := range s.Tools() {
		tools = append(tools, upstream.Tool{Name: t.Name, Title: t.Title, Description: t.Description, Input: t.RawInputSchema, Output: outputs[t.Name]})
	}
	return tools, nil
}
