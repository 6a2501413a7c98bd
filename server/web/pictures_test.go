package web

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"html"
	"image"
	"image/color"
	imagedraw "image/draw"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/web/webtest"
)

var update = flag.Bool("update", false, "make the pictures and their text again; needs CI=true and Chromium")

const (
	pictures    = "../../docs/pictures"
	pictureText = pictures + "/approval.txt" // what the pictured pages show
	maxPicture  = 200 << 10                  // bytes
)

// decidedDemo ends the run of a pictured site: a person has approved, the refund is paid, and the run has ended.
func decidedDemo(t *testing.T, s *site) {
	t.Helper()
	a := &s.asked[0]
	answer := gateway.Answered(anAsked, a.Question, gateway.ChooseApprove, nil)
	answer.By, answer.At = "local:1000", began.Add(9*time.Minute)
	h := &history{t: t, events: s.records[aRun]}
	h.add(541, patterns.OutcomeEvent, "approve#1", `{"state":"ok","by":"local:1000","channel":"page","assurance":"user","decision":`+string(answer.Object())+`,
		"output":{"approved":true,"by":"local:1000","comment":"","approval_id":"`+anAsked+`","decided_at":"2026-11-21T09:39:00Z"}}`)
	h.effect(541.1, 541.9, "issue_refund#1", `{"effect_kind":"tool","name":"issue_refund","effect":"write","input":{"user_id":42,"amount_usd":1200,"reason":"Customer requested refund within policy review"},
		"grant":"`+anAsked+`","verdict":{"decision":"escalate","rule":"high_refund_requires_human"}}`, `{"state":"ok","output":{"status":"ok"}}`)
	h.add(542, patterns.EndEvent, "", `{"status":"ok","stop_reason":"success","envelope":{"budget":{"max_steps":{"limit":8,"used":3},"max_seconds":{"limit":60,"used":1.2}}},"usage":{"model":"rules"}}`)
	s.records[aRun] = h.events
	a.State, a.Spent = patterns.AskedDecided, true
	a.Given = &patterns.Given{Answer: answer, Channel: "page", Assurance: gateway.UserAssurance}
}

// pictured returns the two pages of a picture: what shows them, and after what they are shown.
func pictured(t *testing.T) (s *site, pages []func() (path string)) {
	t.Helper()
	s = askedDemo(t)
	s.now = began.Add(8 * time.Minute)
	s.pages.config.People = func(id string) string { return strings.Replace(id, "local:1000", "ben", 1) }
	return s, []func() string{
		func() string { return "/a/" + anAsked },
		func() string {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.now = began.Add(12 * time.Minute)
			decidedDemo(t, s)
			return "/r/" + aRun
		},
	}
}

var blanks = regexp.MustCompile(`\s*\n\s*`)

// wordsOf returns what people read on a page, with one line for each element.
func wordsOf(page string) string {
	text := html.UnescapeString(tagOf.ReplaceAllString(mainOf(page), "\n"))
	return strings.TrimSpace(blanks.ReplaceAllString(text, "\n"))
}

