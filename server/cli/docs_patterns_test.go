package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"patterngate/gateway/stopreason"
	"patterngate/server/cli/inbox"
)

// The page of patterns is written by hand but for what the program says. Its tables that stand below a comment
// <!-- TABLE PATTERN --> are made here; below a block "json call TOOL" stands what the tool answers to it. The run ids
// of the page are numbered, its times are shifted.
func TestPatternsPage(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "patterns.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := docsPage{t: t, client: newDocsClient(t), runs: map[string]string{}, counts: map[string]int{}, epoch: time.Now()}
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		i = page.copy(lines, i)
	}
	want := strings.Join(page.out, "\n")
	if !*update && seconds.ReplaceAllString(string(text), "T s") == seconds.ReplaceAllString(want, "T s") {
		return
	}
	fresh(t, "patterns.md", want)
}

// seconds are how long a run took; only they differ from one time to the next.
var seconds = regexp.MustCompile(`(under )?[0-9]+\.[0-9]+ s\b`)

// docsPage writes a page again.
type docsPage struct {
	t      *testing.T
	client *docsClient
	runs   map[string]string // the page's names of runs and approvals, by the client's
	counts map[string]int    // of them, by the beginning of their names
	epoch  time.Time         // shown as docsEpoch
	out    []string
}

var (
	docsTable = regexp.MustCompile(`^<!-- ([a-z]+) ([a-z_]+) -->$`)
	docsCall  = regexp.MustCompile("^```json call ([a-z_]+)$")
)

// copy takes the line at i, and what belongs to it, and returns the last line it took.
func (p *docsPage) copy(lines []string, i int) int {
	p.t.Helper()
	p.out = append(p.out, lines[i])
	if m := docsTable.FindStringSubmatch(lines[i]); m != nil && m[1] != "budget" {
		p.out = append(p.out, strings.Split(strings.TrimSuffix(docsTables(p.t, m[1], m[2]), "\n"), "\n")...)
		for i+1 < len(lines) && (strings.HasPrefix(lines[i+1], "|") || strings.HasPrefix(lines[i+1], "- ")) {
			i++
		}
		return i
	}
	m := docsCall.FindStringSubmatch(lines[i])
	if m == nil {
		return i
	}
	arguments, i := p.block(lines, i)
	p.out = append(p.out, strings.Split(arguments, "\n")...)
	if i+2 >= len(lines) || lines[i+1] != "" || lines[i+2] != "```text" {
		p.t.Fatalf("line %d: after a call comes an empty line and the block ```text with its result", i+2)
	}
	answer := p.client.call(m[1], p.unnamed(arguments))
	_, i = p.block(lines, i+2)
	p.out = append(p.out, "```", "", "```text", p.named(answer), "```")
	return i
}

// block is the text of the block that begins at line i, and its last line.
func (p *docsPage) block(lines []string, i int) (string, int) {
	p.t.Helper()
	for end := i + 1; end < len(lines); end++ {
		if lines[end] == "```" {
			return strings.Join(lines[i+1:end], "\n"), end
		}
	}
	p.t.Fatalf("line %d: a block without end", i+1)
	return "", 0
}

var (
	docsRun     = regexp.MustCompile(`(?:run|ap)_[0-9a-f]{16}`)
	docsDigest  = regexp.MustCompile(`"digest":"sha256:[0-9a-f]{64}"`)
	docsTime    = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z`)
	docsReceipt = regexp.MustCompile(`\b((?:rf|em)_[0-9]+)_[0-9a-f]{12}`)
)

// docsEpoch is when the page was played.
var docsEpoch = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// named is a result with the page's names and times.
func (p *docsPage) named(text string) string {
	text = docsRun.ReplaceAllStringFunc(text, func(id string) string {
		if p.runs[id] == "" {
			kind := id[:strings.IndexByte(id, '_')+1]
			p.counts[kind]++
			p.runs[id] = fmt.Sprintf("%s%016d", kind, p.counts[kind])
		}
		return p.runs[id]
	})
	text = docsDigest.ReplaceAllString(text, `"digest":"sha256:`+strings.Repeat("0123456789abcdef", 4)+`"`)
	text = docsReceipt.ReplaceAllString(text, "${1}_0123456789ab")
	text = strings.ReplaceAll(text, p.client.inbox, inbox.Usual)
	return docsTime.ReplaceAllStringFunc(text, func(stamp string) string {
		at, err := time.Parse(time.RFC3339, stamp)
		if err != nil {
			p.t.Fatal(err)
		}
		return docsEpoch.Add(at.Sub(p.epoch).Round(30 * time.Minute)).Format(time.RFC3339)
	})
}

// unnamed are arguments with the runs' own ids.
func (p *docsPage) unnamed(arguments string) string {
	for id, name := range p.runs {
		arguments = strings.ReplaceAll(arguments, name, id)
	}
	return arguments
}

// docsName is a name in a text: of a tool, argument, member, key or stop reason.
var docsName = regexp.MustCompile("`([a-z]+(?:[_.:][A-Za-z]+)+)[^`]*`")

// Names that a page gives exist: as a stop reason, or in the code.
func TestPagesNameWhatThereIs(t *testing.T) {
	var code strings.Builder
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || filepath.Ext(path) != ".go" && filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		code.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "docs/start.md", "docs/patterns.md", "docs/durability.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, m := range docsName.FindAllStringSubmatch(line, -1) {
				_, whole := stopreason.Lookup(m[1])
				_, family := stopreason.Lookup(m[1] + ":x")
				last := m[1][strings.LastIndexAny(m[1], ".:")+1:]
				if !whole && !family && !strings.Contains(code.String(), last) {
					t.Errorf("%s:%d: nothing has the name %s", name, i+1, m[1])
				}
			}
		}
	}
}
