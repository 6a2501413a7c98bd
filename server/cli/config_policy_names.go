package cli

import (
	"slices"

	"patterngate/server/settings/rules"
)

// policy is the policy of a name; nil where there is none.
func (c *Config) policy(name string) *rules.Policy {
	for i := range c.Policies {
		if c.Policies[i].Name == name {
			return &c.Policies[i]
		}
	}
	return nil
}

// policyFiles are the files that policies were read from.
func (c *Config) policyFiles() []string {
	var files []string
	for i := range c.Policies {
		if file := c.Policies[i].File; file != "" && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// policyNames are the names of all policies.
func (c *Config) policyNames() []string {
	names := make([]string, len(c.Policies))
	for i := range c.Policies {
		names[i] = c.Policies[i].Name
	}
	return names
}
