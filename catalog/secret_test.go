package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"patterngate/catalog"
)

func TestSecretIsReadWhenNeededAndOnce(t *testing.T) {
	var reads, learned atomic.Int32
	var mask catalog.Mask
	s := catalog.NewSecret(func(context.Context) (string, error) {
		return fmt.Sprintf("secret number %d", reads.Add(1)), nil
	}, func(text string) { learned.Add(1); mask.Add(text) })
	if reads.Load() != 0 {
		t.Fatal("it was read before anybody needed it")
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			text, err := s.Text(t.Context())
			if err != nil || text != "secret number 1" || mask.Text(text) != "***" {
				t.Errorf("Text = %q, %v; masked %q", text, err, mask.Text(text))
			}
		})
	}
	all.Wait()
	s.Forget()
	if text, err := s.Text(t.Context()); text != "secret number 2" || err != nil {
		t.Errorf("Text after Forget = %q, %v", text, err)
	}
	if reads.Load() != 2 || learned.Load() != 2 {
		t.Errorf("%d reads, %d learned, want 2 and 2", reads.Load(), learned.Load())
	}
}

func TestSecretRefusesWhatIsNone(t *testing.T) {
	broken := errors.New("no such file")
	tests := map[string]struct {
		read func(context.Context) (string, error)
		want error
	}{
		"empty":     {func(context.Context) (string, error) { return "", nil }, catalog.ErrEmptySecret},
		"too long":  {func(context.Context) (string, error) { return strings.Repeat("x", 64<<10+1), nil }, catalog.ErrLongSecret},
		"no text":   {func(context.Context) (string, error) { return "\xff\xfe", nil }, catalog.ErrBinary},
		"an error":  {func(context.Context) (string, error) { return "half", broken }, broken},
		"it breaks": {func(context.Context) (string, error) { panic("the secret itself") }, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := catalog.NewSecret(tt.read, func(text string) { t.Errorf("%q was learned", text) })
			for range 2 { // a failed read is tried again
				text, err := s.Text(t.Context())
				if text != "" || err == nil || tt.want != nil && !errors.Is(err, tt.want) || strings.Contains(err.Error(), "itself") {
					t.Errorf("Text = %q, %v, want %v", text, err, tt.want)
				}
			}
		})
	}
}

// Who does not wait any more gets away, and takes nobody with them.
func TestSecretOfWhoGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		s := catalog.NewSecret(func(ctx context.Context) (string, error) {
			select {
			case <-open:
				return "the secret", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		first, second := make(chan error), make(chan string)
		go func() { _, err := s.Text(ctx); first <- err }()
		synctest.Wait()
		go func() { text, _ := s.Text(t.Context()); second <- text }()
		synctest.Wait()
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("Text of who gave up = %v", err)
		}
		close(open)
		if text := <-second; text != "the secret" {
			t.Errorf("Text of who waited = %q", text)
		}
		// A read that never ends is given up too.
		hanging := catalog.NewSecret(func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }, nil)
		if _, err := hanging.Text(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Text of a read without end = %v", err)
		}
	})
}

// What was under way when a secret was forgotten is kept by nobody, also where it ends last.
func TestSecretForgottenWhileRead(t *testing.T) {
	for name, order := range map[string][2]int{"the old read ends first": {0, 1}, "the old read ends last": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answers := []chan string{make(chan string), make(chan string)}
				reads := 0
				s := catalog.NewSecret(func(context.Context) (string, error) {
					if reads++; reads > len(answers) {
						return "read once more", nil
					}
					return <-answers[reads-1], nil
				}, nil)
				got := [2]string{}
				ask := func(i int) { got[i], _ = s.Text(t.Context()) }
				go ask(0)
				synctest.Wait()
				s.Forget()
				go ask(1)
				synctest.Wait()
				for _, i := range order {
					answers[i] <- [...]string{"the old one", "the new one"}[i]
					synctest.Wait()
				}
				if want := [2]string{"the old one", "the new one"}; got != want {
					t.Errorf("who asked got %q, want %q", got, want)
				}
				if text, err := s.Text(t.Context()); err != nil || text != "the new one" {
					t.Errorf("Text = %q, %v, want the new one", text, err)
				}
			})
		})
	}
}

func TestSecretIsNeverPrinted(t *testing.T) {
	s := catalog.NewSecret(func(context.Context) (string, error) { return "hunter22", nil }, nil)
	if _, err := s.Text(t.Context()); err != nil {
		t.Fatal(err)
	}
	holder := struct{ S catalog.Secret }{s}
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		s.String(), fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %q %d %x", s, s, s, s, s, s), fmt.Sprintf("%v %+v %#v", holder, holder, holder), string(encoded),
	} {
		if strings.Contains(text, "hunter22") || strings.Contains(text, "68756e746572") || !strings.Contains(text, "***") {
			t.Errorf("a secret is printed as %s", text)
		}
	}
}
