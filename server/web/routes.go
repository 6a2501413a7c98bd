package web

import (
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"patterngate/patterns"
	"patterngate/server/web/wording"
)

// handle answers one method of one path.
type handle func(http.ResponseWriter, *http.Request)

// routes returns the handler of the paths that need a sign-in (spec/surface.md section 6).
func (p *Pages) routes() http.Handler {
	mux := http.NewServeMux()
	for path, methods := range map[string]map[string]handle{
		"/{$}":            {"GET": p.inbox},
		"/a/{id}":         {"GET": p.approval, "POST": p.decide},
		"/r":              {"GET": p.runs},
		"/r/{id}":         {"GET": p.run},
		"/r/{id}/receipt": {"GET": p.receipt},
		"/r/{id}/export":  {"GET": p.export},
		"/r/{id}/verify":  {"POST": p.verify},
		"/p/{id}":         {"GET": p.plan},
		"/live":           {"GET": p.live},
	} {
		mux.HandleFunc(path, p.only(methods))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.refuse(w, r, http.StatusNotFound, wording.NoSuchPage)
	})
	return mux
}

// only answers the methods that a path has, and tells other requests which these are.
func (p *Pages) only(methods map[string]handle) http.HandlerFunc {
	if get, ok := methods["GET"]; ok {
		methods["HEAD"] = get
	}
	allowed := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
	return func(w http.ResponseWriter, r *http.Request) {
		answer, ok := methods[r.Method]
		if !ok {
			w.Header().Set("Allow", allowed)
			p.refuse(w, r, http.StatusMethodNotAllowed, wording.Takes(allowed))
			return
		}
		answer(w, r)
	}
}

var (
	approvalID = regexp.MustCompile(`^ap_[0-9a-f]{16}$`)
	runID      = regexp.MustCompile(`^run_[0-9a-f]{16}$`)
)

// fault answers a request whose data could not be read. The cause goes to the log, not to browsers.
func (p *Pages) fault(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, patterns.ErrNoApproval):
		p.refuse(w, r, http.StatusNotFound, wording.NoSuchQuestion)
	case errors.Is(err, patterns.ErrNoRun):
		p.refuse(w, r, http.StatusNotFound, wording.NoSuchRun)
	case errors.Is(err, patterns.ErrNoPlan):
		p.refuse(w, r, http.StatusNotFound, wording.NoSuchPlan)
	case errors.Is(err, patterns.ErrPlanCorrupt):
		p.config.Log.ErrorContext(r.Context(), "inbox", "cause", err)
		p.refuse(w, r, http.StatusInternalServerError, wording.PlanDamaged)
	case errors.Is(err, patterns.ErrCursor):
		p.refuse(w, r, http.StatusBadRequest, wording.NotAPage)
	default:
		p.config.Log.ErrorContext(r.Context(), "inbox", "cause", err)
		w.Header().Set("Retry-After", "1")
		p.refuse(w, r, http.StatusServiceUnavailable, wording.StateUnreadable)
	}
}

// form reads a form of at most 64 KiB and checks that it belongs to this session. Otherwise it answers the request
// itself.
func (p *Pages) form(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	r.URL.RawQuery = "" // only the body may say what to do
	if err := r.ParseForm(); err != nil {
		if _, long := errors.AsType[*http.MaxBytesError](err); long {
			p.refuse(w, r, http.StatusRequestEntityTooLarge, wording.FormTooLarge)
			return false
		}
		p.refuse(w, r, http.StatusBadRequest, wording.NoForm)
		return false
	}
	if !sameText(r.PostForm.Get("csrf"), sessionOf(r.Context()).csrf) {
		p.refuse(w, r, http.StatusForbidden, wording.OtherSignIn, wording.OpenAgain)
		return false
	}
	return true
}
