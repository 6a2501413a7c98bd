package policy

import (
	"slices"
	"strconv"
	"time"

	"patterngate/gateway/policy/expr"
	"patterngate/ijson"
)

// windows checks the windows and returns their time zones.
func (c *compiler) windows() []*time.Location {
	zones := make([]*time.Location, len(c.source.Windows))
	seen := map[string]bool{}
	for i, w := range c.source.Windows {
		at := "windows." + w.Name
		if seen[w.Name] {
			c.tell(expr.Fault{Member: at, Reason: repeatedWindow, Key: true})
		}
		seen[w.Name] = true
		zones[i] = time.UTC
		c.windowTools(w, at)
		c.windowSpan(w, at)
		if w.Timezone == "" {
			continue
		}
		zone, err := time.LoadLocation(w.Timezone)
		if err != nil || w.Timezone == "Local" {
			c.tell(expr.Fault{Member: at + ".timezone", Reason: noZone(ijson.Cut(strconv.Quote(w.Timezone), maxShownValue)), Want: zoneForm})
			continue
		}
		zones[i] = zone
	}
	return zones
}

func (c *compiler) windowTools(w WindowSource, at string) {
	if len(w.Tools) == 0 {
		c.tell(expr.Fault{Member: at + ".tools", Reason: windowEmpty})
	}
	for i, name := range w.Tools {
		if c.reached.all[name] == nil || name == finalName {
			f := expr.UnknownName(noTool, name, c.reached.names)
			f.Member = at + ".tools[" + strconv.Itoa(i) + "]"
			c.tell(f)
		}
	}
}

// calendars are the calendar spans that a window may have.
var calendars = []string{"day", "week", "month"}

// Limits of a window in seconds.
const minSeconds, maxSeconds = 60, 2_678_400

func (c *compiler) windowSpan(w WindowSource, at string) {
	switch {
	case w.Calendar == "" && w.Seconds == 0:
		c.tell(expr.Fault{Member: at, Reason: spanMissing, Want: spanForm})
	case w.Calendar != "" && w.Seconds != 0:
		c.tell(expr.Fault{Member: at, Reason: spanAndCalendar})
	case w.Calendar != "" && !slices.Contains(calendars, w.Calendar):
		f := expr.UnknownName(noCalendar, w.Calendar, calendars)
		f.Member = at + ".calendar"
		c.tell(f)
	case w.Calendar == "" && !(w.Seconds >= minSeconds && w.Seconds <= maxSeconds):
		c.tell(expr.Fault{Member: at + ".seconds", Reason: outOfBounds, Want: "60 to 2678400"})
	case w.Calendar == "" && w.Timezone != "":
		c.tell(expr.Fault{Member: at + ".timezone", Reason: zoneOnlyCalendar})
	}
}

// sinceOf returns the function that gives the start of a window from its end.
func sinceOf(w WindowSource, zone *time.Location) func(time.Time) time.Time {
	return func(end time.Time) time.Time {
		if w.Calendar == "" {
			return end.Add(-time.Duration(w.Seconds * float64(time.Second)))
		}
		local := end.In(zone)
		day := local.Day()
		switch w.Calendar {
		case "week": // begins on Monday
			day -= (int(local.Weekday()) + 6) % 7
		case "month":
			day = 1
		}
		return time.Date(local.Year(), local.Month(), day, 0, 0, 0, 0, zone)
	}
}
