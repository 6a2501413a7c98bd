package cli

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"patterngate/catalog/pins"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/settings"
)

// namesLead has the names of this process lead to these addresses for a test, and counts the questions. The test must not be parallel.
func namesLead(t *testing.T, to map[string][]string) *atomic.Int64 {
	t.Helper()
	asked := &atomic.Int64{}
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go answerNames(ours, to, asked)
		return theirs, nil
	}}
	return asked
}

// answerNames is a DNS server on a stream: each message has its length before it.
func answerNames(conn net.Conn, to map[string][]string, asked *atomic.Int64) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		asked.Add(1)
		const head = 12
		end, labels := head, []string(nil)
		for n := int(query[end]); n > 0; n = int(query[end]) {
			labels = append(labels, string(query[end+1:end+1+n]))
			end += 1 + n
		}
		kind := binary.BigEndian.Uint16(query[end+1:])
		end += 5 // the root, the type, the class
		var found []netip.Addr
		addresses, known := to[strings.ToLower(strings.Join(labels, "."))]
		for _, text := range addresses {
			if addr := netip.MustParseAddr(text); addr.Is4() && kind == 1 || addr.Is6() && kind == 28 {
				found = append(found, addr)
			}
		}
		reply := slices.Concat(query[:2], []byte{0x85, 0x80, 0, 1, 0, byte(len(found)), 0, 0, 0, 0}, query[head:end])
		if !known {
			reply[3] |= 3 // there is no such name
		}
		for _, addr := range found {
			reply = binary.BigEndian.AppendUint16(append(reply, 0xc0, head), kind)
			reply = append(reply, 0, 1, 0, 0, 0, 0) // the class; not to be kept
			reply = append(binary.BigEndian.AppendUint16(reply, uint16(addr.BitLen()/8)), addr.AsSlice()...)
		}
		if _, err := conn.Write(slices.Concat(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply)); err != nil {
			return
		}
	}
}

// Behind these names stand tools and a server in closed networks.
const (
	closedTool   = "  http:\n    ask: {description: Asks., effect: read, input: {}, request: {method: GET, url: 'http://pay.corp.example:9/x'}}\n  expose: [ask, mail]\n"
	closedServer = "    mail:\n      start_timeout_seconds: 4\n      http: {url: 'http://mail.corp.example:9/mcp'}\n      tools: {mail: {effect: read}}\n"
	closedLine   = `allow_networks: ["127.0.0.9/32", "::1/128"]`
)

// namedScene has such a configuration.
func namedScene(t *testing.T) (s *ownScene, asked *atomic.Int64) {
	t.Helper()
	asked = namesLead(t, map[string][]string{
		"pay.corp.example": {"127.0.0.9", "::1"}, "mail.corp.example": {"127.0.0.8"}, "open.corp.example": {"127.0.0.9", "203.0.113.9"},
	})
	return newOwnScene(t, closedServer+closedTool, ""), asked
}

