package signing

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadTyped(t *testing.T) {
	for name, test := range map[string]struct {
		keys, want, rest string
		err              error
	}{
		"a line":            {"correct horse\r", "correct horse", "", nil},
		"what comes after":  {"one\ntwo\n", "one", "two\n", nil},
		"nothing":           {"\r", "", "", nil},
		"backspace":         {"ab\x7f\x08\x7fxä\x7fy\r", "xy", "", nil},
		"again":             {"wrong\x15right\r", "right", "", nil},
		"other keys":        {"a\x00\x01\tb\r", "ab", "", nil},
		"interrupt":         {"abc\x03", "", "", errGivenUp},
		"end":               {"\x04", "", "", errGivenUp},
		"end within a line": {"ab\x04c\r", "abc", "", nil},
		"gone":              {"abc", "", "", io.EOF},
		"Latin-1":           {"gr\xfcn\r", "gr\xfcn", "", nil},
		"long":              {strings.Repeat("x", 2*maxTyped) + "\r", strings.Repeat("x", maxTyped), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			from := strings.NewReader(test.keys)
			got, err := readTyped(from)
			rest, _ := io.ReadAll(from)
			if got != test.want || !errors.Is(err, test.err) || string(rest) != test.rest {
				t.Errorf("readTyped(%.40q) = %.40q, %v, leaves %q; want %.40q, %v, %q", test.keys, got, err, rest, test.want, test.err, test.rest)
			}
		})
	}
}

// What is typed plainly is what is read, wherever it is cut; nothing of a control key is ever in it.
func FuzzReadTyped(f *testing.F) {
	f.Add("a passphrase", "\x7f\x15\x1b[A")
	f.Fuzz(func(t *testing.T, plain, keys string) {
		plain = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return -1
			}
			return r
		}, plain)
		if len(plain) < maxTyped && strings.ToValidUTF8(plain, "") == plain {
			if got, err := readTyped(iotest.HalfReader(strings.NewReader("\x15" + plain + "\r"))); got != plain || err != nil {
				t.Errorf("readTyped(%q) = %q, %v", plain, got, err)
			}
		}
		got, err := readTyped(strings.NewReader(keys + "\r"))
		if err != nil && got != "" || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("readTyped(%q) = %q, %v", keys, got, err)
		}
	})
}
