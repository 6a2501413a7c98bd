package server

import (
	"fmt"
	"strings"
	"testing"
)

// repeatedMembers are messages that have a member twice, with the era of the handshake and of 2026-07-28 in one table: meta is "" or the
// members that say the era.
func repeatedMembers(meta string) map[string]string {
	call := `"name":"` + td + `","arguments":` + goodCall
	whole := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + call + `}`
	return map[string]string{
		"params":                   whole + `,"params":{` + meta + call + `}}`,
		"params, the first is bad": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":5,` + whole[1:] + `}`,
		"Params":                   whole + `,"Params":{` + meta + call + `}}`,
		"escaped params":           whole + `,"\u0070arams":{` + meta + call + `}}`,
		"id":                       whole + `,"id":2}`,
		"method":                   whole + `,"method":"tools/call"}`,
		"jsonrpc":                  whole + `,"jsonrpc":"2.0"}`,
		"jsonrpc, the last is bad": whole + `,"jsonrpc":"1.0"}`,
		"an unknown member":        whole + `,"x":1,"x":1}`,
		"a name that is no UTF-8":  whole + ",\"x\xff\":1,\"x\xff\":1}",
		"below an unknown member":  whole + `,"x":[{"a":1,"a":1}]}`,
		"the tool":                 whole[:len(whole)-1] + `,"name":"` + td + `"}}`,
		"the arguments":            whole[:len(whole)-1] + `,"arguments":{}}}`,
		"Arguments":                whole[:len(whole)-1] + `,"Arguments":{}}}`,
		"in _meta":                 `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + strings.TrimSuffix(meta, ",") + comma(meta) + `"_meta":{"progressToken":1,"progressToken":2},` + call + `}}`,
		"deep in params":           whole[:len(whole)-1] + `,"x":{"y":[[{"z":1,"z":1}]]}}}`,
		"of another method":        `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{` + meta + `"name":"x","arguments":{"a":"1","a":"2"}}}`,
		"of a notification":        `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"requestId":2}}`,
		"of an answer":             `{"jsonrpc":"2.0","id":1,"result":{},"result":{}}`,
	}
}

func comma(meta string) string {
	if meta == "" {
		return ""
	}
	return ","
}

// A message that has a member twice is refused as one that cannot be read, over stdio and HTTP and in both eras, and nothing runs.
func TestRepeatedMembers(t *testing.T) {
	var log logBuffer
	s := serving(t, logging(&log))
	h := listening(t, s)
	legacy, modern := h.connect(false, nil), h.connect(true, nil)
	for era, meta := range map[string]string{"2025-11-25": "", "2026-07-28": modernMeta + ","} {
		for name, message := range repeatedMembers(meta) {
			t.Run("http/"+era+"/"+name, func(t *testing.T) {
				headers := legacy.head("", "")
				if era == "2026-07-28" {
					headers = modern.head(methodOf(message), nameOf(message))
				}
				if a := h.post(headers, message); shownReply(a) != "400 <nil> -32700" || !strings.Contains(a.body, "repeated") {
					t.Errorf("%s: %s, want 400 and -32700; body %s", message, shownReply(a), a.body)
				}
			})
			t.Run("stdio/"+era+"/"+name, func(t *testing.T) {
				c := connect(t, s)
				c.send(message)
				m := c.next()
				if m.Error == nil || m.Error.Code != -32700 || m.ID != nil {
					t.Errorf("%s: %s, want -32700 and no id", message, fmt.Sprint(m))
				}
			})
		}
	}
	h.stop()
	if runs := log.lines(t, "run ended"); len(runs) > 0 {
		t.Errorf("runs took place: %v", runs)
	}
}
