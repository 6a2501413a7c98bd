package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// size is how much of a package a reader must look through: its files and its lines of code. Tests, blank lines and lines
// that are only a comment do not count.
type size struct{ files, lines int }

// most is the ceiling of a package. The aim is 25 files and 4,000 lines.
var most = size{files: 30, lines: 4500}

// ceilings are those of packages that were larger than [most] when the ceiling was set. They only fall: the numbers are the
// present ones, lines rounded up to the next hundred, and an entry goes when its package fits.
var ceilings = map[string]size{}

func TestSizes(t *testing.T) {
	measured := map[string]size{}
	for _, p := range list(t, "./...") {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, "patterngate"), "/")
		measured[name] = measure(t, filepath.FromSlash("./"+name))
	}
	for name, is := range measured {
		ceiling, listed := ceilings[name]
		if !listed {
			if is.files > most.files || is.lines > most.lines {
				t.Errorf("%q has %d files and %d lines; at most %d and %d are readable: make a package of a part of it", name, is.files, is.lines, most.files, most.lines)
			}
			continue
		}
		if is.files > ceiling.files || is.lines > ceiling.lines {
			t.Errorf("%q has %d files and %d lines, over its ceiling of %d and %d", name, is.files, is.lines, ceiling.files, ceiling.lines)
		}
		if is.files <= most.files && is.lines <= most.lines {
			t.Errorf("%q fits now: remove its ceiling", name)
			continue
		}
		if lower := (size{is.files, (is.lines + 99) / 100 * 100}); lower.files < ceiling.files || lower.lines < ceiling.lines {
			t.Errorf("%q has become smaller: its ceiling is now {%d, %d}", name, lower.files, lower.lines)
		}
	}
	for name := range ceilings {
		if _, ok := measured[name]; !ok {
			t.Errorf("ceiling of %q: there is no such package", name)
		}
	}
}

// measure counts the files of every system.
func measure(t *testing.T, dir string) size {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var is size
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		is.files++
		for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
			if line := strings.TrimSpace(s.Text()); line != "" && !strings.HasPrefix(line, "//") {
				is.lines++
			}
		}
	}
	return is
}

func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a\n\n// A comment.\nvar x = 1 // counted\n", "a_test.go": "package a\n", "b_windows.go": "package a\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if is := measure(t, dir); is != (size{files: 2, lines: 3}) {
		t.Errorf("measured %+v", is)
	}
}
