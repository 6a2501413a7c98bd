package assembly

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"patterngate/catalog/httptool"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server"
	"patterngate/server/buildinfo"
)

// Server makes a server without a state file, for commands that show what is served.
func (l Loaded) Server(environ []string, log *slog.Logger) (*server.Server, error) {
	d, err := Declare(l, environ)
	if err != nil {
		return nil, err
	}
	from := &source{environ: environ, pool: l.pool}
	engine := &local.Engine{Source: from} // for child runs
	from.serve(d, engine)
	return wire(l, d, engine, served{log, func() server.Page { return server.Page{URL: l.InboxURL()} }})
}

// Engine opens the engine over the state file of the configuration. It continues no run, and reads runs as a server over
// that file does. An error of the state file is a [*StateError].
func (l Loaded) Engine(environ []string) (*local.Engine, error) {
	d, err := Declare(l, environ)
	if err != nil {
		return nil, err
	}
	from := &source{environ: environ, pool: l.pool}
	engine, err := local.Open(local.Options{Path: l.State, Source: from, Redact: l.HiddenValues()})
	if err != nil {
		return nil, &StateError{err}
	}
	if _, d, err = l.counting(d, engine, environ); err != nil {
		engine.Close()
		return nil, err
	}
	from.serve(d, engine)
	engine.Catalog = d.Tools
	return engine, nil
}

// StateError is the error of a state file that cannot be opened.
type StateError struct{ Cause error }

// Error returns the text of the cause.
func (e *StateError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *StateError) Unwrap() error { return e.Cause }

// served holds the log of a server and the address of its approval page.
type served struct {
	log  *slog.Logger
	page func() server.Page // the page in results
}

// wire connects the patterns, the model, the engine and the MCP server.
func wire(c Loaded, d *Declaration, engine *local.Engine, to served) (*server.Server, error) {
	log := to.log
	engine.Waits, engine.Version = waitsOf(c), buildinfo.Read().Version
	engine.Fault = func(runID, key string, cause error) {
		level := slog.LevelDebug
		if _, ours := errors.AsType[*patterns.Fault](cause); ours {
			level = slog.LevelError
		}
		log.Log(context.Background(), level, "fault", "id", runID+"/"+key, "cause", cause)
		if status, ok := errors.AsType[*httptool.StatusError](cause); ok && (status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden) {
			log.Warn(refusedCredentials, "tool", status.Tool, "status", status.Code, "run", runID, "try", fixCredentials) // for the operator; clients do not see it
		}
	}
	return server.New(serverConfig(c, d, engine, to))
}

// serverConfig returns the settings of the MCP server for a configuration.
func serverConfig(c Loaded, d *Declaration, engine *local.Engine, to served) server.Config {
	return server.Config{
		Patterns: d.Offered(), Offer: c.Offer, Engine: engine, Model: d.model, Configured: d.configured, Log: to.log, Catalog: d.Tools,
		ResultBytes: c.Limits.ResultBytes, Results: c.Results, ConcurrentRuns: orNone(c.Limits.ConcurrentRuns), Grace: orNone(c.Limits.Grace),
		WaitDefault: orNone(c.Wait.Default), WaitMax: orNone(c.Wait.Max), ConfigHash: d.hash, CatalogHash: d.catalog, Version: buildinfo.Read().Version, State: c.State,
		Keys: engine.Approvals().Keys, Switches: engine.KillSwitches,
		Inbox: to.page,
	}
}

// waitsOf returns how long runs wait, as an engine takes it.
func waitsOf(c Loaded) local.Waits {
	return local.Waits{CallerWait: orNone(c.Wait.Caller), MaxParked: orNone(c.Limits.ParkedRuns), Join: orNone(c.Wait.Join)}
}

// orNone converts a limit for an API in which 0 means the default: it returns -1, no limit, for 0.
func orNone[N int | time.Duration](limit N) N {
	if limit == 0 {
		return -1
	}
	return limit
}
