package clientfile

import (
	"encoding/json"
	"regexp"
	"strings"
)

// ShownWords are the words of a client's file that a difference shows: those that setup writes itself, and what started the
// program before. The file's other words are its user's, and may be secrets: a difference shows … in their place.
type ShownWords map[string]bool

// ShownWordsOf are the words of an entry, and of the entries of that name before and after.
func ShownWordsOf(f Format, e Entry, texts ...[]byte) ShownWords {
	own := ShownWords{}
	add := func(words ...string) {
		for _, w := range words {
			own[w] = true
		}
	}
	add("command", "args", "type", "stdio", "serve", "--config", tomlKey, e.Name, e.Command)
	add(e.Args...)
	if of, ok := f.(JSONServers); ok {
		add(of.Member)
	}
	for _, text := range texts {
		entry, _ := EntryOf(f, text, e.Name)
		if !stdioEntry(entry) {
			continue
		}
		members, _ := entry.(map[string]any)
		command, _ := members["command"].(string)
		if base := command[strings.LastIndexAny(command, `/\`)+1:]; strings.TrimSuffix(base, ".exe") != "patterngate" {
			continue // not this program: what stands there is the user's
		}
		add(command)
		args, _ := members["args"].([]any)
		if len(args) == 3 && args[0] == "serve" && args[1] == "--config" { // as setup writes them; others are the user's
			path, _ := args[2].(string)
			add(path)
		}
	}
	delete(own, "")
	return own
}

// fileMarks are the characters that JSON and TOML are built of, and white space.
const fileMarks = "{}[],:=. \t\r\n"

// Masked is a line in which every word that is not our own is replaced by …, those side by side by one. Where the line
// stands does not matter: in a string or comment of several lines every word is replaced as well.
func (own ShownWords) Masked(line string) string {
	var b strings.Builder
	body := strings.TrimRight(line, "\r\n")
	body, mark := strings.CutPrefix(body, string(byteOrderMark))
	if mark {
		b.WriteString(string(byteOrderMark))
	}
	for i := 0; i < len(body); {
		if strings.IndexByte(fileMarks, body[i]) >= 0 {
			b.WriteByte(body[i])
			i++
			continue
		}
		end := wordEnd(body, i)
		if word := body[i:end]; own[spelledOut(word)] {
			b.WriteString(word)
		} else {
			b.WriteString(maskWord)
		}
		i = end
	}
	return shortened(b.String()) + line[len(strings.TrimRight(line, "\r\n")):]
}

// maskWord stands for what is not shown.
const maskWord = "…"

// wordEnd is the offset behind the word that begins at i: a quoted text, a comment, or what stands up to the next mark.
func wordEnd(line string, i int) int {
	switch rest := line[i:]; {
	case line[i] == '"' || line[i] == '\'':
		for end := i + 1; end < len(line); end++ {
			switch {
			case line[end] == '\\' && line[i] == '"':
				end++
			case line[end] == line[i]:
				return end + 1
			}
		}
		return len(line)
	case strings.HasPrefix(rest, "/*"):
		if end := strings.Index(rest[2:], "*/"); end >= 0 {
			return i + 2 + end + 2
		}
		return len(line)
	case line[i] == '#', strings.HasPrefix(rest, "//"):
		return len(line)
	}
	if n := strings.IndexAny(line[i:], fileMarks+`"'`); n > 0 {
		return i + n
	}
	return len(line)
}

// spelledOut is what a word says: a quoted one without its quotes.
func spelledOut(word string) string {
	var text string
	switch {
	case strings.HasPrefix(word, `"`):
		if json.Unmarshal([]byte(word), &text) != nil {
			return ""
		}
		return text
	case strings.HasPrefix(word, "'"):
		return strings.Trim(word, "'")
	}
	return word
}

var (
	maskedRun   = regexp.MustCompile(`…(?:[,:=. \t]*…)+`)
	maskedGroup = regexp.MustCompile(`(?:\{[ \t]*…[ \t,]*\}|\[[ \t]*…[ \t,]*\])`)
)

// shortened writes what is not shown as one.
func shortened(line string) string {
	for {
		short := maskedGroup.ReplaceAllString(maskedRun.ReplaceAllString(line, maskWord), maskWord)
		if short == line {
			return line
		}
		line = short
	}
}
