package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server"
)

// callOver serves one pattern over a pipe, makes one tools/call by the handshake era and returns its structured
// result.
func callOver(t *testing.T, spec patterns.Spec, model patterns.Model, arguments object) object {
	t.Helper()
	engine := &local.Engine{}
	defer engine.Close()
	s, err := server.New(server.Config{
		Patterns: []server.Pattern{{Spec: spec, Title: "Test (demo data)", Description: "Tests."}},
		Engine:   engine, Model: model, Configured: model.Name() != "rules", Log: slog.New(slog.DiscardHandler), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- s.ServeStdio(context.Background(), fromClient, toClient)
		toClient.Close()
	}()
	go func() {
		defer toServer.Close()
		e := json.NewEncoder(toServer)
		e.Encode(object{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": object{
			"protocolVersion": "2025-11-25", "capabilities": object{}, "clientInfo": object{"name": "test", "version": "1"}}})
		e.Encode(object{"jsonrpc": "2.0", "method": "notifications/initialized"})
		e.Encode(object{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": object{"name": spec.Name, "arguments": arguments}})
	}()
	result := answer(t, fromServer, 2)
	if err := <-served; err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
	return result
}

// answer reads lines up to the server's end and returns the structured result of the request with that id.
func answer(t *testing.T, from io.Reader, id float64) object {
	t.Helper()
	var found object
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var m struct {
			ID     any
			Result struct{ StructuredContent object }
			Error  any
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatalf("the server wrote %q: %v", lines.Text(), err)
		}
		if m.ID == id {
			if found = m.Result.StructuredContent; found == nil {
				t.Fatalf("no structured result: %s", lines.Text())
			}
		}
	}
	if found == nil {
		t.Fatal("no answer")
	}
	return found
}
