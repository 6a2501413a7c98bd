package gateway

import "fmt"

// This file has the texts of the package that people and models read: what plans, tasks, routes, actions and answers must be.

// Values.

const (
	aText         = "a text"
	aTextNotBlank = "a text that is not blank"
	aValue        = "a value"
)

func ofType(kind string) string {
	return fmt.Sprintf("of type %s", kind)
}

const (
	aBool           = "true or false"
	argumentsObject = "an object of arguments"
	objectOrText    = "an object, or a text that holds one"
)

func atMostBytes(most int) string {
	return fmt.Sprintf("at most %d bytes", most)
}

func oneDocument(offset int, why string) string {
	return fmt.Sprintf("one JSON document; byte %d: %s", offset, why)
}

func answerBytes(most, has string) string {
	return fmt.Sprintf("at most %s bytes of JSON, not %s", most, has)
}

// Plans and tasks.

func goalFor(pattern string) string {
	return fmt.Sprintf("what %s has to do, in words", pattern)
}

func stepList(least, most int) string {
	return fmt.Sprintf("a list of %d to %d steps", least, most)
}

func stepCount(least, most, has int) string {
	return fmt.Sprintf("%d to %d steps, not %d", least, most, has)
}

const (
	stepObject = "an object {id, title, tool, args}"
)

func taskList(most int) string {
	return fmt.Sprintf("a list of 1 to %d tasks", most)
}

func taskCount(most, has int) string {
	return fmt.Sprintf("1 to %d tasks, not %d", most, has)
}

const (
	taskObject      = "an object {id, worker, args, critical}"
	onlyTaskMembers = "id, worker, args and critical"
)

// Routes and actions.

const (
	ticketObject = "an object {ticket}"
	ticketText   = "the text of the ticket"
)

func declinedBefore(others string) string {
	return fmt.Sprintf("a route that has not declined; %s", others)
}

const (
	businessKeyArguments = "arguments that make a valid business key: 1 to 128 of A-Z a-z 0-9 . _ ~ : -"
)

// Results.

const (
	noResults  = "no call returned a result"
	fewResults = "some calls returned no result"
)

// The answer and the signature of a person.

const (
	approvalID      = "approval is ap_ and 16 hex digits"
	digestForm      = "digest is sha256: and 64 hex digits"
	decisionWords   = "decision is approve, edit or reject"
	executesForm    = "executes is the digest of the call that an approval or edit allows"
	decidedAt       = "at is the time of the decision"
	commentLength   = "comment has at most 1000 characters"
	byKey           = "by is key: and the id of the key that signs"
	byUser          = "by is local: and the user if no key signs"
	wrongSignature  = "gateway: the signature does not belong to this key and this text"
	signatureTooOld = "gateway: the act was signed more than 300 seconds from now"
)
