// Package rules reads the policies section of a configuration file: the rules by which calls are judged, with their params, vars, windows
// and tests. It holds values only. Package policy compiles them.
//
//	policies: ──PoliciesKey──► Policy = policy.Source + the places of its members
//	                           Locate ◄── a fault of package policy, by member: rules[2].when
//
// Read policies.go first.
package rules
