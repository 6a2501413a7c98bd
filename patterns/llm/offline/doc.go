// Package offline answers a pattern's questions by rules, without a language model. It needs no key and no network, and it
// gives the same answer to the same question every time. [Rules] is a [patterns.Model].
//
//	goal ──english──▶ words and values ─┐
//	tools' schemas, observations ───────┴─▶ which tools, which arguments ──▶ the JSON a model would write
//
// The rules never guess. Where a goal does not say which tool or which value is meant, the answer says what is missing.
//
// Read rules.go first. The package english reads the goal.
package offline
