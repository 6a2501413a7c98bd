package local

import (
	"testing"

	"patterngate/patterns/store/processtest"
)

func TestMain(m *testing.M) { processtest.Main(m) }
