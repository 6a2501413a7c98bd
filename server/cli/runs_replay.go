package cli

import (
	"errors"

	"patterngate/patterns"
)

func replayTest(id string, events []patterns.Event, export []byte) ([]byte, error) {
	return nil, errors.New("todo")
}
