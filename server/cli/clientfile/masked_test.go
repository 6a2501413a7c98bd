package clientfile

import "testing"

// What is masked is masked, whatever stands around it; what setup wrote is shown.
func TestMasked(t *testing.T) {
	own := ShownWordsOf(JSONServers{Member: "mcpServers"}, Entry{Name: "gate", Command: "/opt/my gate", Args: []string{"serve"}})
	for line, want := range map[string]string{
		`{"mcpServers": {"a": {"env": {"T": "x"}}}}`:                                `{"mcpServers": …}`,
		`    "gate": {"command": "/opt/my gate", "args": ["serve"]}, "b": {"k": 1}`: `    "gate": {"command": "/opt/my gate", "args": ["serve"]}, …`,
		`  }, // none`:           `  }, …`,
		`  token" "x`:            `  …`,
		"\t}\r\n":                "\t}\r\n",
		`args = ["serve"] # old`: `args = ["serve"] …`,
	} {
		if got := own.Masked(line); got != want {
			t.Errorf("masked(%q) = %q, want %q", line, got, want)
		}
	}
}
