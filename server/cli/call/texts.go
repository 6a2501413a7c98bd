package call

// The texts of the command "call".

func calling(tool string) string { return "calling " + tool }
