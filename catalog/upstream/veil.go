package upstream

import (
	"context"
	"slices"
	"strings"
	"sync"

	"patterngate/catalog"
)

// The bounds of what a veil hides: a shorter text turns up by chance, and a secret that was replaced often is forgotten.
const (
	shortestHidden = 6
	mostHidden     = 64
)

// veil hides the secrets that it revealed wherever a server repeats them: in its errors and on its standard error. The
// zero value hides nothing yet; it is safe for concurrent use.
type veil struct {
	mu     sync.Mutex
	hidden []string // the newest last
	order  []string // the same, the longest first: one secret may begin another
}

// reveal reads a secret and remembers to hide it.
func (v *veil) reveal(ctx context.Context, s catalog.Secret) (string, error) {
	text, err := s.Text(ctx)
	if err != nil {
		return "", err
	}
	v.add(text)
	for line := range strings.Lines(text) { // as they are logged
		v.add(strings.TrimSpace(line))
	}
	return text, nil
}

func (v *veil) add(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(text) < shortestHidden || slices.Contains(v.hidden, text) {
		return
	}
	v.hidden = append(v.hidden, text)
	if len(v.hidden) > mostHidden {
		v.hidden = v.hidden[1:]
	}
	v.order = slices.SortedStableFunc(slices.Values(v.hidden), func(a, b string) int { return len(b) - len(a) })
}

// hide puts *** for each secret in text.
func (v *veil) hide(text string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, secret := range v.order { // the whole before its lines
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}
