package web

// named returns an id as the pages show it, with the name of the user.
func (p *Pages) named(id string) string {
	if p.config.People == nil {
		return id
	}
	return p.config.People(id)
}

// naming returns attempts in which the people who decided have the names that named gives. The stored attempts keep the ids.
func (p *planNow) naming(named func(id string) string) {
	for _, attempts := range p.trace {
		for i, a := range attempts {
			if a.HumanApproval == nil {
				continue
			}
			decided := *a.HumanApproval
			decided.By = named(decided.By)
			attempts[i].HumanApproval = &decided
		}
	}
}
