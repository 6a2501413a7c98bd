package assembly

import (
	"encoding/json"

	"patterngate/patterns"
	"patterngate/patterns/local"
)

// Replay runs the code of a recorded run again over an export of its record. snapshot is the configuration that the run began
// with. Replay returns the result of the run, not cut. It calls no tool and no model. An error says that the export is broken,
// that the configuration cannot be made here, or where the code differs from the record.
func Replay(export, snapshot []byte) (json.RawMessage, error) {
	x, err := patterns.ReadExport(export)
	if err != nil {
		return nil, err
	}
	if err := x.Verify(nil); err != nil {
		return nil, err
	}
	begun, err := local.BegunOf(x.Events)
	if err != nil {
		return nil, err
	}
	d, err := recorded(begun.Config, snapshot)
	if err != nil {
		return nil, err
	}
	job, err := d.Job(begun)
	if err != nil {
		return nil, err
	}
	ended, err := local.ReplayStored(x.Events, job)
	if err != nil {
		return nil, err
	}
	return job.Present(ended, nil).Envelope, nil
}
