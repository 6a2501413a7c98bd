package webtest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Size sets the window's size in CSS pixels.
func (p *Page) Size(width, height int) {
	p.t.Helper()
	p.do("Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Prefer says what the person prefers, by CSS media features such as "prefers-color-scheme", "dark"; what was said before
// is forgotten.
func (p *Page) Prefer(featuresAndValues ...string) {
	p.t.Helper()
	features := []object{}
	for i := 0; i+1 < len(featuresAndValues); i += 2 {
		features = append(features, object{"name": featuresAndValues[i], "value": featuresAndValues[i+1]})
	}
	p.do("Emulation.setEmulatedMedia", object{"features": features}, nil)
}

// Dark says whether the person prefers dark pages.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	p.Prefer("prefers-color-scheme", map[bool]string{true: "dark", false: "light"}[dark])
}

// Zone sets the time zone of the person, such as "Europe/Berlin", for pages that are loaded from now on.
func (p *Page) Zone(name string) {
	p.t.Helper()
	p.do("Emulation.setTimezoneOverride", object{"timezoneId": name}, nil)
}

// Scripts says whether scripts of pages that are loaded from now on run.
func (p *Page) Scripts(run bool) {
	p.t.Helper()
	p.do("Emulation.setScriptExecutionDisabled", object{"value": !run}, nil)
}

// Overflow is by how many pixels the page is wider than the window; 0 means that no one has to scroll sideways.
func (p *Page) Overflow() int {
	p.t.Helper()
	return Eval[int](p, "Math.max(0, Math.ceil(document.documentElement.scrollWidth - document.documentElement.clientWidth))")
}

// maxHeight is how much of a long page a picture shows, in pixels.
const maxHeight = 8000

// Screenshot keeps a picture of the whole page as TEST.NAME.png in the test's ArtifactDir, and returns its path.
func (p *Page) Screenshot(name string) string {
	p.t.Helper()
	var m struct {
		CSSContentSize struct{ Width, Height float64 }
	}
	p.do("Page.getLayoutMetrics", object{}, &m)
	shot := p.capture(object{"format": "png", "captureBeyondViewport": true, "clip": object{
		"x": 0, "y": 0, "scale": 1, "width": m.CSSContentSize.Width, "height": min(m.CSSContentSize.Height, maxHeight)}})
	png, err := base64.StdEncoding.DecodeString(shot)
	if err != nil {
		p.t.Fatal(err)
	}
	path := filepath.Join(p.t.ArtifactDir(), strings.ReplaceAll(p.t.Name(), "/", ".")+"."+name+".png")
	if err := os.WriteFile(path, png, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// captures is how often a picture is asked for: a busy browser sometimes draws no new frame and gives no answer. A picture
// changes nothing, so it can be asked for again.
const captures = 4

// capture returns a picture in base64. Chromium draws only the page in front for certain, so one page at a time is brought there.
func (p *Page) capture(how object) string {
	p.t.Helper()
	p.browser.picture.Lock()
	defer p.browser.picture.Unlock()
	var shot struct{ Data string }
	for try := 1; ; try++ {
		p.do("Page.bringToFront", object{}, nil)
		err := p.tryFor(patience/captures, "Page.captureScreenshot", how, &shot)
		if err == nil {
			return shot.Data
		}
		if try == captures || !errors.Is(err, context.DeadlineExceeded) {
			p.t.Fatal(err)
		}
	}
}

// Violation is a rule of axe-core that the page breaks.
type Violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML           string
		FailureSummary string
	}
}

// String says what is broken, and where.
func (v Violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s", v.ID, v.Impact, v.Help)
	for _, n := range v.Nodes {
		fmt.Fprintf(&b, "\n\t%.200s\n\t\t%s", n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", "\n\t\t"))
	}
	return b.String()
}

// Axe runs all rules of axe-core except the experimental ones on the present page, and returns the violations. The rules
// run in a JavaScript world of their own, so the page's content security policy does not restrict them.
func (p *Page) Axe() []Violation {
	p.t.Helper()
	source, err := os.ReadFile(os.Getenv("AXE"))
	if err != nil {
		p.t.Fatalf("AXE does not name the file axe.min.js of npm's axe-core: %v", err)
	}
	var world struct{ ExecutionContextID int }
	p.do("Page.createIsolatedWorld", object{"frameId": p.frame, "worldName": "axe"}, &world)
	if _, err := p.eval(string(source)+"\n;true", world.ExecutionContextID); err != nil {
		p.t.Fatalf("axe-core: %v", err)
	}
	raw, err := p.eval("axe.run(document, {resultTypes: ['violations'], preload: false}).then(r => r.violations)", world.ExecutionContextID)
	if err != nil {
		p.t.Fatalf("axe.run: %v", err)
	}
	return decoded[[]Violation](p, raw)
}
