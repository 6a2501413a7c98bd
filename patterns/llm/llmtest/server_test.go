package llmtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"patterngate/patterns/llm/llmtest"
)

const asked = `{"model":"m","temperature":0,"messages":[{"role":"system","content":"be brief"},` +
	`{"role":"user","content":"{\"goal\":\"caf\\u00e9\"}"}],"response_format":{"type":"json_object"}}`

func post(t *testing.T, s *llmtest.Server, body string) (int, string, error) {
	t.Helper()
	res, err := http.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return res.StatusCode, string(got), err
}

func start(t *testing.T, replies ...llmtest.Reply) *llmtest.Server {
	t.Helper()
	s := llmtest.NewServer(replies...)
	t.Cleanup(s.Close)
	return s
}

func TestRepliesGoOutInOrderAndMoreIsUnexpected(t *testing.T) {
	s := start(t, llmtest.Content("one"), llmtest.Status(429), llmtest.NoChoices(), llmtest.Refusal("no"), llmtest.Reply{})
	want := []struct {
		code int
		part string
	}{
		{200, `"content":"one","refusal":null`}, {429, `scripted status 429`}, {200, `"choices":[]`},
		{200, `"content":null,"refusal":"no"`}, {200, `"content":""`}, {500, "scripted status 500"},
	}
	for i, w := range want {
		code, body, err := post(t, s, asked)
		if err != nil || code != w.code || !strings.Contains(body, w.part) || !json.Valid([]byte(body)) {
			t.Errorf("request %d: got %d %s, %v; want %d with %s", i+1, code, body, err, w.code, w.part)
		}
	}
	got := s.Requests()
	if len(got) != len(want) {
		t.Fatalf("Requests() has %d, want %d", len(got), len(want))
	}
	for i, r := range got {
		if last := i == len(want)-1; r.Unexpected != last {
			t.Errorf("request %d: Unexpected = %v, want %v", i+1, r.Unexpected, last)
		}
	}
}

func TestRequestIsDecoded(t *testing.T) {
	s := start(t, llmtest.Content("x"), llmtest.Content("y"))
	if _, _, err := post(t, s, asked); err != nil {
		t.Fatal(err)
	}
	if _, _, err := post(t, s, "no JSON"); err != nil {
		t.Fatal(err)
	}
	r := s.Requests()[0]
	temperature, sent := r.Temperature()
	got := []any{r.Path, r.Phase(), r.Model(), temperature, sent, r.System(), r.UserText(), r.User(), r.Roles()}
	want := []any{"/v1/chat/completions", llmtest.Decide, "m", 0.0, true, "be brief", `{"goal":"caf\u00e9"}`, map[string]any{"goal": "café"}, []string{"system", "user"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("decoded request: got %v, want %v", got, want)
	}
	if r := s.Requests()[1]; r.Phase() != llmtest.Finalize || r.User() != nil || string(r.Body) != "no JSON" {
		t.Errorf("a body that is no JSON: got phase %q, user %v", r.Phase(), r.User())
	}
}

func TestFaultsOfTheLine(t *testing.T) {
	for name, reply := range map[string]llmtest.Reply{"reset": llmtest.Reset(), "truncated": llmtest.Truncated()} {
		t.Run(name, func(t *testing.T) {
			_, body, err := post(t, start(t, reply), asked)
			if err == nil {
				t.Errorf("got a whole answer %q, want an error", body)
			}
		})
	}
	if code, body, err := post(t, start(t, llmtest.Unframed("{}")), asked); code != 200 || body != "{}" || err != nil {
		t.Errorf("unframed: got %d %q, %v; want 200 {}", code, body, err)
	}
	for name, reply := range map[string]llmtest.Reply{"silence": llmtest.Silence(), "endless": llmtest.Endless(200), "delay": llmtest.Content("late").After(time.Hour)} {
		t.Run(name, func(t *testing.T) {
			client := http.Client{Timeout: 50 * time.Millisecond}
			res, err := client.Post(start(t, reply).URL, "application/json", strings.NewReader(asked))
			if err == nil {
				_, err = io.ReadAll(res.Body)
				res.Body.Close()
			}
			var timeout interface{ Timeout() bool }
			if !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Errorf("got %v, want the client's time-out", err)
			}
		})
	}
}

func TestCloseEndsRunningReplies(t *testing.T) {
	came := make(chan bool, 1)
	s := llmtest.NewFunc(func(llmtest.Request) llmtest.Reply {
		came <- true
		return llmtest.Silence()
	})
	asking := make(chan error, 1)
	go func() {
		_, err := http.Post(s.URL, "application/json", strings.NewReader(asked))
		asking <- err
	}()
	<-came
	s.Close()
	if err := <-asking; err == nil {
		t.Error("a closed server answered")
	}
}

func TestReplyLanguage(t *testing.T) {
	same := map[string]llmtest.Reply{
		`{"content":"a"}`:                      llmtest.Content("a"),
		`{"content":null}`:                     llmtest.NullContent(),
		`{"refusal":"No."}`:                    llmtest.Refusal("No."),
		`{"no_choices":true}`:                  llmtest.NoChoices(),
		`{"http":503}`:                         llmtest.Status(503),
		`{"error":"timeout"}`:                  llmtest.Silence(),
		`{"error":"connection"}`:               llmtest.Reset(),
		`{"error":"truncated"}`:                llmtest.Truncated(),
		`{"delay_seconds":0.25,"content":"a"}`: llmtest.Content("a").After(250 * time.Millisecond),
		`{"content":"a","delay_seconds":0.25}`: llmtest.Content("a").After(250 * time.Millisecond),
	}
	for text, want := range same {
		var got llmtest.Reply
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{`{}`, `{"delay_seconds":1}`, `{"content":1}`, `{"content":"a","http":200}`, `{"error":"dns"}`, `{"http":"500"}`, `{"no_choices":false}`, `{"text":"a"}`, `[]`} {
		var got llmtest.Reply
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s: decoded to %+v, want an error", text, got)
		}
	}
}

func ExampleNewServer() {
	server := llmtest.NewServer(llmtest.Content("Paris"))
	defer server.Close()

	body := `{"model":"any","messages":[{"role":"user","content":"{\"goal\":\"capital of France\"}"}]}`
	res, err := http.Post(server.URL+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	res.Body.Close()
	asked := server.Requests()[0]
	fmt.Println(res.StatusCode, asked.Phase(), asked.UserText())
	// Output: 200 finalize {"goal":"capital of France"}
}
