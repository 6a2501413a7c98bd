package upstream

import "sync"

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
