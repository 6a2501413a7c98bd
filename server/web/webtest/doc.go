// Package webtest is a real browser for tests, as net/http/httptest is a real server for tests: Debian's Chromium without
// a window, driven as a person drives it.
//
//	test ──▶ Page: Open, Click, Type, Press, Follow ──▶ pipe, DevTools protocol ──▶ Chromium ──▶ the server under test
//	           │ reads  Text, Focused, Cookies, Complaints, Requested
//	           └ judges Axe (npm axe-core), Walk (keyboard only), Overflow, Screenshot
//
// The test controls Chromium over two pipes, so nothing listens on a port, and no process outlives the test. The package
// uses a dozen methods of the protocol, by their names. A generated library of all methods would have to follow Debian's
// Chromium, which changes every few weeks.
//
// A step that cannot be done ends the test with what was seen. Waiting is for events of the page, never for time to
// pass. A Page belongs to the goroutine of its test.
//
// Tests that need the browser run where CI=true, and are skipped elsewhere. There they need a program chromium on PATH
// and, for [Page.Axe], the file axe.min.js of npm's axe-core, named by the variable AXE; .ci/run installs both. Pictures
// go to the test's ArtifactDir: go test -artifacts -outputdir DIR keeps them.
package webtest