// Who works on this machine is told that a name leads into a closed network, and the line to add.
func TestNamesOfClosedAddresses(t *testing.T) {
	s, asked := namedScene(t)
	const what = "pay.corp.example leads to 127.0.0.9, a loopback address"
	if code, out, errs := s.command(t, nil, "validate"); code != console.ExitDone || strings.Contains(out+errs, "loopback") || asked.Load() > 0 {
		t.Errorf("validate ends with %d, after %d look-ups: %s%s", code, asked.Load(), out, errs)
	}
	for _, args := range [][]string{{"call", "ask"}, {"catalog", "test", "ask"}, {"call", "ask", "--json"}} {
		code, out, errs := s.command(t, nil, args...)
		plain := strings.ReplaceAll(out+errs, `\"`, `"`)
		if code == console.ExitDone || !strings.Contains(plain, what) || !strings.Contains(plain, closedLine) || strings.Contains(plain, "cannot be reached") {
			t.Errorf("%v ends with %d and says\n%s\nwant %s and %s", args, code, plain, what, closedLine)
		}
	}
	list := s.must(t, "catalog", "list")
	for _, want := range []string{"ask: " + what, closedLine} {
		if !strings.Contains(list, want) {
			t.Errorf("catalog list has no %q:\n%s", want, list)
		}
	}
	loaded, _, err := assembly.Load(settings.Sources{Path: s.config, Environ: []string{"HOME=" + s.dir}}, assembly.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var closed []string
	for _, c := range loaded.Catalog.ClosedNames(t.Context()) {
		closed = append(closed, c.Place+": "+c.Why)
	}
	for _, want := range []string{"catalog.http.ask.request.url: " + what, "catalog.servers.mail.http.url: mail.corp.example leads to 127.0.0.8"} {
		if !slices.ContainsFunc(closed, func(said string) bool { return strings.Contains(said, want) }) {
			t.Errorf("ClosedNames has no %q: %q", want, closed)
		}
	}

	s.write(t, closedServer+strings.Replace(closedTool, "pay.corp", "open.corp", 1), "")
	if list := s.must(t, "catalog", "list"); strings.Contains(list, "ask:") {
		t.Errorf("a name with an address that is dialled:\n%s", list)
	}
	s.write(t, closedServer+"  "+closedLine+"\n"+closedTool, "")
	if list := s.must(t, "catalog", "list"); strings.Contains(list, "ask:") {
		t.Errorf("with the line:\n%s", list)
	}
	if code, out, errs := s.command(t, nil, "call", "ask"); code == console.ExitDone || !strings.Contains(out+errs, "cannot be reached") {
		t.Errorf("with the line a call ends with %d: %s%s", code, out, errs)
	}
}

// So is who calls a tool of a server behind such a name, which was accepted while it was somewhere else.
func TestNameOfAClosedServer(t *testing.T) {
	s, _ := namedScene(t)
	loaded, _, err := assembly.Load(settings.Sources{Path: s.config, Environ: []string{"HOME=" + s.dir}}, assembly.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	lock := loaded.Lock()
	if err := errors.Join(lock.Accept("mail", pins.Definition{Name: "mail", Input: []byte(`{"type":"object"}`)}, pins.Acceptance{By: "local:1", Assurance: "user"}), lock.Write(s.lock)); err != nil {
		t.Fatal(err)
	}
	if loaded, _, err = assembly.Load(settings.Sources{Path: s.config, Environ: []string{"HOME=" + s.dir}}, assembly.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	if _, err := loaded.Definitions(t.Context(), "mail"); err == nil {
		t.Fatal("the server is reached")
	}
	d, err := assembly.Declare(loaded, nil)
	if err != nil {
		t.Fatal(err)
	}
	mail, _ := d.Tools.Tool("mail")
	if here := mail.Ready().Here; !strings.Contains(here, "mail.corp.example leads to 127.0.0.8, a loopback address") ||
		!strings.Contains(here, `allow_networks: ["127.0.0.8/32"]`) {
		t.Errorf("Here = %q", here)
	}
	if why := mail.Ready().Why; strings.Contains(why, "127.") || strings.Contains(why, "corp") {
		t.Errorf("Why = %q, which others read", why)
	}
}

// Who calls from elsewhere reads neither the addresses nor what the names are.
func TestNamesStayHere(t *testing.T) {
	s, _ := namedScene(t)
	tokens := writeTokens(t, "ci: "+secretToken+"\n", 0o600)
	log, errs := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: io.Discard, Err: errs, Environ: []string{"HOME=" + filepath.Dir(s.state)}}}}
		root := a.root()
		root.SetArgs(s.args("serve", "--http", "127.0.0.1:0", "--token-file", tokens, "--log-format", "json", "--inbox", "off"))
		_ = a.Exit(ctx, root.ExecuteContext(ctx))
		_ = errs.Close()
	}()
	defer func() { stop(); <-ended }()
	lines := bufio.NewReader(log)
	port := servedPort(t, lines)
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	for _, call := range []string{"ask", "describe_catalog"} {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{}},"name":%q,"arguments":{}}}`, call)
		request, err := http.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1:"+port+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": call, "Authorization": "Bearer " + secretToken,
		} {
			request.Header.Set(name, value)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %d %s", call, err, response.StatusCode, text)
		}
		if call == "ask" && !strings.Contains(string(text), "cannot be reached") {
			t.Errorf("%s says %s, want that the server cannot be reached", call, text)
		}
		for _, secret := range []string{"127.0.0.9", "127.0.0.8", "::1", "corp.example", "loopback", "allow_networks"} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s tells of %q: %s", call, secret, text)
			}
		}
	}
}
