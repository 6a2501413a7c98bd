package cli

import (
	"math"
	"patterngate/server/settings/yamldoc"
	"regexp"
	"strconv"
	"time"
)

// form is what the bounds say, as JSON schema.
func (b bounds) form() map[string]any {
	form := map[string]any{"type": "number"}
	if b.whole {
		form["type"] = "integer"
	}
	if form["minimum"] = b.min; b.above {
		delete(form, "minimum")
		form["exclusiveMinimum"] = b.min
	}
	if !math.IsInf(b.max, 1) {
		form["maximum"] = b.max
	}
	return form
}

// numberKey is a number within bounds.
func numberKey(name string, target *float64, b bounds) configKey {
	return scaledKey(name, b, func() any { return *target }, func(v float64) { *target = v })
}

func usdKey(name string, target *float64) configKey {
	return numberKey(name, target, bounds{max: math.Inf(1), noun: "an amount in USD"})
}

func secondsKey(name string, target *time.Duration, most float64) configKey {
	return scaledKey(name, bounds{max: most, noun: "a number of seconds", seconds: true},
		func() any { return float64(*target) / float64(time.Second) },
		func(v float64) { *target = time.Duration(math.Round(v * float64(time.Second))) })
}

func countKey(name string, target *int, least, most float64) configKey {
	return scaledKey(name, bounds{min: least, max: most, whole: true},
		func() any { return float64(*target) }, func(v float64) { *target = int(v) })
}

// scaledKey is a number that is kept otherwise than it is written.
func scaledKey(name string, b bounds, show func() any, set func(float64)) configKey {
	return configKey{
		name: name, numeric: true, takes: b.span(), form: func() map[string]any { return b.form() },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			now, _ := show().(float64)
			if v, ok := r.number(n, path, b, now); ok {
				set(v)
			}
		},
		show: show,
	}
}

// optionalSecondsKey is a secondsKey that may be not set, which is shown as null.
func optionalSecondsKey(name string, target **time.Duration, most float64) configKey {
	key := scaledKey(name, bounds{max: most, noun: "a number of seconds", seconds: true},
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
	key.numeric = false // not set is no limit that is missing
	return key
}

// optionalCountKey is a countKey that may be not set, which is shown as null.
func optionalCountKey(name string, target **int, least, most float64) configKey {
	key := scaledKey(name, bounds{min: least, max: most, whole: true},
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
	key.numeric = false
	return key
}

// optionalNumberKey is a numberKey that may be not set, which is shown as null.
func optionalNumberKey(name string, target **float64, b bounds) configKey {
	key := scaledKey(name, b,
		func() any {
			if *target == nil {
				return nil
			}
			return **target
		},
		func(v float64) { *target = &v })
	key.numeric = false // not set is no limit that is missing
	return key
}

// bounds are what a number may be.
type bounds struct {
	min, max float64
	whole    bool
	noun     string // a number of seconds; empty means a number, or a whole one
	seconds  bool
	above    bool // min itself is out of range
}

func (b bounds) words() string {
	switch {
	case b.noun != "":
		return b.noun
	case b.whole:
		return "a whole number"
	}
	return "a number"
}

// span words the bounds: a whole number from 0 to 10.
func (b bounds) span() string {
	from := b.words() + " from " + yamldoc.NumberText(b.min)
	if b.above {
		from = b.words() + " above " + yamldoc.NumberText(b.min)
	}
	if math.IsInf(b.max, 1) {
		return from + " on"
	}
	return from + " to " + yamldoc.NumberText(b.max)
}

// number reads a number; now is the value in force, for the message.
func (r *configReader) number(n *yamldoc.Node, path *yamldoc.Path, b bounds, now float64) (float64, bool) {
	if n.Kind != yamldoc.Number {
		r.wrong(n, path, "write "+b.words()+": "+yamldoc.NumberText(b.meant(n, now)))
		return 0, false
	}
	reason := ""
	switch {
	case b.whole && n.Number != math.Trunc(n.Number):
		reason = "not whole"
	case n.Number < b.min || n.Number > b.max || b.above && n.Number == b.min:
		reason = "out of range"
	default:
		return n.Number, true
	}
	r.faults.Add(n.At, path, yamldoc.Fault{Reason: reason, Got: spelling(n), Want: "write " + b.span()})
	return 0, false
}

func spelling(n *yamldoc.Node) string {
	if len(n.Text) > yamldoc.MaxQuoted {
		return yamldoc.NumberText(n.Number)
	}
	return n.Text
}

// textNumber is a number that somebody wrote as text, with or without a unit.
var textNumber = regexp.MustCompile(`^\s*([0-9]+(?:\.[0-9]+)?)\s*[a-zA-Z$%]*\s*$`)

// meant is the number that a text wanted to be, else the one in force.
func (b bounds) meant(n *yamldoc.Node, now float64) float64 {
	if n.Kind != yamldoc.Text {
		return now
	}
	v := math.NaN()
	if part := textNumber.FindStringSubmatch(n.Text); part != nil {
		v, _ = strconv.ParseFloat(part[1], 64)
	}
	if d, err := time.ParseDuration(n.Text); err == nil && b.seconds {
		v = d.Seconds()
	}
	if v >= b.min && v <= b.max && !(b.whole && v != math.Trunc(v)) {
		return v
	}
	return now
}
