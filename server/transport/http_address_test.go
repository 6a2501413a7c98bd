package transport

import "testing"

func TestIsListen(t *testing.T) {
	for text, want := range map[string][2]bool{ // IsListen, IsLoopback
		"127.0.0.1:8765": {true, true}, "localhost:0": {true, true}, "LocalHost:1": {true, true}, "[::1]:65535": {true, true},
		"127.9.8.7:1": {true, true}, "[::ffff:127.0.0.1]:1": {true, true},
		"0.0.0.0:8765": {true, false}, ":8765": {true, false}, "[::]:8765": {true, false}, "192.168.1.5:80": {true, false},
		"gate.example:80": {true, false}, "localhost.example:80": {true, false}, "10.0.0.1:00080": {true, false},
		"": {}, "8765": {}, "127.0.0.1": {}, "127.0.0.1:": {}, "127.0.0.1:http": {}, "127.0.0.1:65536": {}, "127.0.0.1:-1": {}, "::1:80": {},
		"[localhost]:80": {true, true}, "[zz::1]:80": {}, "http://127.0.0.1:80": {}, "a b:80": {}, "127.0.0.1:123456": {},
	} {
		if got := IsListen(text); got != want[0] {
			t.Errorf("IsListen(%q) = %v", text, got)
		}
		if want[0] && IsLoopback(text) != want[1] {
			t.Errorf("IsLoopback(%q) = %v", text, !want[1])
		}
	}
	if IsLoopback("127.0.0.1") {
		t.Error("an address without a port is taken for one to listen at")
	}
}

func TestIsOrigin(t *testing.T) {
	for text, want := range map[string]bool{
		"https://app.example": true, "http://localhost:3000": true, "http://[::1]:6274": true, "vscode-webview://0a-b": true, "tauri://localhost": true,
		"https://app.example:8443": true,
		"https://app.example/":     false, "https://App.example": false, "https://app.example:443": false, "http://app.example:80": false,
		"app.example": false, "*": false, "null": false, "": false, "https://": false, "https://u@h": false, "https://a?b": false, "https://a b": false,
		"https://a,https://b": false,
	} {
		if got := IsOrigin(text); got != want {
			t.Errorf("IsOrigin(%q) = %v", text, got)
		}
	}
}

func TestIsHost(t *testing.T) {
	for text, want := range map[string]bool{
		"gate.example": true, "Gate:80": true, "10.0.0.1": true, "[fe80::1]:80": true, "[::1]": true,
		"": false, "http://gate": false, "gate/": false, "a b": false, "gate:": false, "::1": false, "*": false,
	} {
		if got := IsHost(text); got != want {
			t.Errorf("IsHost(%q) = %v", text, got)
		}
	}
}

func TestAccepts(t *testing.T) {
	for value, want := range map[string]bool{
		"application/json": true, "application/json, text/event-stream": true, "text/html,Application/Json ;q=0.5": true, "*/*": true,
		"application/*; q=1": true, "application/json;q=0.001": true,
		"": false, "text/event-stream": false, "application/json;q=0": false, "application/json; Q=0.000": false, "application/xml": false,
		"application": false, "json/application": false, ",,;": false,
	} {
		if got := accepts([]string{value}, "application", "json"); got != want {
			t.Errorf("accepts(%q) = %v", value, got)
		}
	}
}
