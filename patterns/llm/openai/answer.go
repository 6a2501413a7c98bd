package openai

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"patterngate/ijson"
	"patterngate/patterns"
)

// completion is what counts of a chat completion.
type completion struct {
	text    string // the first choice's content; "" for null or blank
	refusal string
	choices int
	usage   patterns.Usage
}

// decodeCompletion reads a chat completion: one JSON object whose member choices is a list. Members that are not needed
// are ignored, so that foreign servers may add theirs; repeated members are refused. In a decision also text that is
// not UTF-8 is refused; in prose the broken character is replaced. The error is a [*fault].
func decodeCompletion(text []byte, decision bool) (completion, error) {
	r := reader{jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowInvalidUTF8(!decision))}
	c := completion{choices: -1}
	err := r.object(func(member string) error {
		switch member {
		case "choices":
			return r.choices(&c)
		case "usage":
			return r.usage(&c.usage)
		}
		return r.SkipValue()
	})
	if err == nil {
		err = r.end()
	}
	switch {
	case err != nil:
		return completion{usage: c.usage}, wrongAnswer(fmt.Errorf("no chat completion: %w", err))
	case c.choices < 0:
		return c, wrongAnswer(errors.New("no chat completion: choices is missing"))
	case c.choices == 0:
		return c, &fault{reason: noChoicesReason, cause: errors.New("the list of choices is empty")}
	case c.text == "" && c.refusal != "":
		return c, &fault{reason: refusedReason, cause: errors.New("the model refused")}
	}
	return c, nil
}

// reader walks a document token by token.
type reader struct{ *jsontext.Decoder }

// object reads an object; read is called before each member's value and must read it.
func (r reader) object(read func(member string) error) error {
	if err := r.open('{'); err != nil {
		return err
	}
	for r.PeekKind() != '}' {
		name, err := r.ReadToken()
		if err != nil {
			return whole(err)
		}
		if err := read(name.String()); err != nil {
			return whole(err)
		}
	}
	_, err := r.ReadToken()
	return whole(err)
}

func (r reader) open(kind jsontext.Kind) error {
	t, err := r.ReadToken()
	if err != nil {
		return whole(err)
	}
	if t.Kind() != kind {
		return fmt.Errorf("%s: got %v, want %v", r.StackPointer(), t.Kind(), kind)
	}
	return nil
}

func (r reader) choices(c *completion) error {
	if err := r.open('['); err != nil {
		return err
	}
	for c.choices = 0; r.PeekKind() != ']'; c.choices++ {
		read := r.SkipValue
		if c.choices == 0 {
			read = func() error { return r.choice(c) }
		}
		if err := read(); err != nil {
			return err
		}
	}
	_, err := r.ReadToken()
	return err
}

func (r reader) choice(c *completion) error {
	found := false
	err := r.object(func(member string) error {
		if member != "message" {
			return r.SkipValue()
		}
		found = true
		return r.message(c)
	})
	if err == nil && !found {
		err = errors.New("the first choice has no message")
	}
	return err
}

func (r reader) message(c *completion) error {
	return r.object(func(member string) error {
		switch member {
		case "content":
			return r.text(&c.text)
		case "refusal":
			return r.text(&c.refusal)
		}
		return r.SkipValue()
	})
}

// text reads a string, or null as "". Blank text is "" too.
func (r reader) text(into *string) error {
	t, err := r.ReadToken()
	switch {
	case err != nil:
		return err
	case t.Kind() == '"':
		if text := t.String(); !ijson.Blank(text) {
			*into = text
		}
	case t.Kind() != 'n':
		return fmt.Errorf("%s: got %v, want a string or null", r.StackPointer(), t.Kind())
	}
	return nil
}

// usage reads the token counts; one that is no whole number from 0 counts as 0.
func (r reader) usage(u *patterns.Usage) error {
	if r.PeekKind() != '{' {
		return r.SkipValue() // null, or something else that says nothing
	}
	return r.object(func(member string) error {
		switch member {
		case "prompt_tokens":
			return r.count(&u.InputTokens)
		case "completion_tokens":
			return r.count(&u.OutputTokens)
		}
		return r.SkipValue()
	})
}

func (r reader) count(into *int) error {
	v, err := r.ReadValue()
	if err != nil {
		return err
	}
	if n, err := strconv.ParseUint(string(v), 10, 31); err == nil {
		*into = int(n)
	}
	return nil
}

// end makes sure that nothing follows the document.
func (r reader) end() error {
	if _, err := r.ReadToken(); err != io.EOF {
		return errors.New("text after the document")
	}
	return nil
}

// whole says of a document that ends too early that it does, also if it has not begun.
func whole(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
