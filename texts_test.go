package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// text is one text that people or models read, with the place where it is written. Blank lines separate its paragraphs. What
// is inserted when the program runs is NAME.
type text struct {
	file  string // with slashes, from the root
	line  int
	words string
}

// sources returns the files with texts for users that are not documents: Go files, tool schemas, page templates, YAML files.
// The extraction takes every literal of a package's texts.go and texts_TOPIC.go. Elsewhere it takes what [goTexts] recognizes.
func sources(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(file)
		switch ext := filepath.Ext(file); {
		case d.IsDir():
			if name := d.Name(); name == "testdata" && slashed != "server/testdata" || strings.HasPrefix(name, ".") && name != "." || noTexts(slashed) {
				return filepath.SkipDir
			}
		case strings.HasPrefix(slashed, "server/testdata/"):
			if strings.HasPrefix(slashed, "server/testdata/tools/") && ext == ".json" {
				found = append(found, slashed)
			}
		case ext == ".go" && !strings.HasSuffix(file, "_test.go"), ext == ".html",
			ext == ".yaml" && (strings.HasPrefix(slashed, "server/settings/") || strings.HasPrefix(slashed, "examples/")):
			found = append(found, slashed)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// noTexts reports whether a directory has no texts for users: benchmarks, support of tests, the words that offline rules look for.
func noTexts(dir string) bool {
	return dir == "bench" || strings.HasSuffix(dir, "test") || dir == "patterns/llm/offline/english"
}

// textsOf returns the texts of one file.
func textsOf(file string, content []byte) ([]text, error) {
	switch filepath.Ext(file) {
	case ".go":
		return goTexts(file, content)
	case ".html":
		return pageTexts(file, content), nil
	case ".json":
		return schemaTexts(file, content)
	case ".yaml":
		return commentTexts(file, content), nil
	}
	return nil, fmt.Errorf("%s is of no known kind", file)
}

// goTexts returns the literals of a Go file: all of a catalogue, in other files those of [minWords] words or more, and the
// descriptions in struct tags. Literals that are added are one text.
func goTexts(file string, content []byte) ([]text, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, content, 0)
	if err != nil {
		return nil, err
	}
	var texts []text
	add := func(n ast.Node, words string) { texts = append(texts, text{file, set.Position(n.Pos()).Line, words}) }
	all := isCatalogue(file)
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				raw, _ := strconv.Unquote(n.Tag.Value)
				if words, ok := reflect.StructTag(raw).Lookup("jsonschema_description"); ok {
					add(n.Tag, words)
				}
			}
			if n.Type != nil {
				ast.Inspect(n.Type, visit)
			}
			return false
		case *ast.CallExpr:
			if isProgrammers(n) {
				return false
			}
		case *ast.BinaryExpr, *ast.BasicLit:
			words, inside := folded(n.(ast.Expr))
			if words = plain(words); words != "" && (all || looksLikeProse(words)) {
				add(n, words)
			}
			for _, e := range inside {
				ast.Inspect(e, visit)
			}
			return false
		}
		return true
	}
	ast.Inspect(parsed, visit)
	return texts, nil
}

// isProgrammers reports whether a call's texts are not for users: a panic, a regular expression, SQL, words that rules look for.
func isProgrammers(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "panic"
	case *ast.SelectorExpr:
		return slices.Contains([]string{"MustCompile", "StemsOf", "Fields", "ExecContext", "QueryContext", "QueryRowContext", "Exec", "Query", "QueryRow", "Prepare"}, f.Sel.Name)
	}
	return false
}

// folded returns a string expression as one text, with NAME for what is no literal, and those expressions. It returns "" if e
// has no literal.
func folded(e ast.Expr) (words string, inside []ast.Expr) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", nil
		}
		words, _ = strconv.Unquote(e.Value)
		return words, nil
	case *ast.ParenExpr:
		return folded(e.X)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", []ast.Expr{e.X, e.Y}
		}
		x, in := operand(e.X)
		y, more := operand(e.Y)
		if x == name && y == name {
			return "", append(in, more...)
		}
		return x + y, append(in, more...)
	}
	return "", nil
}

// name stands for what is inserted into a text.
const name = "NAME"

func operand(e ast.Expr) (words string, inside []ast.Expr) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return folded(e)
		}
	case *ast.ParenExpr, *ast.BinaryExpr:
		if words, inside = folded(e); words != "" {
			return words, inside
		}
		return name, inside
	}
	return name, []ast.Expr{e}
}

