package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// order is what is asked for.
type order struct {
	OrderID     string `json:"order_id"`
	AmountCents int64  `json:"amount_cents"`
	Reason      string `json:"reason"`
}

// payment is one line of the ledger.
type payment struct {
	Key string `json:"key"`
	order
}

// ledger is an append-only file of payments. It is safe for concurrent use.
type ledger struct {
	mu    sync.Mutex
	file  *os.File
	first map[string]order // by key, as it was paid first
	times map[string]int   // by key
}

// openLedger opens the file, or makes it, and reads what was paid before. A last line that was not written whole goes: its
// refund was not answered.
func openLedger(path string) (*ledger, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	l := &ledger{file: file, first: map[string]order{}, times: map[string]int{}}
	text, err := os.ReadFile(path)
	if err == nil {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
		err = file.Truncate(int64(len(text)))
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 2*maxRequest) // a line is an order and its key
	for n := 1; err == nil && lines.Scan(); n++ {
		var p payment
		if fault := json.Unmarshal(lines.Bytes(), &p); fault != nil {
			err = fmt.Errorf("%s:%d: %w", path, n, fault)
			break
		}
		l.count(p)
	}
	if err == nil {
		err = lines.Err()
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return l, nil
}

// Close closes the file.
func (l *ledger) Close() error { return l.file.Close() }

func (l *ledger) count(p payment) {
	if l.times[p.Key]++; l.times[p.Key] == 1 {
		l.first[p.Key] = p.order
	}
}

// verdict is what became of a refund.
type verdict int

const (
	paid   verdict = iota
	before         // the key was paid before, and was not paid again
	other          // the key was paid before, for something else
)

// pay writes a payment down, unless its key was paid before. With again the same key is paid again.
func (l *ledger) pay(p payment, again bool) (verdict, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if first, ok := l.first[p.Key]; ok && !again {
		if first != p.order {
			return other, nil
		}
		return before, nil
	}
	line, err := json.Marshal(p)
	if err != nil {
		return paid, err
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return paid, err
	}
	if err := l.file.Sync(); err != nil {
		return paid, err
	}
	l.count(p)
	return paid, nil
}

// refund is what the service says of a key.
type refund struct {
	payment
	Status string `json:"status"`
	Times  int    `json:"times"`
}

// find looks a key up.
func (l *ledger) find(key string) (refund, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	times, ok := l.times[key]
	return refund{payment{key, l.first[key]}, "paid", times}, ok
}

// all counts the payments of each key.
func (l *ledger) all() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[string]int, len(l.times))
	for key, times := range l.times {
		all[key] = times
	}
	return all
}
