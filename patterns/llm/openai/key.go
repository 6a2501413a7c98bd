package openai

import (
	"context"
	"errors"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
)

// bearer is the token of one request. It is on no path that prints.
type bearer string

// written is a token that is known already; without one a placeholder is sent.
func written(token string) catalog.Secret {
	if token == "" {
		token = placeholderKey
	}
	return catalog.NewSecret(func(context.Context) (string, error) { return token, nil }, nil)
}

// bearer reads the token. Without it nothing is sent.
func (m *Client) bearer(ctx context.Context) (bearer, error) {
	text, err := m.key.Text(ctx)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", &fault{reason: authReason, cause: err} // it quotes nothing of it
	case strings.ContainsFunc(text, unfit):
		m.key.Forget()
		return "", &fault{reason: authReason, cause: errors.New("the API key holds white space or characters beyond ASCII")}
	}
	return bearer(text), nil
}

// unfit reports a character that no token has.
func unfit(r rune) bool { return r <= ' ' || r > '~' }

// quotable is a server's text as a cause may hold it: short, and without the token.
func (b bearer) quotable(text string) string { return ijson.Cut(b.scrub(text), errorTextBytes) }

// leastKey is how much of a token, in bytes, is worth to be taken out of a text that was cut inside it.
const leastKey = 4

// scrub takes the token out of a server's text, which may repeat what was sent; also the beginning of one where the text
// ends.
func (b bearer) scrub(text string) string {
	if b == "" || b == placeholderKey {
		return text
	}
	text = strings.ReplaceAll(text, string(b), catalog.Masked)
	for n := min(len(b), len(text)); n >= leastKey; n-- {
		if rest, cut := strings.CutSuffix(text, string(b[:n])); cut {
			return rest + catalog.Masked
		}
	}
	return text
}
