package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	mdFence   = regexp.MustCompile("(?ms)^```.*?^```$")
)

// Every link in a Markdown file that leads into this repository leads to a file that is there, and to a heading.
func TestMarkdownLinks(t *testing.T) {
	pages := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" { // in a worktree .git is a file
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		pages++
		checkLinks(t, path)
		return nil
	})
	if err != nil || pages == 0 {
		t.Fatalf("%d pages, %v", pages, err)
	}
}

// The table of contents, docs/README.md, links to every page of docs, and README fits one screen or two.
func TestDocsContents(t *testing.T) {
	contents := prose(t, filepath.Join("docs", "README.md"))
	pages, err := filepath.Glob(filepath.Join("docs", "*.md"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(contents, "]("+name+")") {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(readme), "\n"); lines > 150 {
		t.Errorf("README.md has %d lines, want at most 150", lines)
	}
}

// widestRow is how many characters a row of a table has at most, so that it fits a screen. A longer one is better as a list.
const widestRow = 120

// No table in a Markdown file has a row that is too wide.
func TestTableRows(t *testing.T) {
	tables := 0
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md"} {
		pages, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			for _, row := range strings.Split(prose(t, page), "\n") {
				if !strings.HasPrefix(row, "|") {
					continue
				}
				tables++
				if n := utf8.RuneCountInString(row); n > widestRow {
					t.Errorf("%s: the row %.40q has %d characters, want at most %d", page, row, n, widestRow)
				}
			}
		}
	}
	if tables < 50 {
		t.Errorf("%d rows, want those of docs", tables)
	}
}

// The pages that the table of contents names for the start are short enough to be read in one go.
func TestStartPages(t *testing.T) {
	contents := prose(t, filepath.Join("docs", "README.md"))
	_, rest, _ := strings.Cut(contents, "\n## Start")
	group, _, _ := strings.Cut(rest, "\n## ")
	links := mdLink.FindAllStringSubmatch(group, -1)
	if len(links) < 8 {
		t.Fatalf("%d pages for the start, want 8 or more", len(links))
	}
	for _, m := range links {
		text, err := os.ReadFile(filepath.Join("docs", m[1]))
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(text), "\n"); lines > 150 {
			t.Errorf("docs/%s has %d lines, want at most 150: move what is a reference to another page", m[1], lines)
		}
	}
}

func checkLinks(t *testing.T, path string) {
	t.Helper()
	for _, m := range mdLink.FindAllStringSubmatch(prose(t, path), -1) {
		link, anchor, _ := strings.Cut(m[1], "#")
		if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
			continue
		}
		to := path
		if link != "" {
			to = filepath.Join(filepath.Dir(path), filepath.FromSlash(link))
		}
		if _, err := os.Stat(to); err != nil || strings.HasPrefix(to, "..") || filepath.IsAbs(link) {
			t.Errorf("%s links to %s, which is not there", path, m[1])
			continue
		}
		if anchor != "" && !hasHeading(prose(t, to), anchor) {
			t.Errorf("%s links to %s; there is no such heading", path, m[1])
		}
	}
}

// prose is a page without its blocks of code.
func prose(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return mdFence.ReplaceAllString(string(text), "")
}

// hasHeading reports whether a page has a heading with this anchor, as forges make them.
func hasHeading(text, anchor string) bool {
	for _, m := range mdHeading.FindAllStringSubmatch(text, -1) {
		kept := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
				return r
			}
			return -1
		}, strings.ToLower(m[1]))
		if kept == anchor {
			return true
		}
	}
	return false
}
