package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"

	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server"
	"patterngate/server/settings/yamldoc"
)

// load reads the configuration and prints its warnings.
func (a *app) load() (Loaded, error) {
	loaded, warnings, err := Load(a.sources(), LoadOptions{})
	a.warn(warnings)
	if err != nil {
		return Loaded{}, a.configFault(err)
	}
	return loaded, nil
}

// warn prints warnings, each once a command however often it reads the configuration.
func (a *app) warn(warnings []yamldoc.Fault) {
	for _, w := range warnings {
		a.note(w.String())
	}
}

// note prints a line on standard error, once a command.
func (a *app) note(line string) {
	if a.warned[line] {
		return
	}
	if a.warned == nil {
		a.warned = map[string]bool{}
	}
	a.warned[line] = true
	fmt.Fprintln(a.Err, line)
}

// sources are where this invocation's configuration comes from.
func (a *app) sources() ConfigSources {
	return ConfigSources{
		Path: a.config, LogLevel: a.logLevel, LogFormat: a.logFormat, HTTP: a.http, TokenFile: a.tokenFile, State: a.state, Inbox: a.inboxAt,
		Environ: a.Environ,
	}
}

// server wires the program without a state file: for who shows what is served, and for :memory:.
func (a *app) server(c Loaded, log *slog.Logger) (*server.Server, error) {
	d, err := declare(c, a.Environ)
	if err != nil {
		return nil, err
	}
	from := &source{environ: a.Environ, pool: c.pool}
	engine := &local.Engine{Source: from} // of child runs
	from.serve(d, engine)
	return wire(c, d, engine, served{log, c.InboxURL})
}

// served is how a server tells people of what happens.
type served struct {
	log  *slog.Logger
	page func() string // where the inbox is, as results name it; "" where it is off
}

// wire joins the catalog's specs, the model, the engine and the MCP surface.
func wire(c Loaded, d *declared, engine *local.Engine, to served) (*server.Server, error) {
	log := to.log
	engine.CallerWait, engine.MaxParked = orNone(c.Wait.Caller), orNone(c.Limits.ParkedRuns)
	engine.Join, engine.Version = orNone(c.Wait.Join), version().Version
	engine.Fault = func(runID, key string, cause error) {
		level := slog.LevelDebug
		if _, ours := errors.AsType[*patterns.Fault](cause); ours {
			level = slog.LevelError
		}
		log.Log(context.Background(), level, "fault", "id", runID+"/"+key, "cause", cause)
	}
	return server.New(serverConfig(c, d, engine, to))
}

// serverConfig is what is served under a configuration.
func serverConfig(c Loaded, d *declared, engine *local.Engine, to served) server.Config {
	return server.Config{
		Patterns: d.offered(), Engine: engine, Model: d.model, Configured: d.configured, Log: to.log, Catalog: d.tools,
		ResultBytes: c.Limits.ResultBytes, Results: c.Results, ConcurrentRuns: orNone(c.Limits.ConcurrentRuns), Grace: orNone(c.Limits.Grace),
		WaitDefault: orNone(c.Wait.Default), WaitMax: orNone(c.Wait.Max), ConfigHash: d.hash, CatalogHash: d.catalog, Version: version().Version, State: c.State,
		Keys: engine.Approvals().Keys, Switches: engine.KillSwitches,
		Inbox: to.page,
	}
}

// orNone is a limit for who takes 0 for a default: there none is below 0.
func orNone[N int | time.Duration](limit N) N {
	if limit == 0 {
		return -1
	}
	return limit
}

// quiet is the log of every command but serve, where nobody asked for another.
func (c LogConfig) quiet() LogConfig {
	c.Level = cmp.Or(c.Level, "warn")
	return c
}

// logger writes to standard error, which is never part of a protocol.
func (a *app) logger(c LogConfig, to io.Writer) *slog.Logger {
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(c.Level)) // checked when it was read; empty stays info
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level, ReplaceAttr: shownAttr}))
	}
	return slog.New(tint.NewTextHandler(to, &tint.Options{Level: level, NoColor: !a.Colored(), ReplaceAttr: shownAttr}))
}

// shownAttr spells out control and bidi characters in what is logged: most handlers write some of them as they are.
func shownAttr(_ []string, attr slog.Attr) slog.Attr {
	switch v := attr.Value.Any().(type) {
	case string:
		attr.Value = slog.StringValue(printable.Text(v))
	case error:
		attr.Value = slog.StringValue(printable.Text(v.Error()))
	}
	return attr
}
