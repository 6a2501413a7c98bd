package httptool

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"patterngate/catalog"
	"patterngate/ijson"
)

// maxBody is the maximum size, in bytes, of a reply that is read, both compressed and decompressed.
const maxBody = 8 << 20

// errTooLong reports that a reply is longer than maxBody.
var errTooLong = fmt.Errorf(replyTooLong, maxBody)

// judge returns the observation of a reply, or a fault with what is known about the call.
func (t *Tool) judge(ctx context.Context, call catalog.Call, response *http.Response) (any, error) {
	code := response.StatusCode
	switch {
	case t.success.exact[code]:
	case t.missing.has(code):
		return catalog.Told{Value: map[string]any{"error": "not_found", "status": float64(code)}}, nil
	case !t.success.has(code):
		return nil, t.refused(response)
	}
	text, err := readBody(response)
	if err != nil {
		return nil, t.cut(ctx, err)
	}
	reply, observation, err := understood(response, text)
	if err == nil && t.output != nil {
		observation, err = t.output(call.Args, reply)
	}
	if err != nil {
		return nil, &catalog.Fault{Kind: catalog.Unreadable, Cause: fmt.Errorf("%s: %w", t.name, err)}
	}
	return observation, nil
}

// readBody reads a whole body and decompresses it. Every step has a limit.
func readBody(response *http.Response) ([]byte, error) {
	if response.Request.Method == http.MethodHead { // the length belongs to a body that does not come
		return nil, nil
	}
	if response.ContentLength > maxBody {
		return nil, errTooLong
	}
	text, err := readBounded(response.Body)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	switch encoding := lower(strings.Join(response.Header.Values("Content-Encoding"), ", ")); encoding {
	case "", "identity":
		return text, nil
	case "gzip", "x-gzip":
		unpacked, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf(replyNotGzip, err)
		}
		return readBounded(unpacked)
	default:
		return nil, fmt.Errorf(replyEncoding, ijson.Cut(encoding, 80))
	}
}

func readBounded(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err == nil && len(text) > maxBody {
		err = errTooLong
	}
	return text, err
}

// understood reads a reply by its content type and returns the observation. A JSON object is the observation itself,
// other JSON becomes {"value"}, a text becomes {"text"}, and an empty body becomes {}.
func understood(response *http.Response, text []byte) (Response, any, error) {
	reply := Response{Status: response.StatusCode, Headers: make(map[string]string, len(response.Header))}
	for name, values := range response.Header {
		reply.Headers[lower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
	}
	if len(text) == 0 {
		return reply, map[string]any{}, nil
	}
	kind, err := contentType(response.Header.Get("Content-Type"))
	if err != nil {
		return reply, nil, err
	}
	switch {
	case kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"):
		if reply.Body, err = ijson.DecodeLimit(text, maxBody); err != nil {
			return reply, nil, fmt.Errorf(replyNotJSON, err)
		}
		if object, ok := reply.Body.(map[string]any); ok {
			return reply, object, nil
		}
		return reply, map[string]any{"value": reply.Body}, nil
	case strings.HasPrefix(kind, "text/"):
		if !utf8.Valid(text) {
			return reply, nil, errors.New(replyNotUTF8)
		}
		reply.Body = string(text)
		return reply, map[string]any{"text": reply.Body}, nil
	}
	return reply, nil, fmt.Errorf(replyContentType, ijson.Cut(kind, 80))
}

// contentType returns the media type of a reply in UTF-8. Another charset is an error.
func contentType(header string) (string, error) {
	kind, parameters, err := mime.ParseMediaType(header)
	if err != nil {
		return "", fmt.Errorf(replyNoContentType, err)
	}
	switch charset := lower(parameters["charset"]); charset {
	case "", "utf-8", "utf8", "us-ascii":
		return kind, nil
	default:
		return "", fmt.Errorf(replyCharset, ijson.Cut(charset, 80))
	}
}

func lower(text string) string { return strings.ToLower(text) }
