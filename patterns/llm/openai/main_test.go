package openai

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil { // those that are parallel mostly wait for a time limit
		panic(err)
	}
	os.Exit(m.Run())
}
