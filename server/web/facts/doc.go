// Package facts picks what a person needs beside a call in order to decide about it: who wrote each argument, the values that the rule
// read and where each came from, and the name of whom the call is about.
//
//	recorded values of the rule ─┐
//	results of earlier calls    ─┼─▶ Fact{label, value, source} ──▶ package web shows them beside the buttons
//	author of the proposal      ─┘
//
// All texts are escaped for people by package wording. Read facts.go first.
package facts