var (
	verb     = regexp.MustCompile(`%[-+# 0]*[\d*]*(\[\d+\])?[\d*]*(\.[\d*]+)?[a-zA-Z]`)
	action   = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	letter   = regexp.MustCompile(`\pL`)
	word     = regexp.MustCompile(`^["'(\x60]*\pL[\pL'-]*["').,:;?!\x60]*$`)
	sqlWords = regexp.MustCompile(`^(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|PRAGMA|WHERE|AND|ORDER BY|FROM) `)
)

// plain puts NAME for what a format or a template inserts. It returns "" for a text without a letter.
func plain(words string) string {
	words = action.ReplaceAllString(verb.ReplaceAllString(words, name), name)
	if words = strings.ReplaceAll(words, "%%", "%"); !letter.MatchString(strings.ReplaceAll(words, name, "")) {
		return ""
	}
	return strings.TrimSpace(words)
}

// isCatalogue reports whether a file is the catalogue of its package: texts.go, or a part of it by topic, such as texts_rows.go.
func isCatalogue(file string) bool {
	name := filepath.Base(file)
	return name == "texts.go" || strings.HasPrefix(name, "texts_") && !strings.HasSuffix(name, "_test.go")
}

// minWords is how many words of English make prose of a literal outside of a catalogue.
const minWords = 4

// looksLikeProse reports whether a literal has so many words of English, and is not mostly something else.
func looksLikeProse(words string) bool {
	fields := strings.Fields(words)
	english := 0
	for _, f := range fields {
		if word.MatchString(f) && strings.ToUpper(f) != f || f == "a" || f == name {
			english++
		}
	}
	return english >= minWords && 3*english >= 2*len(fields) && !sqlWords.MatchString(strings.TrimSpace(words))
}

var (
	pageComment = regexp.MustCompile(`(?s)<!--.*?-->|\{\{-?\s*/\*.*?\*/\s*-?\}\}|<style.*?</style>|<script.*?</script>`)
	pageNames   = regexp.MustCompile(`(?:aria-label|title|placeholder|alt)="([^"]*)"`)
	pageInline  = regexp.MustCompile(`</?(?:bdi|a|span|b|em|strong|time|code)\b[^>]*>`)
	pageTag     = regexp.MustCompile(`(?s)<[^>]*>`)
	pageBranch  = regexp.MustCompile(`\{\{-?\s*(?:if|else|end|range|with|define|block|template)\b.*?\}\}`)
)

// pageTexts returns the visible text of a page's template: what stands between tags that begin a block, and the attributes
// that are read aloud.
func pageTexts(file string, content []byte) []text {
	kept := pageComment.ReplaceAllStringFunc(string(content), func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	var texts []text
	for i, line := range strings.Split(kept, "\n") {
		var words []string
		for _, m := range pageNames.FindAllStringSubmatch(line, -1) {
			words = append(words, m[1])
		}
		line = pageTag.ReplaceAllString(pageInline.ReplaceAllString(pageBranch.ReplaceAllString(line, "\x00"), ""), "\x00")
		for _, w := range append(words, strings.Split(line, "\x00")...) {
			if w = plain(html.UnescapeString(w)); w != "" {
				texts = append(texts, text{file, i + 1, w})
			}
		}
	}
	return texts
}

// schemaTexts returns the titles and descriptions of a tool as clients see it.
func schemaTexts(file string, content []byte) ([]text, error) {
	if !json.Valid(content) {
		return nil, fmt.Errorf("%s is no JSON", file)
	}
	var texts []text
	for i, line := range bytes.Split(content, []byte("\n")) {
		if m := schemaText.FindSubmatch(line); m != nil {
			var words string
			if err := json.Unmarshal(m[1], &words); err != nil {
				return nil, err
			}
			if words = plain(words); words != "" {
				texts = append(texts, text{file, i + 1, words})
			}
		}
	}
	return texts, nil
}

var schemaText = regexp.MustCompile(`^\s*"(?:title|description)":\s*("(?:[^"\\]|\\.)*"),?\s*$`)

// commentTexts returns the comments of a YAML file. Lines that are only comments continue each other.
func commentTexts(file string, content []byte) []text {
	var texts []text
	before := false
	for i, line := range strings.Split(string(content), "\n") {
		code, comment, ok := strings.Cut(" "+line, " #")
		comment = strings.TrimSpace(comment)
		alone := ok && strings.TrimSpace(code) == ""
		switch {
		case alone && before && comment != "":
			texts[len(texts)-1].words += "\n" + comment
		case ok && letter.MatchString(comment):
			texts = append(texts, text{file, i + 1, comment})
		}
		before = alone && comment != "" && len(texts) > 0
	}
	return texts
}

// allTexts returns the texts of every source, sorted by place.
func allTexts(t *testing.T) []text {
	t.Helper()
	var all []text
	for _, file := range sources(t) {
		content, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		texts, err := textsOf(file, content)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, texts...)
	}
	return all
}

