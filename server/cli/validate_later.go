package cli

// checkDeclared is where checks join that need more than the file: the lock, compiled expressions, what tools/list takes.
// They say their faults with places by [LoadedConfig.FaultAt] and its sisters; the words go behind the summary of validate.
func (a *app) checkDeclared(LoadedConfig) (faults []Fault, summary string) { return nil, "" }
