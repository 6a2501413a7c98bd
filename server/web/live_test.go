package web

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// served is a site over a real socket, for a signed-in person.
func served(t *testing.T, s *site) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.pages.ServeHTTP(w, r.WithContext(withSession(r.Context(), session{csrf: theCSRF})))
	}))
	t.Cleanup(server.Close)
	return server
}

// listen opens a stream and returns its lines.
func listen(t *testing.T, url string) (*http.Response, *bufio.Scanner) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer, bufio.NewScanner(answer.Body)
}

func event(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	var got []string
	for lines.Scan() && (lines.Text() != "" || len(got) == 0) {
		got = append(got, lines.Text())
	}
	return strings.Join(got, " ")
}

func TestLive(t *testing.T) {
	s := newSite(t)
	server := served(t, s)
	answer, lines := listen(t, server.URL+"/live?since=41")
	if got := answer.Header.Get("Content-Type"); answer.StatusCode != 200 || got != "text/event-stream" {
		t.Fatalf("= %d %s", answer.StatusCode, got)
	}
	if got := event(t, lines); got != "retry: 3000" {
		t.Errorf("first %q", got)
	}
	for _, test := range []struct {
		ids  []string
		want string
	}{
		{[]string{aRun, "run_00000000000000a2"}, "id: 42 data: " + aRun + " data: run_00000000000000a2"},
		{[]string{aPlan, aRun}, "id: 43 data: " + aPlan + " data: " + aRun},
		{[]string{"*"}, "id: 44 data: *"},
		{[]string{aRun, "x\ndata: evil"}, "id: 45 data: *"},
		{make([]string, maxIDs+1), "id: 46 data: *"},
	} {
		s.changes <- test.ids
		if got := event(t, lines); got != test.want {
			t.Errorf("%.60q = %q, want %q", test.ids, got, test.want)
		}
	}
}

// Only so many pages are told at once; each that goes makes room.
func TestLiveIsBounded(t *testing.T) {
	s := newSite(t)
	for range maxStreams {
		s.pages.streams <- struct{}{}
	}
	if w := s.get("/live"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("one too many = %d, want 503 with Retry-After", w.Code)
	}
	<-s.pages.streams
	if answer, _ := listen(t, served(t, s).URL+"/live"); answer.StatusCode != 200 {
		t.Errorf("with room = %d", answer.StatusCode)
	}
}

// Without news a stream says from time to time that it is there, and ends so that the page asks again.
func TestLiveHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		began := time.Now()
		w := s.get("/live")
		beats := strings.Count(w.Body.String(), ": \n\n")
		most := int(streamLife / heartbeat) // the last one may fall into the end
		if took := time.Since(began); took != streamLife || beats != most && beats != most-1 {
			t.Errorf("it took %v with %d beats, want %v and about %d", took, beats, streamLife, most)
		}
		if len(s.pages.streams) != 0 {
			t.Error("a stream that ended keeps its place")
		}
	})
}
