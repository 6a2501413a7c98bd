package upstream

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"
)

// spoken is what a child writes to standard error: a long line without end, then a text.
type spoken struct {
	long   int64
	text   io.Reader
	closed bool
}

func (s *spoken) Read(p []byte) (int, error) {
	if s.long <= 0 {
		return s.text.Read(p)
	}
	p = p[:min(int64(len(p)), s.long)]
	for i := range p {
		p[i] = 'x'
	}
	s.long -= int64(len(p))
	return len(p), nil
}

func (s *spoken) Close() error {
	s.closed = true
	return nil
}

// Standard error is read to its end, however long a line is; what stands behind the last line feed is logged too.
func TestStandardErrorIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   spoken
		want []string
	}{
		"lines":              {spoken{text: strings.NewReader("a\nb\n")}, []string{"a", "b"}},
		"the last line":      {spoken{text: strings.NewReader("a\nkilled by a secret")}, []string{"a", "killed by a ***"}},
		"a line without end": {spoken{long: maxSkipped + 4*lineBuffer, text: strings.NewReader("\nb\n")}, []string{strings.Repeat("x", 100), "b"}},
		"only such a line":   {spoken{long: 2 * lineBuffer, text: strings.NewReader("")}, []string{strings.Repeat("x", 100)}},
		"nothing":            {spoken{text: strings.NewReader("")}, nil},
	} {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		logLines(&tt.in, log, func(s string) string { return strings.ReplaceAll(s, "secret", "***") }, &lastLine{})
		rest, err := io.ReadAll(&tt.in)
		if len(rest) > 0 || err != nil || !tt.in.closed {
			t.Errorf("%s: %d bytes or more are left, %v; closed: %v", name, len(rest), err, tt.in.closed)
		}
		logged := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(tt.want) == 0 {
			logged = logged[1:]
		}
		if len(logged) != len(tt.want) {
			t.Errorf("%s: logged %d lines, want %d: %.300s", name, len(logged), len(tt.want), out.String())
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(logged[i], want) || len(logged[i]) > 1000 {
				t.Errorf("%s: logged %.300s, want %.300s", name, logged[i], want)
			}
		}
	}
}
