package httptool

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"

	"patterngate/catalog"
)

// LocalError is a fault of Patterngate, found before anything was sent, such as a secret that cannot be read.
type LocalError struct{ cause error }

// Error returns the cause, which contains no secret.
func (e *LocalError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *LocalError) Unwrap() error { return e.cause }

// Local reports that Patterngate, not the server, caused the fault: no circuit breaker counts it.
func (e *LocalError) Local() bool { return true }

// attempt sends the request once, follows redirects, and interprets the reply.
func (t *Tool) attempt(ctx context.Context, call catalog.Call) (any, error) {
	u, bad := t.address.build(call.Args)
	body, contentType, unfit := t.payload.make(call.Args)
	if bad = append(bad, unfit...); len(bad) > 0 {
		err := fmt.Errorf(badArgument, t.name, bad[0].Pointer, bad[0].Want)
		return nil, &catalog.Fault{Kind: catalog.Declined, Cause: &LocalError{err}}
	}
	fields, err := t.fields(ctx, call.Key, contentType)
	if err != nil {
		return nil, &catalog.Fault{Kind: catalog.NotSent, Cause: &LocalError{fmt.Errorf("%s: %w", t.name, err)}}
	}
	if err := t.addSecrets(ctx, u); err != nil {
		return nil, &catalog.Fault{Kind: catalog.NotSent, Cause: &LocalError{fmt.Errorf("%s: %w", t.name, err)}}
	}
	var sent delivery
	response, err := t.follow(httptrace.WithClientTrace(ctx, sent.trace()), u, fields, body)
	if err != nil {
		return nil, t.lost(ctx, err, sent.happened())
	}
	defer func() { _ = response.Body.Close() }() // unread data is not needed
	return t.judge(ctx, call, response)
}

// addSecrets adds the query members whose values are secrets, after all others.
func (t *Tool) addSecrets(ctx context.Context, u *url.URL) error {
	for _, q := range t.secretQuery {
		text, err := q.secret.Text(ctx)
		if err != nil {
			return fmt.Errorf(querySecret, q.name, err)
		}
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += q.name + "=" + encode(text)
	}
	return nil
}

// fields returns the request's headers, with their secrets.
func (t *Tool) fields(ctx context.Context, key, contentType string) (http.Header, error) {
	fields := http.Header{
		"Accept":          {"application/json, text/plain;q=0.9, */*;q=0.1"},
		"Accept-Encoding": {"gzip"},
		"User-Agent":      {"patterngate"},
	}
	if contentType != "" {
		fields.Set("Content-Type", contentType)
	}
	for _, h := range t.headers {
		text := h.text
		if h.secret != nil {
			secret, err := h.secret.Text(ctx)
			if err != nil {
				return nil, fmt.Errorf(headerSecret, h.name, err)
			}
			if text = h.prefix + secret; !isFieldValue(text) {
				return nil, fmt.Errorf(headerSecretControl, h.name)
			}
		}
		fields.Set(h.name, text)
	}
	if t.keyHeader != "" {
		if !isFieldValue(key) || key == "" {
			return nil, errors.New(noKey)
		}
		fields.Set(t.keyHeader, key)
	}
	return fields, nil
}

// follow sends the request and follows redirects to the same origin. A redirect that is not followed is the reply.
func (t *Tool) follow(ctx context.Context, u *url.URL, fields http.Header, body []byte) (*http.Response, error) {
	for followed := 0; ; followed++ {
		response, err := t.transport.RoundTrip(t.request(ctx, u, fields, body))
		if err != nil {
			return nil, err
		}
		next := t.redirect(u, response)
		if next == nil || followed >= t.redirects {
			return response, nil
		}
		_ = response.Body.Close()
		u = next
	}
}

// request returns one request. If it may not be repeated, its body can be read only once, so that no transport can
// resend it.
func (t *Tool) request(ctx context.Context, u *url.URL, fields http.Header, body []byte) *http.Request {
	r := &http.Request{Method: t.method, URL: u, Host: u.Host, Header: fields.Clone(), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	if len(body) > 0 {
		again := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.Body, _ = again()
		r.ContentLength = int64(len(body))
		if t.repeatable {
			r.GetBody = again
		}
	}
	return r.WithContext(ctx)
}

// redirect returns the URL to which a reply redirects. It returns nil if that is not followed: another origin, a user
// part, or not a redirect.
func (t *Tool) redirect(from *url.URL, response *http.Response) *url.URL {
	switch response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil
	}
	location := response.Header.Get("Location")
	if location == "" || t.success.exact[response.StatusCode] {
		return nil
	}
	to, err := from.Parse(location)
	if err != nil || to.User != nil || originOf(to) != originOf(from) {
		return nil
	}
	to.Fragment, to.RawFragment = "", ""
	return to
}

// delivery records whether a byte of a request was written. The zero delivery means that the request got no connection.
type delivery struct {
	mu     sync.Mutex
	conn   *countedConn
	before int64 // bytes written on conn before the request
	sure   bool  // written on an earlier connection, or unknown
}

// trace records the connections of a request.
func (d *delivery) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.sure = d.written()
		conn := got.Conn
		if secure, ok := conn.(*tls.Conn); ok {
			conn = secure.NetConn()
		}
		counted, ok := conn.(*countedConn)
		if !ok {
			d.sure = true // a connection without a count may have carried it
			return
		}
		d.conn, d.before = counted, counted.written.Load()
	}}
}

func (d *delivery) written() bool {
	return d.sure || d.conn != nil && d.conn.written.Load() > d.before
}

// happened reports whether a byte was written. After a failed round trip the transport writes nothing more.
func (d *delivery) happened() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.written()
}

// originOf returns scheme, host and port.
func originOf(u *url.URL) [3]string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return [3]string{u.Scheme, lower(u.Hostname()), port}
}
