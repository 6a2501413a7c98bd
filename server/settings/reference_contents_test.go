package settings

import (
	"regexp"
	"strings"
	"testing"
)

var (
	pageHeading = regexp.MustCompile(`(?m)^###? (.*)$`)
	firstKey    = regexp.MustCompile("(?m)^- \\[`([^`]+)`\\]\\(#([^)]+)\\): ")
	contentLink = regexp.MustCompile(`(?m)^ *- \[(.*?)\]\(#([^)]+)\): `)
)

// anchorOf returns the anchor of a heading, as forges make it.
func anchorOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z':
			return r
		}
		return -1
	}, strings.ToLower(heading))
}

// The page of the configuration begins with the keys that most people need. Each is a key of the page and links to the section that has it.
func TestConfigPageFirstKeys(t *testing.T) {
	reference := readReference(t)
	_, rest, _ := strings.Cut(reference.page, "\n## Keys that you need first\n")
	first, rest, _ := strings.Cut(rest, "\n## ")
	sections := map[string]string{}
	for _, at := range pageHeading.FindAllStringSubmatchIndex(rest, -1) {
		below := rest[at[1]:]
		if next := pageHeading.FindStringIndex(below); next != nil {
			below = below[:next[0]]
		}
		sections[anchorOf(rest[at[2]:at[3]])] = below
	}
	keys := firstKey.FindAllStringSubmatch(first, -1)
	if len(keys) < 15 {
		t.Fatalf("%d keys, want 15 or more", len(keys))
	}
	for _, m := range keys {
		key, anchor := m[1], m[2]
		line := reference.lines[key]
		if line == "" { // the key of a mapping whose members have the lines
			for path, of := range reference.lines {
				if strings.HasPrefix(path, key+".") && strings.Contains(sections[anchor], of) {
					line = of
				}
			}
		}
		if line == "" || !strings.Contains(sections[anchor], line) {
			t.Errorf("the section #%s does not list %s", anchor, key)
		}
	}
}

// The contents of the page of the configuration have one line for each section, in their order.
func TestConfigPageContents(t *testing.T) {
	_, rest, _ := strings.Cut(readPage(t, "config.md"), "\n## Contents\n")
	contents, rest, found := strings.Cut(rest, "\n## ")
	if !found {
		t.Fatal("no contents")
	}
	var have, want []string
	for _, m := range contentLink.FindAllStringSubmatch(contents, -1) {
		have = append(have, m[1]+" "+m[2])
	}
	for _, m := range pageHeading.FindAllStringSubmatch("## "+rest, -1) {
		want = append(want, m[1]+" "+anchorOf(m[1]))
	}
	if strings.Join(have, "\n") != strings.Join(want, "\n") {
		t.Errorf("the contents are\n%s\nthe sections are\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
}
