package main

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// styleDir is the style that vale holds in .ci/run. The tests read the same files, so there is one list.
const styleDir = ".ci/prose/styles/Patterngate"

// Of every document, and of the texts of every directory, at most a tenth of the sentences have more than mostWordsOfMost words.
// The style has the maximum. A document or directory with fewer than sentencesForTenth sentences has only the maximum.
const (
	mostWordsOfMost   = 22
	sentencesForTenth = 20
)

// rule is one file of the style.
type rule struct {
	name    string
	Extends string
	Tokens  []string
	Swap    map[string]string
	Nonword bool
	Max     int

	found *regexp.Regexp // what is a fault in a sentence; nil: the rule is not about words
}

// style reads the rules. Vale's repetition is vale's alone.
func style(t *testing.T) []rule {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(styleDir, "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no style in %s: %v", styleDir, err)
	}
	var rules []rule
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := rule{name: strings.TrimSuffix(filepath.Base(file), ".yml")}
		if err := yaml.Unmarshal(content, &r); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		switch r.Extends {
		case "existence", "substitution":
			words := append(r.Tokens, slices.Collect(maps.Keys(r.Swap))...)
			if len(words) == 0 {
				t.Errorf("%s has no word", file)
			}
			expression := "(?:" + strings.Join(words, "|") + ")"
			if !r.Nonword {
				expression = `(?i)\b` + expression + `\b`
			}
			r.found = regexp.MustCompile(expression)
		case "occurrence":
			if r.Max == 0 {
				t.Errorf("%s has no maximum", file)
			}
		case "repetition":
		default:
			t.Errorf("%s extends %s, which this test does not know", file, r.Extends)
		}
		rules = append(rules, r)
	}
	return rules
}

// faults returns what the rules find in a sentence.
func faults(rules []rule, sentence string) []string {
	var all []string
	for _, r := range rules {
		if r.found != nil {
			for _, found := range r.found.FindAllString(sentence, -1) {
				all = append(all, r.name+": "+found)
			}
		}
		if words := len(strings.Fields(sentence)); r.Max > 0 && words > r.Max {
			all = append(all, r.name+": "+sentence)
		}
	}
	return all
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?]["')\]*_]*\s+`)
	shortened   = regexp.MustCompile(`(?:e\.g|i\.e|vs|cf)\.\s+$`)
	urlWord     = regexp.MustCompile(`https?://\S+`)
	linkTarget  = regexp.MustCompile(`\]\([^)\s]*\)`)
)

// place is where a text is written.
func (x text) place() string { return x.file + ":" + strconv.Itoa(x.line) }

// sentences splits a text. Code is one word, X.
func sentences(words string) []string {
	var all []string
	for _, p := range paragraphs(words) {
		p = urlWord.ReplaceAllString(linkTarget.ReplaceAllString(codeSpan.ReplaceAllString(p, "X"), "]"), "X")
		from := 0
		for _, end := range sentenceEnd.FindAllStringIndex(p, -1) {
			if !shortened.MatchString(p[:end[1]]) {
				all = append(all, strings.TrimSpace(p[from:end[1]]))
				from = end[1]
			}
		}
		all = append(all, strings.TrimSpace(p[from:]))
	}
	return all
}

