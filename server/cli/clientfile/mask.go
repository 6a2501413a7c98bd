package clientfile

import (
	"encoding/json"
	"regexp"
	"strings"
)

// ShownWords is the set of words of a client's file that a diff shows. They are the words that setup writes, and the
// command and configuration path of an earlier entry. All other words belong to the user and may be secrets: a diff shows
// … in their place.
type ShownWords map[string]bool

// ShownWordsOf returns the words of an entry. It adds words from the entries of that name in the given texts, for example
// the file before and after. It takes words only from an entry that starts patterngate.
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
			continue // another program: its words belong to the user
		}
		add(command)
		args, _ := members["args"].([]any)
		if len(args) == 3 && args[0] == "serve" && args[1] == "--config" { // as setup writes them; other arguments belong to the user
			path, _ := args[2].(string)
			add(path)
		}
	}
	delete(own, "")
	return own
}

// fileMarks are the punctuation of JSON and TOML, and white space.
const fileMarks = "{}[],:=. \t\r\n"

// Masked returns a line with … for every word that is not in the set, and with one … for several such words in a row. It does
// not look at other lines. So it also replaces the words inside a string or comment of several lines.
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

// maskWord replaces hidden words.
const maskWord = "…"

// wordEnd returns the offset after the word that begins at i. A word is a quoted text, a comment, or the text up to the next
// mark or quote.
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

// spelledOut returns the text of a word: for a quoted word, the text inside the quotes. It returns "" for an invalid string.
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

// shortened replaces several hidden words in a row, and groups of only hidden words, by one ….
func shortened(line string) string {
	for {
		short := maskedGroup.ReplaceAllString(maskedRun.ReplaceAllString(line, maskWord), maskWord)
		if short == line {
			return line
		}
		line = short
	}
}