// The pictures of the README show the present pages: the approval, and the run that it belongs to. Beside them is the text of these pages,
// by which this test finds pictures that are out of date on every machine. With -update it makes both again.
func TestPictures(t *testing.T) {
	s, pages := pictured(t)
	var text strings.Builder
	fmt.Fprintf(&text, "The text of the pages in these pictures. To make both again: CI=true go test ./server/web -run TestPictures -update\n\nstyle sha256:%x\n", sha256.Sum256([]byte(stylesheet)))
	for _, page := range pages {
		path := page()
		fmt.Fprintf(&text, "\n# %s\n%s\n", path, wordsOf(s.get(path).Body.String()))
	}
	if *update {
		paint(t)
		if err := os.WriteFile(pictureText, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(pictureText)
	if err != nil || string(kept) != text.String() {
		t.Errorf("the pictures in docs/pictures are out of date (%v): CI=true go test ./server/web -run TestPictures -update\nThe pages show now\n%s", err, text.String())
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"approval-light.png", "approval-dark.png"} {
		file, err := os.ReadFile(filepath.Join(pictures, name))
		if err != nil {
			t.Fatal(err)
		}
		if is, err := png.DecodeConfig(bytes.NewReader(file)); err != nil || is.Width < 1200 || len(file) > maxPicture {
			t.Errorf("%s: %v, %d pixels wide, %d bytes of at most %d", name, err, is.Width, len(file), maxPicture)
		}
		if !strings.Contains(string(readme), `"docs/pictures/`+name+`"`) {
			t.Errorf("the README does not show %s", name)
		}
	}
	if !regexp.MustCompile(`<img [^>]*alt="[^"]{40,}"`).Match(readme) {
		t.Error("the README has no words for its picture")
	}
}

// paint makes both pictures in a browser.
func paint(t *testing.T) {
	t.Helper()
	s, pages := pictured(t)
	url, p := visited(t, s)
	p.Zone("UTC")
	p.Size(1040, 820)
	shots := map[bool][]image.Image{}
	for _, page := range pages {
		path := page()
		for _, dark := range []bool{false, true} {
			p.Dark(dark)
			p.Open(url + path)
			webtest.Eval[bool](p, "(document.body.style.overflow = 'hidden', true)")
			shots[dark] = append(shots[dark], decodedPicture(t, p.Screenshot(fmt.Sprintf("%d-%v", len(shots[dark]), dark))))
		}
	}
	for dark, name := range map[bool]string{false: "approval-light.png", true: "approval-dark.png"} {
		var file bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		if err := encoder.Encode(&file, fewColours(beside(shots[dark], dark))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(pictures, name), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func decodedPicture(t *testing.T, path string) image.Image {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	shot, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return shot
}

// beside puts pictures of pages side by side, each cut at the height that a person sees first, with a frame.
func beside(shots []image.Image, dark bool) *image.RGBA {
	const margin, height, line = 20, 960, 1
	ground, frame := color.RGBA{0xe9, 0xec, 0xf1, 0xff}, color.RGBA{0xc4, 0xca, 0xd3, 0xff}
	if dark {
		ground, frame = color.RGBA{0x08, 0x0a, 0x0d, 0xff}, color.RGBA{0x3a, 0x42, 0x4d, 0xff}
	}
	width := margin
	for _, shot := range shots {
		width += shot.Bounds().Dx() + margin
	}
	canvas := image.NewRGBA(image.Rect(0, 0, width, height+2*margin))
	imagedraw.Draw(canvas, canvas.Bounds(), image.NewUniform(ground), image.Point{}, imagedraw.Src)
	x := margin
	for _, shot := range shots {
		at := image.Rect(x, margin, x+shot.Bounds().Dx(), margin+height)
		imagedraw.Draw(canvas, at.Inset(-line), image.NewUniform(frame), image.Point{}, imagedraw.Src)
		imagedraw.Draw(canvas, at, image.NewUniform(shot.At(2, shot.Bounds().Dy()-2)), image.Point{}, imagedraw.Src) // below a short page
		imagedraw.Draw(canvas, at, shot, image.Point{}, imagedraw.Src)
		x = at.Max.X + margin
	}
	return canvas
}

// fewColours returns a picture in its 256 most frequent colours, which makes a small file. Of each other pixel it takes the nearest.
func fewColours(from *image.RGBA) *image.Paletted {
	count := map[color.RGBA]int{}
	for y := range from.Bounds().Dy() {
		for x := range from.Bounds().Dx() {
			count[from.RGBAAt(x, y)]++
		}
	}
	all := make([]color.RGBA, 0, len(count))
	for c := range count {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int {
		if n := count[b] - count[a]; n != 0 {
			return n
		}
		return slices.Compare([]uint8{a.R, a.G, a.B}, []uint8{b.R, b.G, b.B})
	})
	palette := make(color.Palette, 0, 256)
	for _, c := range all[:min(len(all), 256)] {
		palette = append(palette, c)
	}
	to, nearest := image.NewPaletted(from.Bounds(), palette), map[color.RGBA]uint8{}
	for y := range from.Bounds().Dy() {
		for x := range from.Bounds().Dx() {
			c := from.RGBAAt(x, y)
			at, known := nearest[c]
			if !known {
				at = uint8(palette.Index(c))
				nearest[c] = at
			}
			to.SetColorIndex(x, y, at)
		}
	}
	return to
}
