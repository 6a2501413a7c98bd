package upstream

import (
	"bytes"
	"io"
	"slices"
	"testing"
	"testing/iotest"
)

// Lines within the bound pass unchanged, however they are read; a longer one ends the input, and is told.
func FuzzBoundedLines(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), byte(3))
	f.Add([]byte("aaaa\n"), byte(3))
	f.Add([]byte("aaa\naaaa"), byte(3))
	f.Fuzz(func(t *testing.T, text []byte, most byte) {
		long := slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool { return len(line) > int(most) })
		for name, in := range map[string]io.Reader{"at once": bytes.NewReader(text), "in bytes": iotest.OneByteReader(bytes.NewReader(text))} {
			b := newBoundedLines(in, int(most))
			got, err := io.ReadAll(b)
			if (err != nil) != long || (b.fault() != nil) != long {
				t.Errorf("%s: %q with lines of at most %d bytes: %v, want a fault: %v", name, text, most, err, long)
			}
			if !bytes.HasPrefix(text, got) || !long && len(got) != len(text) {
				t.Errorf("%s: %q is passed on as %q", name, text, got)
			}
		}
	})
}
