package local_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

func TestPortCancelsInEveryState(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		by := patterns.Note{By: mine, Channel: "mcp", Reason: "no more"}
		cancel := func(id string) (patterns.Snapshot, error) {
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			defer stop()
			return e.Cancel(ctx, mine, id, by)
		}
		read, write := newGate(t, catalog.Read), newGate(t, catalog.Write)
		reading, writing := e.beginning(t, read.job(t, 2)), e.beginning(t, write.job(t, 2))
		<-read.entered
		<-write.entered
		over, _ := e.Start(t.Context(), quick(t, 1))
		for name, tt := range map[string]struct {
			id   string
			want string
			err  error
		}{
			"it reads":  {reading, "cancelled", nil},
			"it writes": {writing, "cancelled", nil},
			"it waits":  {begin(t, e, refundJob(t, lookUp)).RunID, "cancelled", nil},
			"it ended":  {over.RunID, "success", patterns.ErrOver},
		} {
			s, err := cancel(tt.id)
			if !errors.Is(err, tt.err) || s.State != patterns.Over || s.Ended.Result.StopReason != tt.want {
				t.Errorf("%s: %v, %s, %s; want %v, ended, %s", name, err, s.State, s.Ended.Result.StopReason, tt.err, tt.want)
			}
			if s, err = cancel(tt.id); !errors.Is(err, patterns.ErrOver) || s.Ended.Result.StopReason != tt.want {
				t.Errorf("%s, once more: %v, %s; want ErrOver", name, err, s.Ended.Result.StopReason)
			}
			noted := slices.ContainsFunc(e.intact(t, tt.id), func(e patterns.Event) bool {
				return e.Kind == patterns.NoteEvent && strings.Contains(string(e.Body), "no more")
			})
			if noted != (tt.err == nil) {
				t.Errorf("%s: who wanted it is noted: %t", name, noted)
			}
		}
	})
}

func TestPortListsAllOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		var want []string
		for range 25 {
			want = append(want, succeed(t, e, quick(t, 1)).RunID)
		}
		for range 3 {
			want = append(want, begin(t, e, refundJob(t, lookUp)).RunID)
		}
		slices.Reverse(want)
		g := newGate(t, catalog.Read)
		for _, whose := range []string{mine, ""} {
			var got []string
			filter := patterns.Filter{Principal: whose, Limit: 4, Until: time.Now().Add(time.Hour)}
			for page := 0; page == 0 || filter.Cursor != ""; page++ {
				p, err := e.List(filter)
				if err != nil || len(p.Rows) > 4 || len(p.Rows) == 0 {
					t.Fatalf("page %d: %d rows, %v", page, len(p.Rows), err)
				}
				for _, row := range p.Rows {
					got = append(got, row.RunID)
				}
				filter.Cursor = p.Next
				if whose == mine { // more come meanwhile
					want = append([]string{e.beginning(t, g.job(t, 1))}, want...)
				}
			}
			if added := len(want) - 28; whose == mine && !slices.Equal(got, want[added:]) || whose == "" && !slices.Equal(got, want) {
				t.Errorf("of %q: %d rows %q\nwant %q", whose, len(got), got, want)
			}
		}
		close(g.open)
	})
}

func TestPortListsWhatIsAskedFor(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		g := newGate(t, catalog.Read)
		defer close(g.open)
		ok := succeed(t, e, quick(t, 1)).RunID
		running := e.beginning(t, g.job(t, 1))
		waiting := begin(t, e, refundJob(t, lookUp)).RunID
		stopped := begin(t, e, refundJob(t, lookUp)).RunID
		for range 3 {
			send(t, e, stopped, object{"actions": []any{"nonsense"}})
		}
		s := e.until(t, stopped, patterns.Over)
		reason := s.Ended.Result.StopReason
		family, _, named := strings.Cut(reason, ":")
		if !named {
			t.Fatalf("stop reason %s has no names", reason)
		}
		for name, tt := range map[string]struct {
			filter patterns.Filter
			want   []string
		}{
			"all":              {patterns.Filter{}, []string{stopped, waiting, running, ok}},
			"ok":               {patterns.Filter{Status: "ok"}, []string{ok}},
			"running":          {patterns.Filter{Status: "running"}, []string{running}},
			"waiting":          {patterns.Filter{Status: "waiting"}, []string{waiting}},
			"stopped":          {patterns.Filter{Status: "stopped"}, []string{stopped}},
			"a pattern":        {patterns.Filter{Pattern: "steps"}, []string{running, ok}},
			"no pattern":       {patterns.Filter{Pattern: "step"}, nil},
			"a stop reason":    {patterns.Filter{StopReason: reason}, []string{stopped}},
			"a family":         {patterns.Filter{StopReason: family}, []string{stopped}},
			"half a family":    {patterns.Filter{StopReason: family[:3]}, nil},
			"since":            {patterns.Filter{Since: s.Began}, []string{stopped}},
			"until":            {patterns.Filter{Until: s.Began}, []string{waiting, running, ok}},
			"of nobody":        {patterns.Filter{Principal: "local:2"}, nil},
			"several":          {patterns.Filter{Status: "ok", Pattern: "steps", Since: time.Unix(0, 0)}, []string{ok}},
			"nothing has both": {patterns.Filter{Status: "ok", StopReason: reason}, nil},
		} {
			if tt.filter.Principal == "" {
				tt.filter.Principal = mine
			}
			page, err := e.List(tt.filter)
			var got []string
			for _, row := range page.Rows {
				got = append(got, row.RunID)
			}
			if err != nil || !slices.Equal(got, tt.want) || page.Next != "" {
				t.Errorf("%s: %q, %v; want %q", name, got, err, tt.want)
			}
		}
		page, err := e.List(patterns.Filter{Principal: mine, Limit: 1})
		if err != nil || page.Next == "" {
			t.Fatalf("%+v, %v", page, err)
		}
		damaged := []byte(page.Next)
		damaged[len(damaged)/2] ^= 1 // in the place that it names
		for _, f := range []patterns.Filter{
			{Principal: mine, Limit: 1, Status: "ok", Cursor: page.Next}, {Principal: "local:2", Cursor: page.Next},
			{Principal: mine, Cursor: string(damaged)}, {Principal: mine, Cursor: page.Next + "\n"}, {Principal: mine, Cursor: "x"}, {Principal: mine, Cursor: page.Next + "A"}, {Principal: mine, Cursor: strings.Repeat("A", 1<<20)},
		} {
			if _, err := e.List(f); !errors.Is(err, patterns.ErrCursor) {
				t.Errorf("cursor %.80q of another list, or damaged: %v, want ErrCursor", f.Cursor, err)
			}
		}
	})
}

