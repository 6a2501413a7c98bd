// Package patterns defines the types and interfaces between the agent patterns, the engine that runs them, and the code that shows
// runs. For a list of the patterns and how they read, see package kinds.
//
//	   kinds, planexecute: the code of the patterns, made of package step
//	        │   ▲
//	Effect  │   │  Outcome            Run: what pattern code can see and do
//	        ▼   │
//	   an engine (package local): records the intent, acts, records the outcome
//	        │         │         │          │             │
//	      Model     Permit   Approver   the caller   stored plans
//
// Pattern code has no clock, goroutine, random number, map order, environment or network of its own. It learns everything from its
// [Run]. So any engine can run it again over recorded outcomes and gets the same [Result]. It calls tools only with a
// [gateway.Permit], and only the gateway makes permits.
//
// Read run.go first: it holds the interface between pattern code and an engine. Then read effects.go, which shows how pattern code
// uses that interface. Then read engine.go, which shows how a run is started and continued.
package patterns
