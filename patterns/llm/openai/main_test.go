package openai

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("CI") == "" { // those that are parallel mostly wait for a time limit; in CI the race detector makes them slow
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