// documents are the Markdown files that people read.
func documents(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*/*.md", "bench/*.md"} {
		files, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			found = append(found, filepath.ToSlash(file))
		}
	}
	return found
}

var (
	blockStart = regexp.MustCompile(`^\s*(?:[-*+]|\d+\.|#+|>) +`)
	comment    = regexp.MustCompile(`(?s)<!--.*?-->`)
	linkLine   = regexp.MustCompile(`^\[[^\]]+\]: \S+$`)
	tableRule  = regexp.MustCompile(`^[|\s:-]+$`)
)

// documentTexts returns the paragraphs, headings, list items and table cells of a Markdown file. Blocks of code are none.
func documentTexts(file, content string) []text {
	blank := func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }
	content = comment.ReplaceAllStringFunc(mdFence.ReplaceAllStringFunc(content, blank), blank)
	var texts []text
	open := false // a line continues the last text
	for i, line := range strings.Split(content, "\n") {
		line = strings.TrimSpace(pageTag.ReplaceAllString(line, " "))
		start := blockStart.FindString(line)
		switch {
		case line == "" || tableRule.MatchString(line) || linkLine.MatchString(line):
			open = false
		case strings.HasPrefix(line, "|"):
			for _, cell := range strings.Split(strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "/"), "|") {
				texts = append(texts, text{file, i + 1, strings.TrimSpace(cell)})
			}
			open = false
		case start == "" && open:
			texts[len(texts)-1].words += "\n" + line
		default:
			texts = append(texts, text{file, i + 1, line[len(start):]})
			open = !strings.HasPrefix(start, "#")
		}
	}
	return texts
}

// README, docs and all texts of the program are in plain words: no sentence is longer than the style allows, nine in ten are shorter,
// and no word of the style's lists is in them.
func TestProse(t *testing.T) {
	rules := style(t)
	texts := allTexts(t)
	for _, file := range documents(t) {
		content, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, documentTexts(file, string(content))...)
	}
	found := map[string][]string{} // by document or directory
	lengths := map[string][]int{}
	for _, x := range texts {
		of := x.file
		if path.Ext(of) != ".md" {
			of = path.Dir(of)
		}
		for _, s := range sentences(x.words) {
			for _, fault := range faults(rules, s) {
				found[of] = append(found[of], x.place()+": "+fault)
			}
			if words := len(strings.Fields(s)); words >= 3 {
				lengths[of] = append(lengths[of], words)
			}
		}
	}
	total := 0
	for of, n := range lengths {
		slices.Sort(n)
		total += len(n)
		if p90 := n[len(n)*9/10]; len(n) >= sentencesForTenth && p90 > mostWordsOfMost {
			found[of] = append(found[of], of+": a tenth of its sentences have "+strconv.Itoa(p90)+" words or more")
		}
	}
	for of, all := range found {
		t.Errorf("%s:\n%s", of, strings.Join(all, "\n"))
	}
	t.Logf("%d sentences of %d documents and directories", total, len(lengths))
}

func TestFaults(t *testing.T) {
	rules := style(t)
	long := strings.Repeat("word ", 29)
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"a plain sentence":        {"Run the command again. It continues.", nil},
		"a listed word":           {"The file is mended.\nIt goes on\nanew.", []string{"Words: mended", "Words: goes on", "Words: anew"}},
		"upper case":              {"Lapsed requests stay.", []string{"Words: Lapsed"}},
		"code":                    {"The key `parked` stays, and `a house` too.", nil},
		"part of a word":          {"The key parked_runs is amended.", nil},
		"empty words":             {"Simply run it.", []string{"Never: Simply"}},
		"a contraction":           {"It doesn't wait.", []string{"Contractions: doesn't"}},
		"no for not a":            {"The reply is no JSON.", []string{"Inversions: reply is no JSON"}},
		"there is no":             {"There is no run. Here are no runs.", nil},
		"who at the beginning":    {"Wait. Who asks waits.", []string{"Inversions: Who asks waits."}},
		"a question":              {"Who decides?", nil},
		"thirty words":            {long + "end.", nil},
		"thirty-one words":        {long + "and end.", []string{"Length: " + long + "and end."}},
		"code is one word":        {long + "`and five words in code`.", nil},
		"two sentences":           {long + "end. The " + long[5:] + "end.", nil},
		"a sentence after a code": {long + "`end`. `go` " + long[5:] + "end.", nil},
		"a name begins it":        {long + "end. auto: " + long, nil},
		"a shortened word":        {long[5:] + "e.g. " + long, []string{"Length: " + long[5:] + "e.g. " + strings.TrimSpace(long)}},
		"marked up":               {"**" + long + "end.** " + long, nil},
		"paragraphs":              {long + "\n\n" + long, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range sentences(tt.text) {
				got = append(got, faults(rules, s)...)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("faults of %q: got %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestDocumentTexts(t *testing.T) {
	got := documentTexts("a.md", "# A title\nIt goes\non.\n<!-- a\nb -->\n- One\n  item\n- Two\n\n```\ncode\n```\n| a | b |\n|---|---|\n| `x\\|y` | Text. |\n")
	want := []text{{"a.md", 1, "A title"}, {"a.md", 2, "It goes\non."}, {"a.md", 6, "One\nitem"}, {"a.md", 8, "Two"},
		{"a.md", 13, "a"}, {"a.md", 13, "b"}, {"a.md", 15, "`x/y`"}, {"a.md", 15, "Text."}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(text{})); d != "" {
		t.Errorf("documentTexts (-want +got):\n%s", d)
	}
}
