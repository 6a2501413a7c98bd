package sqlite

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"patterngate/patterns"
)

func clearPlace(to any) error {
	v := reflect.ValueOf(to)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("a %T is not a place", to)
	}
	v.Elem().SetZero()
	return nil
}

func putInteger(i int64, to any) error {
	switch to := to.(type) {
	case *int64:
		*to = i
	case *int:
		if i < math.MinInt || i > math.MaxInt {
			return fmt.Errorf("%d does not fit", i)
		}
		*to = int(i)
	case *bool:
		*to = i != 0
	default:
		return fmt.Errorf("an integer does not go into a %T", to)
	}
	return nil
}

func putText(s string, to any) error {
	switch to := to.(type) {
	case *string:
		*to = s
	case *patterns.EventKind:
		*to = patterns.EventKind(s)
	case *patterns.RunState:
		*to = patterns.RunState(s)
	default:
		return fmt.Errorf("text does not go into a %T", to)
	}
	return nil
}

func putBytes(b []byte, to any) error {
	switch to := to.(type) {
	case *[]byte:
		*to = b
	case *json.RawMessage:
		*to = b
	default:
		return fmt.Errorf("bytes do not go into a %T", to)
	}
	return nil
}
