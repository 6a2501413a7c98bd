package approvals

// The texts of the commands "approvals".

// notAsProposed is the answer to an approval with changed arguments. The changed arguments follow it.
func notAsProposed(proposed string) string {
	return ". Proposed was: " + proposed + "\napproved with these arguments instead, which the policy judges again:\n"
}
