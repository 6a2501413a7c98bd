package openai

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestPause(t *testing.T) {
	passing := func(after ...time.Duration) *fault {
		f := &fault{reason: rateReason, cause: errors.New("busy"), passing: true}
		if len(after) > 0 {
			f.after = &after[0]
		}
		return f
	}
	const second = time.Second
	tests := map[string]struct {
		try       int
		err       error
		limit     time.Duration // of the context; 0: none
		want      bool
		from, to  time.Duration // how long it stays away
		cancelled bool          // meanwhile
	}{
		"first":                       {0, passing(), 0, true, 0, firstBackoff, false},
		"third":                       {2, passing(), 0, true, 0, 4 * firstBackoff, false},
		"hundredth is bounded":        {100, passing(), 0, true, 0, maxBackoff, false},
		"as asked":                    {0, passing(3 * second), 0, true, 3 * second, 3 * second, false},
		"as asked, within the run":    {0, passing(9 * second), 10 * second, true, 9 * second, 9 * second, false},
		"as asked, long":              {0, passing(600 * second), time.Hour, true, 600 * second, 600 * second, false},
		"beyond the run":              {0, passing(11 * second), 10 * second, false, 0, 0, false},
		"beyond patience, no run end": {0, passing(600 * second), 0, false, 0, 0, false},
		"will not pass":               {0, &fault{reason: authReason, cause: errors.New("no")}, 0, false, 0, 0, false},
		"the context's end":           {0, context.Canceled, 0, false, 0, 0, false},
		"cancelled meanwhile":         {0, passing(9 * second), 0, false, second, second, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.limit > 0 {
					ctx, cancel = context.WithTimeout(ctx, tt.limit)
					defer cancel()
				}
				if tt.cancelled {
					time.AfterFunc(second, cancel)
				}
				start := time.Now()
				got := (&Client{backoff: firstBackoff}).pause(ctx, tt.try, tt.err)
				took := time.Since(start)
				if got != tt.want || took < tt.from || took > tt.to {
					t.Errorf("pause: got %v after %v, want %v after %v to %v", got, took, tt.want, tt.from, tt.to)
				}
			})
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	tests := map[string]struct {
		value string
		want  time.Duration // negative: none
	}{
		"seconds":       {"30", 30 * time.Second},
		"zero":          {"0", 0},
		"date":          {"Sat, 21 Nov 2026 09:31:30 GMT", 90 * time.Second},
		"past":          {"Sat, 21 Nov 2026 09:29:00 GMT", 0},
		"absent":        {"", -1},
		"negative":      {"-1", -1},
		"words":         {"soon", -1},
		"fraction":      {"1.5", -1},
		"beyond all":    {"9223372036854775807", (1 << 31) * time.Second},
		"beyond uint64": {"99999999999999999999999", (1 << 31) * time.Second},
		"below all":     {"-99999999999999999999999", -1},
	}
	for name, tt := range tests {
		got := retryAfter(http.Header{"Retry-After": {tt.value}}, now)
		if (got == nil) != (tt.want < 0) || got != nil && *got != tt.want {
			t.Errorf("%s: retryAfter(%q): got %v, want %v", name, tt.value, got, tt.want)
		}
	}
}
