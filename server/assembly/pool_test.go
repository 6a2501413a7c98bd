package assembly

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"patterngate/catalog/pins"
	"patterngate/catalog/upstream"
	"patterngate/server/settings"
)

// A server's tools may be made for a reload or a snapshot while a call is judged that goes to the same server: the admission
// that they share is read and written at once. What is wrong here shows under -race.
func TestSharedServerIsJudgedWhileItIsMade(t *testing.T) {
	path := binaries(t, "prog")
	loaded, _, err := loadText(t, "version: 1\ncatalog: {servers: {crm: {stdio: {command: prog}, tools: {look: {effect: read}, drift: {effect: read}}}}}\n", path)
	if err != nil {
		t.Fatal(err)
	}
	var lock pins.Lock
	for _, name := range []string{"look", "drift"} {
		if err := lock.Accept("crm", pins.Definition{Name: name, Input: []byte(`{"type":"object"}`)}, pins.Acceptance{By: "local:1", Assurance: "user"}); err != nil {
			t.Fatal(err)
		}
	}
	text := func(s string) json.RawMessage { return json.RawMessage(fmt.Sprintf("%q", s)) }
	for range 20 {
		pool := newServerPool()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				config := loaded.Config
				own, faults := makeOwn(&config, &lock, pool, []string{path})
				if len(faults) > 0 || len(own.tools) != 2 {
					t.Errorf("made %d tools, faults %v", len(own.tools), faults)
				}
				for _, known := range pool.admissions() {
					if err := known.admit(upstream.Definition{Name: text("look"), Input: []byte(`{"type":"object"}`)}); err != nil {
						t.Errorf("what was accepted is held: %v", err)
					}
					if err := known.admit(upstream.Definition{Name: text("look"), Input: []byte(`{"type":"array"}`)}); err == nil {
						t.Error("what nobody accepted is admitted")
					}
					known.changed("crm")
				}
			})
		}
		all.Wait()
	}
}

// admissions are those of the servers that were made.
func (p *serverPool) admissions() (list []*admission) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.servers {
		list = append(list, s.admits)
	}
	return list
}

// A certificate file that was changed is another server at the next reload, and the same when configurations are compared:
// what a run was begun under names the file.
func TestRotatedCertificatesAreTaken(t *testing.T) {
	dir := t.TempDir()
	roots := filepath.Join(dir, "roots.pem")
	put := func(more string) {
		t.Helper()
		service := httptest.NewTLSServer(nil)
		defer service.Close()
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: service.Certificate().Raw})
		if err := os.WriteFile(roots, append(text, more...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := newServerPool()
	load := func() Loaded {
		t.Helper()
		file := filepath.Join(dir, "pg.yaml")
		putFile(t, file, "version: 1\ncatalog: {servers: {crm: {http: {url: 'https://a.example', ca_file: roots.pem}, tools: {look: {effect: read}}}}}\n")
		loaded, _, err := Load(settings.Sources{Path: file}, LoadOptions{pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		return loaded
	}
	put("\n")
	first, again := load(), load()
	put(" \n ")
	rotated := load()
	if first.own.servers["crm"] != again.own.servers["crm"] {
		t.Error("the same certificates make another server")
	}
	if rotated.own.servers["crm"] == first.own.servers["crm"] {
		t.Error("other certificates are not taken")
	}
	if !first.Catalog.Within(rotated.Catalog) || first.Hash() != rotated.Hash() {
		t.Error("other certificates make another configuration")
	}
}
