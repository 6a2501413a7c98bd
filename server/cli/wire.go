package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm"
	"patterngate/patterns/local"
	"patterngate/server"
)

// load reads the configuration and prints its warnings.
func (a *app) load() (LoadedConfig, error) {
	loaded, warnings, err := LoadConfig(ConfigSources{Path: a.config, LogLevel: a.logLevel, LogFormat: a.logFormat, HTTP: a.http, TokenFile: a.tokenFile, Environ: a.environ})
	for _, w := range warnings {
		fmt.Fprintln(a.err, w.String())
	}
	if err != nil {
		return LoadedConfig{}, a.configFault(err)
	}
	return loaded, nil
}

// server wires the program: the catalog into specs, the model, the engine and the MCP surface.
func (a *app) server(c Config, log *slog.Logger) (*server.Server, error) {
	if err := a.outside(&c.Demo); err != nil {
		return nil, err
	}
	tools, err := demo.Tools(c.Demo)
	if err != nil {
		return nil, err
	}
	all, err := catalog.New(tools...)
	if err != nil {
		return nil, err
	}
	model, err := newModel(c.LLM)
	if err != nil {
		return nil, err
	}
	var offered []server.Pattern
	for _, p := range c.Patterns {
		if p.Enabled {
			offered = append(offered, server.Pattern{Spec: newSpec(p, all), Completions: builtinCompletions[p.Kind]})
		}
	}
	engine := &local.Engine{CallerWait: orNone(c.Wait.Caller), MaxParked: orNone(c.Limits.ParkedRuns), Fault: func(runID, key string, cause error) {
		level := slog.LevelDebug
		if _, ours := errors.AsType[*patterns.Fault](cause); ours {
			level = slog.LevelError
		}
		log.Log(context.Background(), level, "fault", "id", runID+"/"+key, "cause", cause)
	}}
	a.engine = engine
	return server.New(server.Config{
		Patterns: offered, Engine: engine, Model: model, Configured: c.LLM.Resolved() == "openai", Log: log,
		ResultBytes: c.Limits.ResultBytes, Results: c.Results, ConcurrentRuns: orNone(c.Limits.ConcurrentRuns), Grace: orNone(c.Limits.Grace),
		Version: version().Version,
	})
}

// orNone is a limit for who takes 0 for a default: there none is below 0.
func orNone[N int | time.Duration](limit N) N {
	if limit == 0 {
		return -1
	}
	return limit
}

// newModel is who answers questions.
func newModel(c LLMConfig) (patterns.Model, error) {
	if c.Resolved() == "rules" {
		return llm.NewRules(), nil
	}
	return llm.NewOpenAI(c.OpenAI())
}

// newSpec declares a built-in pattern as it is configured.
func newSpec(p PatternConfig, all *catalog.Catalog) patterns.Spec {
	s := patterns.Spec{
		Name: p.Name, Kind: p.Kind, Catalog: all, Tools: builtinTools[p.Kind], Policy: p.Policy, Execution: p.Execution, Budget: p.Budget, Prompts: llm.Prompts(p.Kind),
	}
	switch p.Kind {
	case gateway.Orchestrator:
		s.Aggregate = patterns.Operations
	case gateway.Supervisor:
		s.Reviewer, s.Approver = p.Refunds, p.Approver
	}
	return s
}

// logger writes to standard error, which is never part of a protocol.
func (a *app) logger(c LogConfig, to io.Writer) *slog.Logger {
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(c.Level)) // checked when it was read; empty stays info
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level, ReplaceAttr: shownAttr}))
	}
	return slog.New(tint.NewTextHandler(to, &tint.Options{Level: level, NoColor: !a.colored(), ReplaceAttr: shownAttr}))
}

// shownAttr spells out control and bidi characters in what is logged: most handlers write some of them as they are.
func shownAttr(_ []string, attr slog.Attr) slog.Attr {
	switch v := attr.Value.Any().(type) {
	case string:
		attr.Value = slog.StringValue(server.Visible(v))
	case error:
		attr.Value = slog.StringValue(server.Visible(v.Error()))
	}
	return attr
}
