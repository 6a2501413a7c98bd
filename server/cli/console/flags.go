package console

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MaxReason is how long a reason or comment may be, in characters (spec/surface.md section 2, run_cancel).
const MaxReason = 500

// ReasonFlag returns a usage error if a reason is longer than [MaxReason].
func ReasonFlag(name, text string) error {
	if n := len([]rune(text)); n > MaxReason {
		return Usage(name, fmt.Errorf("it has %d characters", n), fmt.Sprintf("at most %d characters", MaxReason))
	}
	return nil
}

// TimeFlag reads a time, a day or an age. It returns the zero time for "".
func TimeFlag(name, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	if age, err := Age(text); err == nil {
		return now.Add(-age), nil
	}
	return time.Time{}, Usage(name, errors.New("got "+Quoted(text)), name+" 2026-11-21T09:30:00Z, 2026-11-21 or 7d")
}

// Age reads a duration with days and weeks: 90d, 2w, or a text for [time.ParseDuration]. It returns an error for a
// negative duration.
func Age(text string) (time.Duration, error) {
	const day, longest = 24 * time.Hour, 100 * 366 // days
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		count, ok := strings.CutSuffix(text, unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(count, 10, 16)
		if err != nil || int(n)*days > longest {
			return 0, fmt.Errorf("not a number of days up to %d", longest)
		}
		return time.Duration(int(n)*days) * day, nil
	}
	age, err := time.ParseDuration(text)
	if err == nil && age < 0 {
		err = errors.New("below 0")
	}
	return age, err
}
