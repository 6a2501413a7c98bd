// Package inspect holds the commands that show and check a configuration without starting anything: config, schema, validate, tools and
// stop-reasons.
//
//	configuration ──▶ config show: a file that loads to the same, or each value with its origin
//	   │      └─────▶ validate: every fault and warning, by place
//	   ├─ tools ────▶ tools: what a client sees
//	   └─ patterns ─▶ stop-reasons: why a run ends
//	keys of a file ─▶ schema: what an editor checks
//
// The commands get the configuration in force from functions ([Commands]). Only validate loads one itself, to keep every fault and
// warning. Read config.go first.
package inspect
