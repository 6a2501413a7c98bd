package stopreason_test

import (
	"fmt"

	"patterngate/gateway/stopreason"
)

func ExampleLookup() {
	row, _ := stopreason.Lookup("invalid_plan:tool_not_allowed:drop_table")
	fmt.Println(row.Name, row.Exit, row.Next)
	// Output: invalid_plan:tool_not_allowed:T 3 fix_and_retry or call
}
