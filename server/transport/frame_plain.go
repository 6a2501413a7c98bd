package transport

import "bytes"

// plainFrame reads a request or notification in the form that nearly all clients use: the four members of JSON-RPC,
// each once and spelled exactly, with an id and a method that need no decoding. It takes a tenth of the time of
// [readFrame] and returns the same frame. It does not check that the params are JSON. ok is false for every other
// message, also for cancellations: then use readFrame.
func plainFrame(body []byte) (frame, bool) {
	p := frameReader{body: body}
	f := frame{}
	var version, params bool
	p.want('{')
	for {
		name := p.text()
		p.want(':')
		switch string(name) {
		case `"jsonrpc"`:
			p.need(!version && string(p.text()) == `"2.0"`)
			version = true
		case `"id"`:
			id := p.scalar()
			p.need(f.id == "" && plainID(id))
			f.id = string(id)
		case `"method"`:
			method := p.text()
			p.need(f.method == "" && len(method) > 2 && plainID(method))
			if !p.odd {
				f.method = string(method[1 : len(method)-1])
			}
		case `"params"`:
			p.need(!params)
			p.object()
			params = true
		default:
			p.odd = true
		}
		if p.odd {
			return frame{}, false
		}
		if p.next() != ',' {
			break
		}
		p.at++
	}
	p.want('}')
	p.need(p.next() == 0 && p.at == len(body) && version && f.method != "" && f.method != methodCancel)
	return f, !p.odd
}

// frameReader reads a text from left to right. After odd is true, what its methods return means nothing.
type frameReader struct {
	body []byte
	at   int
	odd  bool
}

func (p *frameReader) need(ok bool) { p.odd = p.odd || !ok }

// next skips white space and returns the byte after it, or 0 at the end.
func (p *frameReader) next() byte {
	for p.at < len(p.body) {
		switch c := p.body[p.at]; c {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return c
		}
	}
	return 0
}

func (p *frameReader) want(c byte) {
	p.need(p.next() == c)
	p.at++
}

// text reads a string and returns it with its quotes. A string with an escape is cut at the escaped quote, so it
// matches none of the names and ids that the callers expect.
func (p *frameReader) text() []byte {
	if p.next() != '"' {
		p.odd = true
		return nil
	}
	length := bytes.IndexByte(p.body[p.at+1:], '"')
	if length < 0 {
		p.odd = true
		return nil
	}
	from := p.at
	p.at += length + 2
	return p.body[from:p.at]
}

// scalar reads a string or digits.
func (p *frameReader) scalar() []byte {
	if p.next() == '"' {
		return p.text()
	}
	from := min(p.at, len(p.body))
	for p.at < len(p.body) && p.body[p.at] >= '0' && p.body[p.at] <= '9' {
		p.at++
	}
	return p.body[from:min(p.at, len(p.body))]
}

// object skips an object by counting its braces.
func (p *frameReader) object() {
	p.need(p.next() == '{')
	for depth := 0; p.at < len(p.body); p.at++ {
		switch p.body[p.at] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				p.at++
				return
			}
		case '"':
			for p.at++; p.at < len(p.body) && p.body[p.at] != '"'; p.at++ {
				if p.body[p.at] == '\\' {
					p.at++
				}
			}
		}
	}
	p.odd = true
}
