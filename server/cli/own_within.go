package cli

// accepted reports whether the lock of other accepts every tool of this configuration that this lock accepts, with the same
// definition.
func (d *declared) accepted(other *declared) bool {
	if d.lock == nil {
		return true
	}
	for _, s := range d.reach.Servers {
		for _, t := range s.Tools {
			was, there := d.lock.Tool(s.Name, t.Upstream)
			if !there || !s.Enabled || !t.Enabled {
				continue
			}
			if other.lock == nil {
				return false
			}
			if is, still := other.lock.Tool(s.Name, t.Upstream); !still || is.Hash() != was.Hash() {
				return false
			}
		}
	}
	return true
}
