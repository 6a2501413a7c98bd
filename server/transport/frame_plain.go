package transport

import "bytes"

// plainFrame reads a request or notification as nearly all clients write it: the four members of JSON-RPC, each once
// and spelled exactly, with an id and a method that need no decoding. It costs a tenth of [readFrame], and agrees with it
// on what is JSON; whether the params are JSON it does not say. All else, cancellations too, is left to readFrame.
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

// frameReader reads a text from place to place. Once it met something odd, what it returns means nothing.
type frameReader struct {
	body []byte
	at   int
	odd  bool
}

func (p *frameReader) need(ok bool) { p.odd = p.odd || !ok }

// next is the next byte that is no white space; 0 at the end.
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

// text is a string with its quotes; one with an escape is not what the callers look for.
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

// scalar is a string, or digits.
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

// object passes over an object, by its braces.
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
