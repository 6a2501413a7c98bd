package cli

import (
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/assembly"
	"patterngate/server/cli/runs"
)

// Replay runs a recorded run's code again over an export of its record, under the snapshot of the configuration that the
// run began with. It returns the run's uncut result as indented JSON. It calls no tool. An error says that the export is
// broken, that its configuration cannot be made here, or where the code differs from the record.
func Replay(export, snapshot []byte) ([]byte, error) {
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
	d, err := assembly.Recorded(begun.Config, snapshot)
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
	return runs.ResultText(job.Present(ended, nil).Envelope)
}
