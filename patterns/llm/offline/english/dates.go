package english

import (
	"strconv"
	"strings"
	"time"
)

var monthNumbers = monthsByName()

func monthsByName() map[string]int {
	of := map[string]int{"sept": 9}
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		of[name], of[name[:3]] = int(m), int(m)
	}
	return of
}

// findWrittenDates takes May 2027, 4 May 2027, 4th of May 2027 and May 4, 2027. A month without a year is none.
func (v *values) findWrittenDates(list []Word) {
	for i, w := range list {
		month, ok := monthNumbers[w.Low]
		if !ok {
			continue
		}
		day, first := dayBefore(list, i)
		last := i
		if day == 0 && i+2 < len(list) {
			if d := dayNumber(list[i+1].Low); d > 0 && isYear(list[i+2].Low) {
				day, last = d, i+1
			}
		}
		if day == 0 {
			last = lastOfMonths(list, i)
		}
		if last+1 >= len(list) || !isYear(list[last+1].Low) {
			continue
		}
		end := list[last+1]
		text := end.Low + "-" + twoDigits(month)
		if day == 0 {
			v.Months = append(v.Months, Span{text, w.Start, w.End})
			v.covered = append(v.covered, Span{Start: end.Start, End: end.End})
		} else if text += "-" + twoDigits(day); IsDate(text) {
			v.Dates = append(v.Dates, Span{text, list[first].Start, end.End})
		}
	}
}

// lastOfMonths is the index of the last month of a list like "May and June", which begins at i.
func lastOfMonths(list []Word, i int) int {
	for i+1 < len(list) {
		next := i + 1
		if low := list[next].Low; (low == "and" || low == "or" || low == "to") && next+1 < len(list) {
			next++
		}
		if monthNumbers[list[next].Low] == 0 {
			break
		}
		i = next
	}
	return i
}

func dayBefore(list []Word, i int) (day, first int) {
	first = i - 1
	if first > 0 && list[first].Low == "of" {
		first--
	}
	if first < 0 {
		return 0, i
	}
	if day = dayNumber(list[first].Low); day == 0 {
		return 0, i
	}
	return day, first
}

func dayNumber(low string) int {
	for _, ending := range []string{"st", "nd", "rd", "th"} {
		low = strings.TrimSuffix(low, ending)
	}
	if n, err := strconv.Atoi(low); err == nil && n >= 1 && n <= 31 && len(low) <= 2 {
		return n
	}
	return 0
}

func isYear(low string) bool {
	return len(low) == 4 && IsDigits(low) && (strings.HasPrefix(low, "19") || strings.HasPrefix(low, "20"))
}

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}
