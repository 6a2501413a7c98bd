// Package english reads a goal that a person wrote in English. It knows no tool: it says which words the goal has, what is
// asked, ordered, denied or given as a reason, and which values it has.
//
//	text ──▶ words ──▶ clauses ──▶ what each word does in its sentence
//	  └────▶ values: numbers, money, dates, times, ids, quotes
//
// [Read] does all of it. Read goal.go first; words.go has the lists of words.
package english
