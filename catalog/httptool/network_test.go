package httptool_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/httptool"
)

func TestJudge(t *testing.T) {
	open := httptool.NewClient(httptool.ClientConfig{})
	for addr, class := range map[string]string{
		"93.184.216.34": "", "2606:2800:220:1::1": "", "::ffff:93.184.216.34": "", "64:ff9b::5db8:d822": "", "2002:5db8:d822::1": "",
		"100.63.255.255": "", "100.128.0.0": "", "172.32.0.1": "",
		"127.0.0.1": "loopback", "127.255.255.254": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback",
		"10.1.2.3": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private", "fc00::1": "private", "fdff::1": "private", "fec0::1": "private",
		"100.64.0.1": "shared", "100.127.255.255": "shared",
		"169.254.1.1": "link-local", "fe80::1": "link-local", "fe80::1%eth0": "link-local",
		"169.254.169.254": "metadata", "fd00:ec2::254": "metadata", "::ffff:169.254.169.254": "metadata", "168.63.129.16": "metadata",
		"224.0.0.1": "multicast", "ff02::1": "multicast",
		"0.0.0.0": "unspecified", "0.1.2.3": "unspecified", "::": "unspecified", "255.255.255.255": "reserved", "240.0.0.1": "reserved",
		"64:ff9b::7f00:1": "loopback", "64:ff9b::a9fe:a9fe": "metadata", "64:ff9b:1::1": "private", "2002:7f00:1::1": "loopback", "2002:a00:1::1": "private",
		"::127.0.0.1": "loopback", "::ffff:0:10.0.0.1": "private", "2001:0:1::80ff:fffe": "loopback",
	} {
		err := open.Judge(netip.MustParseAddr(addr))
		fault, ok := errors.AsType[*httptool.AddressError](err)
		if class == "" && err != nil || class != "" && (!ok || !strings.Contains(fault.Class, class)) {
			t.Errorf("Judge(%s) = %v, want %q", addr, err, class)
		}
	}
	if open.Judge(netip.Addr{}) == nil {
		t.Error("no address at all is dialled")
	}
}

func TestJudgeAllowed(t *testing.T) {
	client := httptool.NewClient(httptool.ClientConfig{Allow: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fe80::/10"),
	}})
	for addr, want := range map[string]bool{
		"127.0.0.1": true, "::ffff:127.0.0.1": true, "10.9.9.9": true, "64:ff9b::a00:1": true, "fe80::1%eth0": true,
		"127.0.0.2": false, "::1": false, "192.168.0.1": false, "169.254.169.254": false, "64:ff9b::c0a8:1": false,
	} {
		if err := client.Judge(netip.MustParseAddr(addr)); (err == nil) != want {
			t.Errorf("Judge(%s) = %v, want allowed: %v", addr, err, want)
		}
	}
}

// elsewhere is a client that resolves every name to addresses, in turn, and counts how often it was asked.
func elsewhere(allow string, answers ...string) (*httptool.Client, *atomic.Int64) {
	var asked atomic.Int64
	return httptool.NewClient(httptool.ClientConfig{
		Allow: []netip.Prefix{netip.MustParsePrefix(allow)},
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			n := int(asked.Add(1)) - 1
			var all []netip.Addr
			for text := range strings.SplitSeq(answers[min(n, len(answers)-1)], " ") {
				all = append(all, netip.MustParseAddr(text))
			}
			return all, nil
		},
	}), &asked
}

// A name that points to an allowed address when it is looked at, and to a closed one a moment later, reaches nothing
// closed: it is resolved once for a connection, and what was judged is what is dialled.
func TestRebinding(t *testing.T) {
	var hits atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Header().Set("Connection", "close") // so that the next call resolves again
		_, _ = w.Write(nil)
	}))
	defer server.Close()
	u, _ := url.Parse(server.URL)
	client, asked := elsewhere("127.0.0.1/32", "127.0.0.1", "127.0.0.2", "169.254.169.254", "::ffff:10.0.0.1 127.0.0.3")
	tool := build(t, httptool.Config{URL: "http://pay.example:" + u.Port() + "/", Client: client})
	if v, err := tool.Do(t.Context(), catalog.Call{}); err != nil {
		t.Fatalf("the allowed address: %v, %v", v, err)
	}
	for range 3 {
		_, err := tool.Do(t.Context(), catalog.Call{})
		fault, _ := errors.AsType[*catalog.Fault](err)
		if _, ok := errors.AsType[*httptool.AddressError](err); !ok || fault == nil || fault.Kind != catalog.NotSent || fault.Again {
			t.Errorf("Do = %v, want not_sent for the address, not to be repeated", err)
		}
	}
	if hits.Load() != 1 || asked.Load() != 4 {
		t.Errorf("%d requests arrived and the name was resolved %d times, want 1 and 4", hits.Load(), asked.Load())
	}
}

// Of several addresses only the allowed ones are dialled, and one that refuses is followed by the next.
func TestSeveralAddresses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	u, _ := url.Parse(server.URL)
	client, _ := elsewhere("127.0.0.0/8", "10.0.0.1 127.0.0.9 127.0.0.1")
	tool := build(t, httptool.Config{URL: "http://pay.example:" + u.Port() + "/", Client: client})
	if v, err := tool.Do(t.Context(), catalog.Call{}); err != nil {
		t.Errorf("Do = %v, %v; want the answer of the last address", v, err)
	}
}
