package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// The page of own patterns is written by hand but for what the program says: its examples load beside the catalog
// that it shows, and below a block "yaml faults" stands what validate says of it.
func TestOwnPatternsPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "own-patterns.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := ownPage{t: t, lines: strings.Split(string(text), "\n"), kinds: map[string]bool{}}
	for page.at < len(page.lines) {
		page.next()
	}
	for _, kind := range settings.OwnKinds {
		if !page.kinds[kind] {
			t.Errorf("docs/own-patterns.md has no example of kind %s", kind)
		}
	}
	fresh(t, "own-patterns.md", strings.Join(page.out, "\n"))
}

// ownPage writes the page again.
type ownPage struct {
	t       *testing.T
	lines   []string
	at      int
	out     []string
	catalog string // what its examples stand beside
	kinds   map[string]bool
}

// next takes the next line, and what belongs to it.
func (p *ownPage) next() {
	line := p.lines[p.at]
	p.out = append(p.out, line)
	p.at++
	switch line {
	case "```yaml catalog":
		p.catalog = p.block()
	case "```yaml example":
		p.example(p.block())
	case "```yaml faults":
		fragment := p.block()
		p.out = append(p.out, "", "```text")
		if p.at+2 > len(p.lines) || p.lines[p.at+1] != "```text" {
			p.t.Fatalf("line %d: after faults comes an empty line and the block ```text", p.at)
		}
		p.at += 2
		for p.lines[p.at] != "```" {
			p.at++
		}
		p.at++
		code, said := p.validated(fragment)
		if code != console.ExitFault {
			p.t.Errorf("validate ends with %d over\n%s", code, fragment)
		}
		p.out = append(p.out, said, "```")
	}
}

// block takes a block to its end, and returns it.
func (p *ownPage) block() string {
	from := p.at
	for ; p.lines[p.at] != "```"; p.at++ {
		if p.at+1 == len(p.lines) {
			p.t.Fatalf("line %d: a block without end", from)
		}
	}
	text := strings.Join(p.lines[from:p.at], "\n") + "\n"
	p.out = append(p.out, p.lines[from:p.at+1]...)
	p.at++
	return text
}

// example holds that a block is in order, without a warning, and notes its kinds.
func (p *ownPage) example(text string) {
	code, said := p.validated(text)
	if code != 0 || strings.Contains(said, "warning") {
		p.t.Errorf("validate of an example ends with %d:\n%s", code, said)
	}
	for _, kind := range settings.OwnKinds {
		p.kinds[kind] = p.kinds[kind] || strings.Contains(text, "kind: "+kind)
	}
}

// validated is what validate says of a fragment over the page's catalog, and how it ends.
func (p *ownPage) validated(fragment string) (code int, said string) {
	dir := p.t.TempDir()
	path := filepath.Join(dir, "pg.yaml")
	if err := os.WriteFile(path, []byte(fragment+p.catalog), 0o600); err != nil {
		p.t.Fatal(err)
	}
	var out, faults bytes.Buffer
	code = Main([]string{"validate", path}, strings.NewReader(""), &out, &faults)
	return code, strings.TrimSuffix(strings.ReplaceAll(faults.String(), dir+string(filepath.Separator), ""), "\n")
}

// config default prints the embedded file as it is, and that is what a fresh installation runs.
func TestConfigDefault(t *testing.T) {
	var out, faults bytes.Buffer
	if code := Main([]string{"config", "default"}, strings.NewReader(""), &out, &faults); code != 0 || !bytes.Equal(out.Bytes(), settings.Default) || faults.Len() > 0 {
		t.Fatalf("config default ends with %d and %d bytes, want 0 and the %d of the embedded file; %s", code, out.Len(), len(settings.Default), &faults)
	}
	loaded, _, err := assembly.Load(settings.Sources{Environ: []string{"XDG_CONFIG_HOME=" + t.TempDir(), "XDG_STATE_HOME=" + t.TempDir()}}, assembly.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded.Patterns {
		if p.IsOwn() || !strings.Contains(out.String(), "\n  "+p.Name+":\n    kind: "+string(p.Kind)+"\n") {
			t.Errorf("config default does not declare %s of kind %s", p.Name, p.Kind)
		}
	}
}
