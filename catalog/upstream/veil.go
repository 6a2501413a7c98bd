package upstream

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"patterngate/catalog"
)

// These are the limits of what a veil hides. Shorter texts occur by chance. Old texts of a secret that was replaced
// often are dropped.
const (
	shortestHidden = 6
	mostHidden     = 16 // whole texts of one secret
)

// veil hides secrets that it revealed wherever a server repeats them: in its errors and on its standard error. The zero
// value hides nothing yet. It is safe for concurrent use.
type veil struct {
	mu     sync.Mutex
	hidden map[catalog.Secret][]string // whole texts, the newest last
	order  []string                    // whole texts and their lines, the longest first, because one secret may begin another
}

// reveal reads a secret and hides it from then on.
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

// hide returns text with *** for each secret.
func (v *veil) hide(text string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, secret := range v.order { // the whole before its lines
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}