// Every kind of source has texts, and they are written for vale (.ci/run): with -artifacts -outputdir DIR, one HTML file for
// each source. A text stands there in the line in which the source has it, so that a finding tells both.
func TestTexts(t *testing.T) {
	texts := allTexts(t)
	pages := map[string][]string{} // lines by file
	for _, x := range texts {
		lines := pages[x.file]
		if missing := x.line - len(lines); missing > 0 {
			lines = append(lines, slices.Repeat([]string{""}, missing)...)
		}
		lines[x.line-1] += asHTML(x.words)
		pages[x.file] = lines
	}
	out := t.ArtifactDir()
	for file, lines := range pages {
		file = filepath.Join(out, filepath.FromSlash(file)+".html")
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"gateway/stopreason/registry.go", "server/settings/keys.go", "server/settings/default.yaml", "server/cli/app.go",
		"server/web/html/approval.html", "server/testdata/tools/run_status.json", "patterns/llm/prompts/prompts.go"} {
		if pages[file] == nil {
			t.Errorf("%s has no text", file)
		}
	}
	t.Logf("%d texts of %d files", len(texts), len(pages))
}

var codeSpan = regexp.MustCompile("`[^`\n]*`")

// asHTML returns a text's paragraphs as one line of HTML, with its code marked.
func asHTML(words string) string {
	var b strings.Builder
	for _, p := range paragraphs(words) {
		p = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(p)
		b.WriteString("<p>" + codeSpan.ReplaceAllStringFunc(p, func(s string) string { return "<code>" + strings.Trim(s, "`") + "</code>" }) + "</p>")
	}
	return b.String()
}

// paragraphs splits a text where a line is blank or indented, and joins the lines of each part.
func paragraphs(words string) []string {
	var all, lines []string
	flush := func() {
		if len(lines) > 0 {
			all = append(all, strings.Join(lines, " "))
		}
		lines = nil
	}
	for line := range strings.Lines(words) {
		line = strings.TrimRight(line, "\n ")
		if line == "" || strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "#") {
			flush()
		}
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	flush()
	return all
}

func TestTextsOfFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		file, content string
		want          []text
	}{
		"a catalogue": {"a/texts.go", "package a\n\nconst stopped = \"Stopped.\"\n\nfunc f(n int) string {\n\treturn fmt.Sprintf(\"%d of %s\"+\n\t\t\" are left at 5 %%.\", n, x+`y`)\n}\n",
			[]text{{"a/texts.go", 3, "Stopped."}, {"a/texts.go", 6, "NAME of NAME are left at 5 %."}, {"a/texts.go", 7, "NAMEy"}}},
		"another file": {"a/b.go", "package a\n\nimport \"a\"\n\nvar x, y = \"run_id\", \"The run that \" + id(\"which one do you mean\") + \" names.\"\n\nfunc f() { panic(\"this is for programmers only\") }\n\ntype s struct {\n\tX int `json:\"x\" jsonschema_description:\"The number.\"`\n}\n",
			[]text{{"a/b.go", 5, "The run that NAME names."}, {"a/b.go", 5, "which one do you mean"}, {"a/b.go", 10, "The number."}}},
		"a page": {"a.html", "<p class=\"x\" title=\"A &amp; b\">It is <b>{{.Name}}</b>.{{if .X}} Yes.{{end}}</p>\n<style>\np {}\n</style><dt>Run</dt>\n",
			[]text{{"a.html", 1, "A & b"}, {"a.html", 1, "It is NAME."}, {"a.html", 1, "Yes."}, {"a.html", 4, "Run"}}},
		"a schema": {"a.json", "{\n  \"title\": \"A \\\"tool\\\"\",\n  \"type\": \"object\"\n}\n", []text{{"a.json", 2, "A \"tool\""}}},
		"comments": {"a.yaml", "# One\n# text.\n\nkey: \"#no\" # Another.\n# A third.\n",
			[]text{{"a.yaml", 1, "One\ntext."}, {"a.yaml", 4, "Another."}, {"a.yaml", 5, "A third."}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := textsOf(tt.file, []byte(tt.content))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(text{})); d != "" {
				t.Errorf("textsOf(%s) (-want +got):\n%s", tt.file, d)
			}
		})
	}
}