func TestPortTellsOfEveryChange(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		t.Parallel()
		e := open(t, func(e *local.Engine) { e.CallerWait = time.Second }) // long enough for the send below
		told := make(chan string, 100)
		e.Watch(func(s patterns.Snapshot, attended bool) {
			told <- fmt.Sprintf("%s %s %t", s.State, s.Ended.Result.StopReason, attended)
		})
		id := begin(t, e, refundJob(t, lookUp)).RunID
		send(t, e, id, object{"actions": []any{refund}})
		e.until(t, id, patterns.Over)
		for _, want := range []string{"waiting  true", "running  true", "waiting  true", "running  false", "ended caller_expired false"} {
			if got := <-told; got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		}
	})
}

// Who waits for a run learns of every turn of it.
func TestPortWaitMissesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		id := begin(t, e, refundJob(t)).RunID
		seen := make(chan patterns.Snapshot)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		go func() {
			defer close(seen)
			for mark := (patterns.Mark{}); ; {
				s, ok := e.Wait(ctx, mine, id, mark)
				if !ok || ctx.Err() != nil {
					return
				}
				if mark = s.Mark(); s.State != patterns.Running {
					seen <- s
				}
				if s.State == patterns.Over {
					return
				}
			}
		}()
		for turn, action := range []any{lookUp, refund, mail, final} {
			if s := <-seen; s.State != patterns.Parked || s.Ended.Waiting.Turn != turn+1 {
				t.Fatalf("saw %s at turn %d", s.State, turn+1)
			}
			send(t, e, id, object{"actions": []any{action}})
		}
		if s := <-seen; s.State != patterns.Over || !s.Ended.Result.OK() {
			t.Errorf("at last it saw %s %s", s.State, s.Ended.Result.StopReason)
		}
	})
}

// Continuations, cancellations and the clock meet at one run: it ends once, its record is whole, and nobody waits in vain.
func TestPortRacesAtARest(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		rounds := 12
		e := open(t, func(e *local.Engine) { e.CallerWait = 3 * time.Millisecond })
		for range rounds {
			ended, err := e.Start(t.Context(), refundJob(t, lookUp))
			if err != nil {
				t.Fatal(err)
			}
			id := ended.RunID
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() {
					_, err := e.Continue(t.Context(), patterns.Continuation{Principal: mine, RunID: id, Turn: 2, Given: object{"actions": []any{final}}})
					if err != nil && !errors.Is(err, patterns.ErrNotTaken) {
						t.Errorf("Continue: %v", err)
					}
				})
				all.Go(func() {
					s, err := e.Cancel(t.Context(), mine, id, patterns.Note{By: mine})
					if err != nil && !errors.Is(err, patterns.ErrOver) || s.State != patterns.Over {
						t.Errorf("Cancel: %v, %s", err, s.State)
					}
				})
			}
			all.Wait()
			s := e.until(t, id, patterns.Over)
			if r := s.Ended.Result.StopReason; !slices.Contains([]string{"success", "cancelled", "caller_expired"}, r) {
				t.Errorf("it ended with %s", r)
			}
			e.intact(t, id)
		}
	})
}

// A run that is cancelled at any moment of its life makes no call after that.
func TestPortCancelAtAnyMoment(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		for range 10 {
			id := e.beginning(t, quick(t, 30))
			s, err := e.Cancel(t.Context(), mine, id, patterns.Note{By: mine})
			if err != nil && !errors.Is(err, patterns.ErrOver) || s.State != patterns.Over {
				t.Errorf("%v, %s", err, s.State)
			}
			canceled, after := false, 0
			for _, event := range e.intact(t, id) {
				canceled = canceled || event.Kind == patterns.NoteEvent
				if canceled && event.Kind == patterns.IntentEvent && strings.HasPrefix(event.Key, "count") {
					after++
				}
			}
			if after > 0 {
				t.Errorf("%d calls after it was cancelled", after)
			}
		}
	})
}
