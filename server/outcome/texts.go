package outcome

// badArguments says why a call of a tool without a business key was refused.
const badArguments = "the arguments do not fit the tool's schema"
