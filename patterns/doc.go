// Package patterns holds the ports between the agent patterns, the engine that runs them, and everybody who looks at runs. To see which
// patterns there are and how they read, open package kinds.
//
//	   kinds, planexecute: the code of the patterns, made of package step
//	        │   ▲
//	Effect  │   │  Outcome            Run: the world as pattern code sees it
//	        ▼   │
//	   an engine (package local): records the intent, acts, records the outcome
//	        │         │         │          │             │
//	      Model     Permit   Approver   the caller   stored plans
//
// Pattern code has no clock, goroutine, random number, map order, environment or network of its own. It learns everything from its
// [Run]. So any engine can run it again over recorded outcomes and gets the same [Result]. It calls tools only with a [gateway.Permit],
// and only the gateway makes permits.
//
// Read run.go first: it holds the port between pattern code and an engine. Then read effects.go, which says how pattern code uses that
// port, and engine.go, which says how a run is begun and continued.
package patterns
