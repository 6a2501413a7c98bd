package upstream

import (
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxLate is how many ended calls may still hear a line of progress that comes after their answer.
const maxLate = 64

// listeners are the calls that want progress, by token. The zero value is ready; it is safe for concurrent use.
type listeners struct {
	mu    sync.Mutex
	tell  map[string]func(string)
	ended []string // tokens of ended calls, the oldest first
}

// add notes a call.
func (l *listeners) add(token string, tell func(string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tell == nil {
		l.tell = map[string]func(string){}
	}
	l.tell[token] = tell
}

// end notes that a call is answered or given up. It is forgotten when enough others ended after it.
func (l *listeners) end(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, token)
	if len(l.ended) > maxLate {
		delete(l.tell, l.ended[0])
		l.ended = l.ended[1:]
	}
}

// of is who listens to a token; nil if nobody does.
func (l *listeners) of(token string) func(string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tell[token]
}

// notified hands a line of progress to the call that asked for it. Where the server says no more than how far it is, the
// line says that.
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
