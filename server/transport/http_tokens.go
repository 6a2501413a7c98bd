package transport

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// The limits of a token file. MaxTokenFile is its longest text, in bytes.
const (
	MaxTokenFile = 256 << 10
	maxTokens    = 1000
	minToken     = 20 // characters; 16 bytes in hex are 32
	maxToken     = 512
)

// Tokens are the bearer tokens (RFC 6750) of the clients that may connect over HTTP. They contain only hashes. The zero
// Tokens accept no token. Tokens are safe for concurrent use.
type Tokens struct{ entries []tokenEntry }

type tokenEntry struct {
	name string
	sum  [sha256.Size]byte
	line int
}

var (
	tokenName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	// tokenText is the b64token of RFC 6750.
	tokenText = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)
)

// ParseTokens reads lines of the form "name: token". It skips blank lines and lines that begin with #. The error lists
// every fault with its line, and never repeats a token. With a fault, or without a token, ParseTokens returns no
// Tokens.
func ParseTokens(text []byte) (Tokens, error) {
	if len(text) > MaxTokenFile {
		return Tokens{}, fmt.Errorf(tokensTooLong, MaxTokenFile)
	}
	var t Tokens
	var faults []error
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		entry, err := t.parse(line)
		if err != nil {
			faults = append(faults, fmt.Errorf("line %d: %w", number, err))
			if len(faults) == maxShownFaults {
				break
			}
			continue
		}
		entry.line = number
		t.entries = append(t.entries, entry)
	}
	switch {
	case len(faults) > 0:
		return Tokens{}, errors.Join(faults...)
	case len(t.entries) == 0:
		return Tokens{}, errors.New(noTokenLine)
	}
	return t, nil
}

// maxShownFaults is how many faults of a file an error lists.
const maxShownFaults = 50

// parse reads one line. Its name and its token must differ from those before it.
func (t Tokens) parse(line string) (tokenEntry, error) {
	name, token, ok := strings.Cut(line, ":")
	token = strings.TrimSpace(token)
	switch {
	case !ok:
		return tokenEntry{}, errors.New(noColon)
	case !tokenName.MatchString(name):
		return tokenEntry{}, errors.New(tokenNameForm)
	case len(token) < minToken || len(token) > maxToken:
		return tokenEntry{}, fmt.Errorf(tokenLength, name, minToken, maxToken)
	case !tokenText.MatchString(token):
		return tokenEntry{}, fmt.Errorf(tokenCharacters, name)
	case len(t.entries) == maxTokens:
		return tokenEntry{}, fmt.Errorf(tooManyTokens, maxTokens)
	}
	sum := sha256.Sum256([]byte(token))
	for _, e := range t.entries {
		switch {
		case e.name == name:
			return tokenEntry{}, fmt.Errorf(tokenNameTwice, name, e.line)
		case e.sum == sum:
			return tokenEntry{}, fmt.Errorf(tokenTwice, name, e.name, e.line)
		}
	}
	return tokenEntry{name: name, sum: sum}, nil
}

// Len returns how many tokens there are.
func (t Tokens) Len() int { return len(t.entries) }

// String says how many tokens there are.
func (t Tokens) String() string { return fmt.Sprintf("%d tokens", len(t.entries)) }

// holder returns the name of a token. It takes the same time for every token, right or wrong.
func (t Tokens) holder(token string) (name string, ok bool) {
	sum := sha256.Sum256([]byte(token))
	at, found := 0, 0
	for i := range t.entries {
		same := subtle.ConstantTimeCompare(sum[:], t.entries[i].sum[:])
		at = subtle.ConstantTimeSelect(same, i, at)
		found |= same
	}
	if found == 0 {
		return "", false
	}
	return t.entries[at].name, true
}

// bearer returns the token of an Authorization header. asked reports whether the header has a token, in the right form
// or not.
func bearer(values []string) (token string, asked bool) {
	if len(values) == 0 {
		return "", false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	if len(values) > 1 || len(token) > maxToken {
		return "", true
	}
	return strings.TrimLeft(token, " "), true
}
