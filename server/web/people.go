package web

// named is an id as people are told it.
func (p *Pages) named(id string) string {
	if p.config.People == nil {
		return id
	}
	return p.config.People(id)
}

// naming has the people who decided about attempts be called as named says. What is stored keeps the ids.
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
