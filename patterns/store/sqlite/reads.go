package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/store"
)

// rows reads runs with a query of rowColumns, and calls each for every run until it returns false.
func (s *session) rows(each func(*store.Row) bool, query string, args ...any) error {
	err := s.Each(func(scan func(...any) error) error {
		r := &store.Row{}
		err := scan(&r.N, &r.Pattern, &r.Principal, &r.Client, &r.Config, &r.Began, &r.State, &r.Owner, &r.Epoch, &r.Wake, &r.Canceled,
			&r.Length, &r.Head, &r.WaitingKind, &r.Turn, &r.WaitsKey, &r.Expires, &r.Ended, &r.Status, &r.StopReason, &r.Phase, &r.Summary, &r.Parent)
		if err == nil && !each(r) {
			err = errEnough
		}
		return err
	}, query, args...)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

var errEnough = errors.New("local: enough rows")

// Row implements [store.Reader].
func (s *session) Row(n int64) (r *store.Row, err error) {
	err = s.rows(func(found *store.Row) bool { r = found; return false }, selectRow, n)
	return r, err
}

// Events implements [store.Reader].
func (s *session) Events(n int64) ([]patterns.Event, error) { return s.events(selectEvents, n) }

// Event implements [store.Reader].
func (s *session) Event(n, seq int64) ([]patterns.Event, error) { return s.events(selectEvent, n, seq) }

func (s *session) events(query string, args ...any) (events []patterns.Event, err error) {
	err = s.Each(func(scan func(...any) error) error {
		var e patterns.Event
		err := scan(&e.Seq, &e.At, &e.Kind, &e.Key, (*json.RawMessage)(&e.Body), &e.Hash)
		events = append(events, e)
		return err
	}, query, args...)
	return events, err
}

// Record implements [store.Reader].
func (s *session) Record(n int64) (r *store.Row, events []patterns.Event, err error) {
	if r, err = s.Row(n); err != nil || r == nil {
		return nil, nil, err
	}
	if events, err = s.Events(n); sqliteCode(err) == codeCorrupt || !errors.Is(err, patterns.ErrJournal) {
		r.Damage, err = err, nil
	}
	return r, events, err
}

// Hidden implements [store.Reader].
func (s *session) Hidden(n int64) (list []store.HiddenValue, err error) {
	err = s.Each(func(row func(...any) error) error {
		var v store.HiddenValue
		err := row(&v.Hash, &v.Value)
		list = append(list, v)
		return err
	}, selectRedacted, n)
	return list, err
}

// Standing implements [store.Reader].
func (s *session) Standing(n int64) (r store.Standing, err error) {
	r.N = n
	err = s.Each(func(row func(...any) error) error { return row(&r.State, &r.Epoch) }, selectStanding, n)
	return r, err
}

// Stands implements [store.Reader].
func (s *session) Stands(n int64) (r store.RunIs, err error) {
	r.N = n
	err = s.Each(func(row func(...any) error) error { return row(&r.State, &r.Kind, &r.Key) }, selectStands, n)
	return r, err
}

// Mark implements [store.Reader].
func (s *session) Mark(n int64) (m store.Mark, found bool, err error) {
	err = s.Each(func(row func(...any) error) error {
		found = true
		return row(&m.Principal, &m.State, &m.Epoch, &m.Turn, &m.Key)
	}, selectMark, n)
	return m, found, err
}

// IDs implements [store.Reader].
func (s *session) IDs(principal string) ([]int64, error) { return s.numbers(selectIDs, principal) }

// Newest implements [store.Reader].
func (s *session) Newest(principal string) (list []store.Standing, err error) {
	err = s.Each(func(row func(...any) error) error {
		var r store.Standing
		err := row(&r.N, &r.State)
		list = append(list, r)
		return err
	}, selectNewest, principal)
	return list, err
}

// Below implements [store.Reader].
func (s *session) Below(n int64) ([]int64, error) { return s.numbers(selectBelow, n) }

// Between implements [store.Reader].
func (s *session) Between(low, high int64) ([]int64, error) {
	return s.numbers(selectBetween, low, high)
}

// Canceled implements [store.Reader].
func (s *session) Canceled(owner string) ([]int64, error) { return s.numbers(selectCanceled, owner) }

// Owned implements [store.Reader].
func (s *session) Owned(owner string) (epochs map[int64]int64, err error) {
	epochs = map[int64]int64{}
	err = s.Each(func(row func(...any) error) error {
		var n, epoch int64
		err := row(&n, &epoch)
		epochs[n] = epoch
		return err
	}, selectMine, owner)
	return epochs, err
}

// Owners implements [store.Reader].
func (s *session) Owners(but string) ([]string, error) { return s.texts(selectOwners, but) }

// Principals implements [store.Reader].
func (s *session) Principals() ([]string, error) { return s.texts(selectWhose) }

// Page implements [store.Reader].
func (s *session) Page(principal string, began, n int64, most int) (list []*store.Row, err error) {
	err = s.rows(func(r *store.Row) bool { list = append(list, r); return true }, selectOf, principal, began, began, n, most)
	return list, err
}

// Old implements [store.Reader].
func (s *session) Old(before int64) (list []*store.Row, err error) {
	err = s.rows(func(r *store.Row) bool { list = append(list, r); return true }, selectOld, before)
	return list, err
}

// Tombstones implements [store.Reader].
func (s *session) Tombstones() (list []store.Bury, err error) {
	err = s.Each(func(row func(...any) error) error {
		var t store.Bury
		err := row(&t.RunID, &t.Pattern, &t.StopReason, &t.Began, &t.Ended, &t.Events, &t.Hash)
		list = append(list, t)
		return err
	}, selectTombstones)
	return list, err
}

// Ready implements [store.Reader].
func (s *session) Ready(now int64, keep func(*store.Row) bool) (next int64, err error) {
	if err := s.rows(keep, selectReady); err != nil {
		return 0, err
	}
	configs, err := s.texts(selectConfigs)
	if err != nil {
		return 0, err
	}
	for _, config := range append(configs, "") {
		if err := s.rows(keep, selectDue, config, now); err != nil {
			return 0, err
		}
		var wake int64
		if err := s.Each(func(row func(...any) error) error { return row(&wake) }, selectNextWake, config, now); err != nil {
			return 0, err
		}
		if wake > 0 && (next == 0 || wake < next) {
			next = wake
		}
	}
	return next, nil
}

// Config implements [store.Reader].
func (s *session) Config(hash string) (body []byte, found bool, err error) {
	err = s.Each(func(row func(...any) error) error {
		found = true
		return row(&body)
	}, selectConfig, hash)
	return body, found, err
}

// Switches implements [store.Reader].
func (s *session) Switches() (list []patterns.Switch, err error) {
	err = s.Each(func(row func(...any) error) error {
		var one patterns.Switch
		var at int64
		err := row(&one.Tool, &one.Pattern, &one.Reason, &one.By, &one.Channel, &one.Assurance, &at)
		one.At = time.UnixMicro(at).UTC()
		list = append(list, one)
		return err
	}, selectSwitches)
	return list, err
}

// NewestReload implements [store.Reader].
func (s *session) NewestReload() (n int64, err error) {
	err = s.Each(func(row func(...any) error) error { return row(&n) }, selectNewestReload)
	return n, err
}

// Reloads implements [store.Reader].
func (s *session) Reloads(after int64, most int) (list []store.Reload, err error) {
	err = s.Each(func(row func(...any) error) error {
		var r store.Reload
		err := row(&r.N, &r.At, &r.Path, &r.Hash, &r.By, &r.Channel, &r.Act, &r.Signature, &r.Again)
		list = append(list, r)
		return err
	}, selectReloads, after, most)
	return list, err
}

// ReloadAnswers implements [store.Reader].
func (s *session) ReloadAnswers(n int64) (list []store.ReloadAnswer, err error) {
	err = s.Each(func(row func(...any) error) error {
		var a store.ReloadAnswer
		err := row(&a.Owner, &a.Body)
		list = append(list, a)
		return err
	}, selectReloadAnswers, n)
	return list, err
}

// ID implements [store.Reader].
func (s *session) ID() (id string, err error) {
	err = s.Each(func(row func(...any) error) error { return row(&id) }, selectStateID)
	return id, err
}

func (s *session) texts(query string, args ...any) (list []string, err error) {
	err = s.Each(func(row func(...any) error) error {
		var text string
		err := row(&text)
		list = append(list, text)
		return err
	}, query, args...)
	return list, err
}

func (s *session) numbers(query string, args ...any) (list []int64, err error) {
	err = s.Each(func(row func(...any) error) error {
		var n int64
		err := row(&n)
		list = append(list, n)
		return err
	}, query, args...)
	return list, err
}

// keysMark returns a text that changes when the stored keys change; "": no keys.
func keysMark(list []gateway.PublicKey) string {
	if len(list) == 0 {
		return ""
	}
	h := sha256.New()
	for _, k := range list {
		fmt.Fprintf(h, "%q %q %q %d %q %d %q\n", k.ID, k.Name, k.Public, k.Enrolled.Unix(), k.Vouched.Signature, k.Removed.Unix(), k.Dropped.Signature)
		fmt.Fprintf(h, "%q %q %q %q\n", k.Vouched.Key, k.Vouched.Nonce, k.Dropped.Key, k.Dropped.Nonce)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
