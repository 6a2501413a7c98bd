package gateway_test

import (
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
)

func TestWrote(t *testing.T) {
	entry := func(effect string, status gateway.EffectStatus) gateway.Entry {
		return gateway.Entry{Status: status, Effect: catalog.Effect(effect)}
	}
	tests := map[string]struct {
		entries []gateway.Entry
		want    bool
	}{
		"nothing":          {nil, false},
		"reads":            {[]gateway.Entry{entry("read", gateway.Finished), entry("read", gateway.InDoubt)}, false},
		"a failed write":   {[]gateway.Entry{entry("write", gateway.Failed)}, false},
		"a write":          {[]gateway.Entry{entry("read", gateway.Finished), entry("write", gateway.Finished)}, true},
		"a reserved write": {[]gateway.Entry{entry("write", gateway.Reserved)}, true},
		"a write in doubt": {[]gateway.Entry{entry("write", gateway.InDoubt)}, true},
		"destruction":      {[]gateway.Entry{entry("destructive", gateway.Finished)}, true},
		"nobody knows":     {[]gateway.Entry{{}}, true},
	}
	for name, tt := range tests {
		if got := gateway.Wrote(tt.entries); got != tt.want {
			t.Errorf("%s: Wrote = %v, want %v", name, got, tt.want)
		}
	}
}
