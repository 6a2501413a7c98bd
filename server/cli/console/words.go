package console

import (
	"errors"
	"fmt"
	"strings"

	"patterngate/ijson/printable"
)

// SplitWords splits a command line into words as a shell does. Blanks separate words, and quotes keep them together. A
// backslash quotes the next character, except on Windows, where paths contain it. It returns an error for characters
// that a shell would act on, because no shell reads the line.
func SplitWords(line string, windows bool) ([]string, error) {
	s := splitter{rest: line, literal: windows}
	for s.rest != "" {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	s.endWord()
	return s.words, nil
}

// splitter splits one line.
type splitter struct {
	rest    string
	literal bool // a backslash is an ordinary character
	words   []string
	word    strings.Builder
	in      bool // in a word, which can be empty
}

const (
	blanks  = " \t\r\n"
	special = "|&;<>()$`"
)

// next reads the next character, or a quoted part.
func (s *splitter) next() error {
	c := s.rest[0]
	switch {
	case strings.IndexByte(blanks, c) >= 0:
		s.endWord()
	case c == '\'':
		return s.single()
	case c == '"':
		return s.double()
	case c == '\\' && !s.literal:
		return s.escaped()
	case c == 0:
		return errors.New("an argument cannot have a NUL character")
	case strings.IndexByte(special, c) >= 0:
		return fmt.Errorf("no shell reads this line: put %q into single quotes to pass it to the program", c)
	case c == '~' && !s.in && !s.literal:
		return errors.New("no shell reads this line: write the whole path instead of ~")
	default:
		s.put(s.rest[:1])
	}
	s.rest = s.rest[1:]
	return nil
}

func (s *splitter) put(text string) {
	s.word.WriteString(text)
	s.in = true
}

func (s *splitter) endWord() {
	if s.in {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.in = false
}

func (s *splitter) single() error {
	text, after, closed := strings.Cut(s.rest[1:], "'")
	switch {
	case !closed:
		return errors.New("a quote ' is not closed")
	case strings.Contains(text, "\x00"):
		return errors.New("an argument cannot have a NUL character")
	}
	s.put(text)
	s.rest = after
	return nil
}

// double reads text in double quotes. There a backslash quotes ", \, $ and `.
func (s *splitter) double() error {
	s.put("")
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '"':
			s.rest = s.rest[i+1:]
			return nil
		case c == '\\' && !s.literal && i+1 < len(s.rest) && strings.IndexByte("\"\\$`", s.rest[i+1]) >= 0:
			i++
			s.put(s.rest[i : i+1])
		case c == '\\' && s.literal && i+1 < len(s.rest) && s.rest[i+1] == '"':
			i++
			s.put(`"`)
		case c == '$' || c == '`':
			return fmt.Errorf("no shell reads this line: put %q into single quotes to pass it to the program", c)
		case c == 0:
			return errors.New("an argument cannot have a NUL character")
		default:
			s.put(s.rest[i : i+1])
		}
	}
	return errors.New(`a quote " is not closed`)
}

func (s *splitter) escaped() error {
	if len(s.rest) == 1 {
		return errors.New(`a \ ends the line`)
	}
	if s.rest[1] == 0 {
		return errors.New("an argument cannot have a NUL character")
	}
	s.put(s.rest[1:2])
	s.rest = s.rest[2:]
	return nil
}

// ShellWord is [printable.ShellWord]. [SplitWords] reads a word for a POSIX shell back.
func ShellWord(goos, word string) string { return printable.ShellWord(goos, word) }
