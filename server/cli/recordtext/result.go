package recordtext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"patterngate/ijson"
	"patterngate/server/cli/console"
)

// Result returns a run's result as the files of a replay test hold it: sorted members, one on each line. The duration of the
// run is replaced by "T s".
func Result(envelope json.RawMessage) ([]byte, error) {
	v, err := ijson.DecodeCanonical(envelope)
	if err != nil {
		return nil, fmt.Errorf("the result: %w", err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, ijson.Canonical(v), "", " "); err != nil {
		return nil, err
	}
	return []byte(console.VisibleLines(tookWords.ReplaceAllString(b.String(), "T s"))), nil
}

// tookWords matches the duration of a run in its summary. A test does not compare it, because the duration depends on
// the process that ended the run.
var tookWords = regexp.MustCompile(`(under )?[0-9]+\.[0-9]{2} s\b`)
