package upstream

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A server that refuses the stream of notifications by whatever code is not asked for it again and again; one whose refusal may
// pass is.
func TestStreamRefusedForGood(t *testing.T) {
	for status, want := range map[int]int{400: 405, 403: 405, 405: 405, 406: 405, 501: 501, 503: 503, 401: 401, 404: 404, 408: 408, 429: 429} {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		g := &guard{url: h.URL, base: &http.Transport{}, headers: func(context.Context) (http.Header, error) { return nil, nil }}
		for method, want := range map[string]int{http.MethodGet: want, http.MethodPost: status} {
			r, err := http.NewRequestWithContext(t.Context(), method, h.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := g.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			if answer.StatusCode != want {
				t.Errorf("%s answered with %d is taken for %d, want %d", method, status, answer.StatusCode, want)
			}
		}
		_ = g.close()
		h.Close()
	}
}
