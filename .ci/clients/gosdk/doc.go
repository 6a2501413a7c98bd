// Package gosdk puts the official Go SDK's client through what every client is put through (see ../typescript/checks.mjs),
// over stdio and HTTP, in both protocol eras. It is a module of its own, so that the product's stays free of the SDK.
//
//	go test -v . -args -patterngate BINARY -config FILE -calls ../calls.json -driven FILE
package gosdk
