package upstream_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// asHostile makes the test program a server of the worst manners; its value says which.
const asHostile = "UPSTREAM_TEST_HOSTILE"

// hostile writes its messages by hand.
type hostile struct {
	mu      sync.Mutex
	tools   []string
	mode    string
	hanging int // calls, read by one goroutine
}

// request is what a client sends.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
}

func serveHostile(mode string) {
	h := &hostile{mode: mode, tools: []string{"echo", "pid", "environment", "die", "hang", "hanging", "progress", "junk", "huge", "nameless", "endless", "change",
		"deaf", "leave", "says", "refuse", "no result", "other id", "stutter", "ask", "flood of changes", "close output"}}
	if mode == "other tools" {
		h.tools = append(h.tools, "new")
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			switch mode {
			case "stubborn":
				select {}
			case "writes at its end": // longer than it may hold up others
				<-time.After(500 * time.Millisecond)
				_ = os.WriteFile(os.Getenv("MARKER"), []byte("whole"), 0o600)
			}
			return
		}
		var r request
		if json.Unmarshal(line, &r) == nil && r.ID != nil {
			h.answer(r, in)
		}
	}
}

func (h *hostile) say(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintf(os.Stdout, format+"\n", args...)
}

func (h *hostile) result(r request, result string) {
	h.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result)
}

func (h *hostile) text(r request, text string) {
	encoded, _ := json.Marshal(text)
	h.result(r, `{"content":[{"type":"text","text":`+string(encoded)+`}]}`)
}

func (h *hostile) answer(r request, in io.Reader) {
	switch r.Method {
	case "initialize":
		switch h.mode {
		case "silent":
			return
		case "dies":
			os.Exit(3)
		case "explains": // and dies, or says nothing more
			fmt.Fprintf(os.Stderr, "starting\nno \x1b[31mdatabase for %s\n\n", os.Getenv("KEY"))
			if len(os.Args) == 1 {
				os.Exit(3)
			}
			return
		}
		h.result(r, helloReply)
	case "tools/list":
		var all []string
		for _, name := range h.tools {
			all = append(all, fmt.Sprintf(`{"name":%q, "description":"Tests.","inputSchema":{"type":"object","oneOf":[{}]},"annotations":{}}`, name))
		}
		h.result(r, `{"tools":[`+strings.Join(all, ",")+`]}`)
	case "tools/call":
		h.call(r, in)
	}
}

func (h *hostile) call(r request, in io.Reader) {
	switch r.Params.Name {
	case "echo", "new":
		h.result(r, `{"structuredContent":`+string(r.Params.Arguments)+`}`)
	case "pid":
		h.text(r, fmt.Sprint(os.Getpid()))
	case "hang":
		h.hanging++
	case "hanging": // how many calls hang
		h.text(r, fmt.Sprint(h.hanging))
	case "environment":
		h.text(r, strings.Join(os.Environ(), "\n")+"\n"+strings.Join(os.Args[1:], "|"))
	case "die":
		os.Exit(4)
	case "progress": // of nothing that was asked for
		for range 2_000 {
			h.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1,"message":"%s"}}`, strings.Repeat("m", 500))
		}
		h.text(r, "done")
	case "junk":
		h.say("starting up...\n\n{\n[]\nnull\n7\n{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\"\n\x00\xff", r.ID)
		h.text(r, "done")
	case "huge":
		fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, r.ID)
		for part, i := strings.Repeat("x", 1<<20), 0; i < 100; i++ {
			_, _ = os.Stdout.WriteString(part)
		}
		h.say(`"}]}}`)
	case "nameless":
		h.say(`{"result":{"content":[{"type":"text","text":"%s"}]},"id":%s}`, strings.Repeat("x", 9<<20), r.ID)
	case "endless":
		h.say(`{"jsonrpc":"2.0","id":%s,"result":{"x":"`, r.ID)
		for part := strings.Repeat("x", 1<<20); ; {
			if _, err := os.Stdout.WriteString(part); err != nil {
				os.Exit(5)
			}
		}
	case "change":
		h.tools = append(h.tools, "new")
		h.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		h.text(r, "done")
	case "flood of changes":
		for range 1_000 {
			h.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		h.text(r, "done")
	case "deaf": // answers once more and reads nothing from now on
		h.text(r, "what?")
		select {}
	case "leave": // a program that has its output
		left := exec.Command("sleep", "60")
		left.Stdout, left.Stderr = os.Stdout, os.Stderr
		if err := left.Start(); err != nil {
			h.text(r, err.Error())
			return
		}
		h.text(r, fmt.Sprint(left.Process.Pid))
	case "says":
		var args struct{ Text string }
		_ = json.Unmarshal(r.Params.Arguments, &args)
		fmt.Fprintln(os.Stderr, args.Text)
		encoded, _ := json.Marshal("I was told: " + args.Text)
		h.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%s}}`, r.ID, encoded)
	case "refuse":
		h.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no"}}`, r.ID)
	case "no result":
		h.result(r, "7")
	case "other id":
		h.say(`{"jsonrpc":"2.0","id":"another","result":{}}`)
	case "stutter":
		h.text(r, "first")
		h.text(r, "second")
	case "ask": // a question that nobody answers well, many times
		for i := range 1_000 {
			h.say(`{"jsonrpc":"2.0","id":%d,"method":"sampling/createMessage","params":{}}`, i)
		}
		h.text(r, "done")
	case "close output":
		_ = os.Stdout.Close()
		_, _ = io.Copy(io.Discard, in)
	}
}
