package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"sync"
	"time"

	"patterngate/patterns"
	"patterngate/server/web/wording"
)

// lock lets passphrases be tried one at a time, because each attempt costs memory and time by design. It also limits
// the wrong attempts per minute. It is safe for concurrent use.
type lock struct {
	turn  chan struct{} // holds one value while a passphrase is tried
	mu    sync.Mutex
	wrong []time.Time // times of the newest wrong attempts, at most maxWrong
}

func newLock() *lock { return &lock{turn: make(chan struct{}, 1)} }

// try calls open when no other attempt is in progress. If held is true, it did not call open: too many were wrong in
// the last minute, or the request ended first.
func (l *lock) try(ctx context.Context, now func() time.Time, open func() error) (held bool, err error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return true, nil
	}
	if l.held(now()) {
		return true, nil
	}
	if err = open(); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.wrong = append(l.wrong, now())
		l.wrong = l.wrong[max(0, len(l.wrong)-maxWrong):]
	}
	return false, err
}

func (l *lock) held(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = slices.DeleteFunc(l.wrong, func(t time.Time) bool { d := now.Sub(t); return d > wrongCount || d < -wrongCount })
	return len(l.wrong) >= maxWrong
}

// sign signs the answer with the named key. refusal says why it did not, in words that contain nothing of what the
// person typed.
func (d *decision) sign(given *patterns.Decided) (status int, refusal string) {
	id := d.typed.keyID
	if !slices.Contains(d.keyFiles(), id) {
		return http.StatusUnprocessableEntity, wording.NoSuchKey
	}
	held, err := d.lock.try(d.r.Context(), d.now, func() error {
		signer, forget, err := d.config.Open(id, d.typed.passphrase)
		if err != nil {
			return err
		}
		if forget != nil {
			defer forget()
		}
		given.Key, given.By = signer.KeyID(), "key:"+signer.KeyID()
		given.Signature = signer.Sign(given.Message())
		return nil
	})
	switch {
	case held:
		return http.StatusTooManyRequests, wording.TooManyPassphrases
	case err != nil:
		return http.StatusUnprocessableEntity, wording.WrongPassphrase
	}
	return 0, ""
}

// sameText compares secrets in constant time. An empty want equals nothing.
func sameText(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return want != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
