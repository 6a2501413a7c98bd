package transport

import (
	"encoding/json"
	"strings"
	"testing"
)

// What is no error, and an error of bearable length, goes out as it is; the rest of a long one stays.
func TestBriefError(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":"` + long + `"}}` + "\n", `{"jsonrpc":"2.0","method":"` + long + `"}` + "\n",
		`{"jsonrpc":"2.0","id":"` + long + `","error":{"code":-1,"message":"m"}}` + "\n", long, "",
		`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":{"message":"` + long + `"}}}` + "\n",
	} {
		if got := string(briefError([]byte(line))); got != line {
			t.Errorf("%.80s... became %.200s", line, got)
		}
	}
	got := briefError([]byte(`{"jsonrpc":"2.0","id":"a\",b","error":{"code":-7,"message":"<` + long + `>","data":{"k":1.50}}}` + "\n"))
	var m struct {
		ID    string
		Error struct {
			Code    int
			Message string
			Data    json.RawMessage
		}
	}
	err := json.Unmarshal(got, &m)
	if err != nil || m.ID != `a",b` || m.Error.Code != -7 || string(m.Error.Data) != `{"k":1.50}` || len(m.Error.Message) > maxErrorText+40 ||
		!strings.HasPrefix(m.Error.Message, "<xxx") || !strings.HasSuffix(m.Error.Message, "xxx>") || got[len(got)-1] != '\n' {
		t.Errorf("%v: %.300s", err, got)
	}
}
