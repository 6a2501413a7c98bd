package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/patterns"
)

// kept is a row as Go has it.
type kept struct {
	N        int64
	Owner    string
	Request  []byte
	Args     json.RawMessage
	State    patterns.RunState
	Canceled bool
	Turn     int
	Wake     sql.NullInt64
	Expires  sql.NullInt64
}

func TestRowsAreReadAsTheyWereWritten(t *testing.T) {
	for name, want := range map[string]kept{
		"zero":     {N: 1},
		"set":      {N: -1 << 63, Owner: "o\x00é", Request: []byte{0, 255}, Args: json.RawMessage(`{}`), State: patterns.Parked, Canceled: true, Turn: 7, Wake: sql.NullInt64{Int64: 0, Valid: true}},
		"one byte": {N: 1<<63 - 1, Owner: "?", Request: []byte{0}, Expires: sql.NullInt64{Int64: -5, Valid: true}},
	} {
		t.Run(name, func(t *testing.T) {
			j := fresh(t)
			check(t, j.alter(func(s *session) error {
				changed, err := s.Exec(`INSERT INTO runs (n, pattern, principal, config, began, epoch, owner, request, args, state, canceled, turn, wake, expires)
					VALUES (?, 'p', 'me', 'c', 0, 1, ?, ?, ?, ?, ?, ?, ?, ?)`,
					want.N, want.Owner, want.Request, want.Args, want.State, want.Canceled, want.Turn, want.Wake, want.Expires)
				if changed != 1 {
					t.Errorf("%d rows changed, want 1", changed)
				}
				return err
			}))
			got := kept{Owner: "before", Turn: -1}
			check(t, j.look(func(s *session) error {
				return s.Each(func(row func(...any) error) error {
					return row(&got.N, &got.Owner, &got.Request, &got.Args, &got.State, &got.Canceled, &got.Turn, &got.Wake, &got.Expires)
				}, "SELECT n, owner, request, args, state, canceled, turn, wake, expires FROM runs WHERE n = ?", want.N)
			}))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSessionRefusesWhatDoesNotFit(t *testing.T) {
	j := fresh(t)
	begin(t, j, 1, 1)
	var text string
	var number int64
	var odd float32
	for name, tt := range map[string]struct {
		query string
		args  []any
		to    []any
	}{
		"text into a number":    {"SELECT state FROM runs WHERE n = 1", nil, []any{&number}},
		"a number into text":    {"SELECT n FROM runs WHERE n = 1", nil, []any{&text}},
		"a number into a float": {"SELECT n FROM runs WHERE n = 1", nil, []any{&odd}},
		"two columns into one":  {"SELECT n, state FROM runs WHERE n = 1", nil, []any{&number}},
		"no place":              {"SELECT owner FROM runs WHERE n = 1", nil, []any{text}},
		"too few arguments":     {"SELECT n FROM runs WHERE n = ?", nil, []any{&number}},
		"a struct":              {"SELECT n FROM runs WHERE n = ?", []any{struct{}{}}, []any{&number}},
		"no SQL":                {"SELEKT", nil, nil},
		"no such column":        {`SELECT "state'" FROM runs`, nil, nil},
	} {
		err := j.look(func(s *session) error {
			return s.Each(func(row func(...any) error) error { return row(tt.to...) }, tt.query, tt.args...)
		})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestQueryIsNotBegunAgainByItsScan(t *testing.T) {
	j := fresh(t)
	begin(t, j, 1, 1)
	stop := errors.New("stop")
	const query = "SELECT n FROM runs WHERE n = ?"
	check(t, j.look(func(s *session) error {
		err := s.Each(func(func(...any) error) error {
			if err := s.Each(nil, query, 1); err == nil {
				t.Error("the inner query ran")
			}
			return stop
		}, query, 1)
		if !errors.Is(err, stop) {
			t.Errorf("the scan's error: %v, want %v", err, stop)
		}
		return nil
	}))
	check(t, j.look(func(s *session) error { // and it can be begun after
		return s.Each(func(row func(...any) error) error { return nil }, query, 1)
	}))
}
