package main

import (
	"crypto/subtle"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// faults are what goes wrong on demand. The zero faults are none.
type faults struct {
	lose   int // of 100 paid refunds, without a reply
	cut    int // of 100 paid refunds, with half of the reply
	seed   uint64
	slow   time.Duration // before the reply to a paid refund
	slowOf int           // of 100 replies, that wait so
	hold   bool          // the first request with each key gets no reply
	again  bool          // the same key is paid again
}

// service answers requests.
type service struct {
	book   *ledger
	token  string
	faults faults

	mu     sync.Mutex
	random *rand.Rand
}

// The grammar of what is asked for.
var (
	keyGrammar   = regexp.MustCompile(`^[A-Za-z0-9._~:-]{1,128}$`)
	orderGrammar = regexp.MustCompile(`^A-[0-9]{4}$`)
)

// maxRequest bounds a request's body, in bytes.
const maxRequest = 64 << 10

// newService returns the service over a ledger.
func newService(book *ledger, token string, f faults) http.Handler {
	s := &service{book: book, token: token, faults: f, random: rand.New(rand.NewPCG(f.seed, 0))}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /refunds", s.pay)
	mux.HandleFunc("GET /refunds", s.list)
	mux.HandleFunc("GET /refunds/{key}", s.find)
	return s.guarded(mux)
}

// guarded demands the token.
func (s *service) guarded(next http.Handler) http.Handler {
	want := []byte("Bearer " + s.token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			answer(w, http.StatusUnauthorized, map[string]string{"error": "the token is missing or another one"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// pay pays a refund, and then may lose the reply.
func (s *service) pay(w http.ResponseWriter, r *http.Request) {
	p := payment{Key: r.Header.Get("Idempotency-Key")}
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	body.DisallowUnknownFields()
	if err := body.Decode(&p.order); err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": "write {order_id, amount_cents, reason}"})
		return
	}
	if !keyGrammar.MatchString(p.Key) || !orderGrammar.MatchString(p.OrderID) || p.AmountCents < 1 || len(p.Reason) < 5 {
		answer(w, http.StatusBadRequest, map[string]string{"error": "a key, an order like A-1001, a positive amount and a reason"})
		return
	}
	outcome, err := s.book.pay(p, s.faults.again)
	switch {
	case err != nil:
		answer(w, http.StatusInternalServerError, map[string]string{"error": "the ledger cannot be written"})
		return
	case outcome == other:
		answer(w, http.StatusConflict, map[string]string{"error": "this key was paid for something else"})
		return
	}
	found, _ := s.book.find(p.Key)
	if s.faults.hold && found.Times == 1 && outcome == paid {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	s.misbehave(r)
	if s.falls(s.faults.cut) {
		cutShort(w, found)
	}
	code := http.StatusCreated
	if outcome == before {
		code = http.StatusOK
	}
	answer(w, code, found)
}

// misbehave waits, or closes the connection, when the refund was paid.
func (s *service) misbehave(r *http.Request) {
	if s.faults.slow > 0 && s.falls(s.faults.slowOf) {
		timer := time.NewTimer(s.faults.slow)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		}
	}
	if s.falls(s.faults.lose) {
		panic(http.ErrAbortHandler)
	}
}

// falls draws a number and reports whether it is one of the first share of 100. It draws nothing if share is 0 or 100.
func (s *service) falls(share int) bool {
	if share <= 0 || share >= 100 {
		return share > 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(100) < share
}

// cutShort sends half of a reply, whose length says that it is half, and closes the connection.
func cutShort(w http.ResponseWriter, v any) {
	text, _ := json.Marshal(v) // it is one of ours
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(text[:len(text)/2]) // the client may be gone
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// find looks one refund up.
func (s *service) find(w http.ResponseWriter, r *http.Request) {
	found, ok := s.book.find(r.PathValue("key"))
	if !ok {
		answer(w, http.StatusNotFound, map[string]string{"error": "no refund under this key"})
		return
	}
	answer(w, http.StatusOK, found)
}

// list counts the payments of each key.
func (s *service) list(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"refunds": s.book.all()})
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
