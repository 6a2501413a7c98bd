package webtest

import (
	"fmt"
	"slices"
	"strings"
)

// Click presses the mouse on the middle of an element, which must be in sight there.
func (p *Page) Click(selector string) {
	p.t.Helper()
	at := element[struct {
		X, Y  float64
		Under string
	}](p, selector, `(e.scrollIntoView({block: "center", behavior: "instant"}), (r => {
		const at = {x: r.left + r.width / 2, y: r.top + r.height / 2, under: ""};
		const top = document.elementFromPoint(at.x, at.y);
		if (!r.width || !r.height) at.under = "nothing: it takes up no room";
		else if (!top || !(e.contains(top) || top.contains(e) && top.matches("label, summary, a, button"))) at.under = top ? top.outerHTML.slice(0, 200) : "the edge";
		return at })(e.getClientRects()[0] ?? {width: 0}))`)
	if at.Under != "" {
		p.t.Fatalf("%s cannot be clicked: it is under %s", selector, at.Under)
	}
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		press := object{"type": kind, "x": at.X, "y": at.Y}
		if kind != "mouseMoved" {
			press["button"], press["clickCount"] = "left", 1
		}
		p.do("Input.dispatchMouseEvent", press, nil)
	}
}

// Follow clicks an element and returns when the page that it leads to is loaded.
func (p *Page) Follow(selector string) {
	p.t.Helper()
	p.Loads("clicking "+selector, func() { p.t.Helper(); p.Click(selector) })
}

// Fill puts text into a field in place of what is in it.
func (p *Page) Fill(selector, text string) {
	p.t.Helper()
	element[bool](p, selector, "(e.focus(), e.select(), true)")
	p.Type(text)
}

// Type types text where the focus is.
func (p *Page) Type(text string) {
	p.t.Helper()
	p.do("Input.insertText", object{"text": text}, nil)
}

// key is a key of the keyboard.
type key struct {
	code int    // Windows virtual key code, which the protocol goes by
	text string // what it types
}

// keys are those that can be pressed, by their DOM names.
func keys() map[string]key {
	return map[string]key{
		"Tab": {9, ""}, "Enter": {13, "\r"}, "Escape": {27, ""}, "Space": {32, " "}, "Backspace": {8, ""}, "Home": {36, ""}, "End": {35, ""},
		"ArrowLeft": {37, ""}, "ArrowUp": {38, ""}, "ArrowRight": {39, ""}, "ArrowDown": {40, ""},
	}
}

// Press presses a key: Tab, Enter, Escape, Space, Backspace, Home, End or an arrow such as ArrowDown, each also with
// "Shift+" before it.
func (p *Page) Press(name string) {
	p.t.Helper()
	plain, shift := strings.CutPrefix(name, "Shift+")
	k, ok := keys()[plain]
	if !ok {
		p.t.Fatalf("no key %q", name)
	}
	press := object{"type": "keyDown", "key": plain, "code": plain, "windowsVirtualKeyCode": k.code}
	if plain == "Space" {
		press["key"] = " "
	}
	if k.text != "" {
		press["text"] = k.text
	}
	if shift {
		press["modifiers"] = 8
	}
	p.do("Input.dispatchKeyEvent", press, nil)
	press["type"] = "keyUp"
	delete(press, "text")
	p.do("Input.dispatchKeyEvent", press, nil)
}

// Stop is where the focus is. The zero Stop is the page itself.
type Stop struct {
	Element string // such as button#approve or input[comment]
	Name    string // what is said of it: its label or text
	Ring    bool   // it looks otherwise than without the focus
	InSight bool   // it is within the window
}

// String is the stop in a line.
func (s Stop) String() string { return fmt.Sprintf("%s %q", s.Element, s.Name) }

// Focused is where the focus is.
func (p *Page) Focused() Stop {
	p.t.Helper()
	return Eval[Stop](p, `(e => {
		if (!e || e === document.body || e === document.documentElement) return {};
		const style = getComputedStyle(e), box = e.getBoundingClientRect();
		return {
			element: e.localName + (e.id ? "#" + e.id : e.name ? "[" + e.name + "]" : ""),
			name: (e.ariaLabel || [...(e.labels ?? [])].map(l => l.innerText).join(" ") || e.innerText || e.value || e instanceof SVGElement && e.textContent || "").trim().slice(0, 100),
			ring: e.matches(":focus-visible") && (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== "none"),
			inSight: box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth,
		} })(document.activeElement)`)
}

// maxStops is how many stops a walk has at most.
const maxStops = 500

// Walk presses Tab from the page's beginning until it is through, and tells where it came by.
func (p *Page) Walk() (stops []Stop) {
	p.t.Helper()
	Eval[bool](p, "(document.activeElement?.blur(), getSelection().removeAllRanges(), scrollTo(0, 0), true)")
	for range maxStops {
		p.Press("Tab")
		if Eval[bool](p, "document.activeElement === null || document.activeElement === document.body || globalThis.firstStop === document.activeElement") {
			break
		}
		if len(stops) == 0 {
			Eval[bool](p, "(globalThis.firstStop = document.activeElement, true)")
		}
		stops = append(stops, p.Focused())
	}
	Eval[bool](p, "(delete globalThis.firstStop, true)")
	return stops
}

// WalkTo presses Tab until the focus is on something of that name, or ends the test.
func (p *Page) WalkTo(name string) Stop {
	p.t.Helper()
	var passed []string
	for range maxStops {
		p.Press("Tab")
		s := p.Focused()
		if s.Name == name {
			return s
		}
		if passed = append(passed, s.String()); s == (Stop{}) && slices.Contains(passed[:len(passed)-1], s.String()) {
			break
		}
	}
	p.t.Fatalf("no Tab leads to %q; it passes\n%s", name, strings.Join(passed, "\n"))
	return Stop{}
}
