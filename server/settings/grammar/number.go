package grammar

import (
	"math"
	"regexp"
	"strconv"
	"time"

	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// Number is a number within bounds.
func Number(name string, target *float64, b Bounds) Key {
	return Scaled(name, b, func() any { return *target }, func(v float64) { *target = v })
}

// OptionalNumber is a [Number] that may be unset; that is nil and is shown as null.
func OptionalNumber(name string, target **float64, b Bounds) Key {
	key := Scaled(name, b,
		func() any {
			if *target == nil {
				return nil
			}
			return **target
		},
		func(v float64) { *target = &v })
	key.Numeric = false // not set is no limit that is missing
	return key
}

// USD is an amount in USD, 0 or more.
func USD(name string, target *float64) Key {
	return Number(name, target, Bounds{Max: math.Inf(1), Unit: InUSD})
}

// Seconds is a duration in seconds, from 0 to most. It may have a fraction.
func Seconds(name string, target *time.Duration, most float64) Key {
	return Scaled(name, Bounds{Max: most, Unit: InSeconds},
		func() any { return float64(*target) / float64(time.Second) },
		func(v float64) { *target = time.Duration(math.Round(v * float64(time.Second))) })
}

// OptionalSeconds is [Seconds] that may be unset; that is nil and is shown as null.
func OptionalSeconds(name string, target **time.Duration, most float64) Key {
	key := Scaled(name, Bounds{Max: most, Unit: InSeconds},
		func() any {
			if *target == nil {
				return nil
			}
			return (*target).Seconds()
		},
		func(v float64) {
			d := time.Duration(math.Round(v * float64(time.Second)))
			*target = &d
		})
	key.Numeric = false // not set is no limit that is missing
	return key
}

// Count is a whole number from least to most.
func Count(name string, target *int, least, most float64) Key {
	return Scaled(name, Bounds{Min: least, Max: most, Whole: true},
		func() any { return float64(*target) }, func(v float64) { *target = int(v) })
}

// OptionalCount is a [Count] that may be unset; that is nil and is shown as null.
func OptionalCount(name string, target **int, least, most float64) Key {
	key := Scaled(name, Bounds{Min: least, Max: most, Whole: true},
		func() any {
			if *target == nil {
				return nil
			}
			return float64(**target)
		},
		func(v float64) {
			n := int(v)
			*target = &n
		})
	key.Numeric = false
	return key
}

// Scaled returns the key of a number that the target holds in another form than the file.
func Scaled(name string, b Bounds, show func() any, set func(float64)) Key {
	return Key{
		Name: name, Numeric: true, Takes: b.takes(), Form: func() map[string]any { return b.Form() },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if v, ok := r.number(n, path, b); ok {
				set(v)
			}
		},
		Show: show,
	}
}

// Bounds say which values a number can have. The zero Bounds allow only 0.
type Bounds struct {
	Min, Max float64
	Whole    bool
	Unit     Unit
	Above    bool // Min itself is out of range
}

// Unit is what a number counts. Empty means that it has no unit.
type Unit string

const (
	// InSeconds is the unit of durations. The fault of a text such as "5m" says how many seconds it means.
	InSeconds Unit = "seconds"
	// InUSD is the unit of amounts of money.
	InUSD Unit = "USD"
)

// Form returns the bounds as a JSON schema.
func (b Bounds) Form() map[string]any {
	form := map[string]any{"type": "number"}
	if b.Whole {
		form["type"] = "integer"
	}
	if form["minimum"] = b.Min; b.Above {
		delete(form, "minimum")
		form["exclusiveMinimum"] = b.Min
	}
	if !math.IsInf(b.Max, 1) {
		form["maximum"] = b.Max
	}
	return form
}

// words names a value in a sentence: a whole number of seconds.
func (b Bounds) words() string {
	switch {
	case b.Unit == InUSD:
		return amountUSD
	case b.Whole && b.Unit != "":
		return wholeNumberOf(string(b.Unit))
	case b.Whole:
		return wholeNumber
	case b.Unit != "":
		return numberOf(string(b.Unit))
	}
	return aNumber
}

// takes returns the bounds as docs/config.md has them: seconds, 0 to 60.
func (b Bounds) takes() string {
	noun := string(b.Unit)
	switch {
	case b.Whole && b.Unit == "" && b.Min == 0 && b.Max == MaxCount:
		return "count"
	case b.Whole && b.Unit == "":
		noun = "integer"
	case b.Whole:
		noun = "whole " + noun
	case b.Unit == "":
		noun = "number"
	}
	least := yamldoc.NumberText(b.Min)
	if b.Above {
		least = "above " + least
	}
	if math.IsInf(b.Max, 1) || b.Max == ijson.MaxInteger {
		return numberFrom(noun, least)
	}
	return noun + ", " + least + " to " + yamldoc.NumberText(b.Max)
}

// span returns the bounds in words: a whole number from 0 to 10.
func (b Bounds) span() string {
	from := b.words() + " from " + yamldoc.NumberText(b.Min)
	if b.Above {
		from = b.words() + " above " + yamldoc.NumberText(b.Min)
	}
	if math.IsInf(b.Max, 1) {
		return from + " on"
	}
	return from + " to " + yamldoc.NumberText(b.Max)
}

// wanted returns what to write in the place of a value that is no number: the number that a text was meant to be, else the bounds.
func (b Bounds) wanted(n *yamldoc.Node) string {
	if v, ok := b.meant(n); ok {
		return "write " + b.words() + ": " + yamldoc.NumberText(v)
	}
	return "write " + b.span()
}

// meant returns the number that a text was meant to be. ok is false if the text is not clear, or the number is out of bounds.
func (b Bounds) meant(n *yamldoc.Node) (v float64, ok bool) {
	if n.Kind != yamldoc.Text {
		return 0, false
	}
	v = math.NaN()
	if part := textNumber.FindStringSubmatch(n.Text); part != nil {
		v, _ = strconv.ParseFloat(part[1], 64)
	}
	if d, err := time.ParseDuration(n.Text); err == nil && b.Unit == InSeconds {
		v = d.Seconds()
	}
	return v, v >= b.Min && v <= b.Max && !(b.Above && v == b.Min) && !(b.Whole && v != math.Trunc(v))
}

// number reads a number.
func (r *Reader) number(n *yamldoc.Node, path *yamldoc.Path, b Bounds) (float64, bool) {
	if n.Kind != yamldoc.Number {
		r.Wrong(n, path, b.wanted(n))
		return 0, false
	}
	reason := ""
	switch {
	case b.Whole && n.Number != math.Trunc(n.Number):
		reason = notWhole
	case n.Number < b.Min || n.Number > b.Max || b.Above && n.Number == b.Min:
		reason = outOfRange
	default:
		return n.Number, true
	}
	r.Faults.Add(n.At, path, yamldoc.Fault{Reason: reason, Got: spelling(n), Want: "write " + b.span()})
	return 0, false
}

func spelling(n *yamldoc.Node) string {
	if len(n.Text) > yamldoc.MaxQuoted {
		return yamldoc.NumberText(n.Number)
	}
	return n.Text
}

// textNumber matches a number that is written as text, with or without a unit.
var textNumber = regexp.MustCompile(`^\s*([0-9]+(?:\.[0-9]+)?)\s*[a-zA-Z$%]*\s*$`)
