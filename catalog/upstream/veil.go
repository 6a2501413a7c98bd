package upstream

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"patterngate/catalog"
)

// The bounds of what a veil hides: a shorter text turns up by chance, and a secret that was replaced often is forgotten.
const (
	shortestHidden = 6
	mostHidden     = 16 // texts of one secret, with their lines
)

// veil hides the secrets that it revealed wherever a server repeats them: in its errors and on its standard error. The
// zero value hides nothing yet; it is safe for concurrent use.
type veil struct {
	mu     sync.Mutex
	hidden map[catalog.Secret][]string // whole texts, the newest last
	order  []string                    // the same with their lines, the longest first: one secret may begin another
}

// reveal reads a secret and remembers to hide it.
func (v *veil) reveal(ctx context.Context, s catalog.Secret) (string, error) {
	text, err := s.Text(ctx)
	if err != nil {
		return "", err
	}
	v.add(s, text)
	return text, nil
}

func (v *veil) add(of catalog.Secret, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if slices.Contains(v.hidden[of], text) {
		return
	}
	if v.hidden == nil {
		v.hidden = map[catalog.Secret][]string{}
	}
	texts := append(v.hidden[of], text)
	v.hidden[of] = texts[max(0, len(texts)-mostHidden):]
	v.order = nil
	for _, texts := range v.hidden {
		for _, text := range texts {
			v.order = append(v.order, text)
			for line := range strings.Lines(text) { // as they are logged
				v.order = append(v.order, strings.TrimSpace(line))
			}
		}
	}
	v.order = slices.DeleteFunc(v.order, func(text string) bool { return len(text) < shortestHidden })
	slices.SortFunc(v.order, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	v.order = slices.Compact(v.order)
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
