package upstream

import (
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxLate is how many ended calls still receive a line of progress that comes after their answer.
const maxLate = 64

// listeners are the calls that want progress, by token. The zero value is ready to use. It is safe for concurrent use.
type listeners struct {
	mu    sync.Mutex
	tell  map[string]func(string)
	ended []string // tokens of ended calls, the oldest first
}

// add registers a call.
func (l *listeners) add(token string, tell func(string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tell == nil {
		l.tell = map[string]func(string){}
	}
	l.tell[token] = tell
}

// end records that a call is answered or given up. The call is removed after enough other calls have ended.
func (l *listeners) end(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, token)
	if len(l.ended) > maxLate {
		delete(l.tell, l.ended[0])
		l.ended = l.ended[1:]
	}
}

// of returns the function for a token, or nil.
func (l *listeners) of(token string) func(string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tell[token]
}

// notified passes a line of progress to the call that asked for it. If the server sends only a number, the line is that
// number.
func (c *Client) notified(n mcp.JSONRPCNotification) {
	if c.how.notified != nil {
		c.how.notified(n.Method)
	}
	if n.Method != "notifications/progress" {
		return
	}
	fields := n.Params.AdditionalFields
	token, _ := fields["progressToken"].(string)
	tell := c.progress.of(token)
	if tell == nil {
		return
	}
	line, _ := fields["message"].(string)
	if done, ok := fields["progress"].(float64); ok && line == "" {
		line = strconv.FormatFloat(done, 'g', -1, 64)
		if total, ok := fields["total"].(float64); ok {
			line += " of " + strconv.FormatFloat(total, 'g', -1, 64)
		}
	}
	if line != "" {
		tell(line)
	}
}
