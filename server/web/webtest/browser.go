package webtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// patience is how long one step may take before the test fails.
const patience = 2 * time.Minute

// Browser is a Chromium of its own, with a profile of its own.
type Browser struct {
	wire    *wire
	picture sync.Mutex // held while a page is in front for its picture
}

// Start starts a browser, which is closed when the test ends. The test is skipped where CI is not set.
func Start(t testing.TB) *Browser {
	t.Helper()
	if os.Getenv("CI") == "" {
		t.Skip("drives a real browser, which takes seconds and needs Chromium: CI only")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("no browser: %v; apt-get install chromium", err)
	}
	b, err := start(t, path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return b
}

// start starts a Chromium that reads calls from its descriptor 3 and writes answers to 4.
func start(t testing.TB, path string) (*Browser, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}
	var said bytes.Buffer
	cmd := exec.Command(path, flags(t.TempDir())...)
	cmd.Env = append(os.Environ(), "DBUS_SESSION_BUS_ADDRESS=disabled:") // or it looks for a desktop
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.Stderr = &said
	cmd.WaitDelay = time.Second
	err = cmd.Start()
	_, _ = theirIn.Close(), theirOut.Close() // the child has them
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	b := &Browser{wire: newWire(in)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b.wire.read(out)
	}()
	t.Cleanup(func() {
		b.close(cmd, in)
		<-read
		_ = out.Close()
		if t.Failed() {
			t.Logf("the browser said: %.2000s", said.Bytes())
		}
	})
	return b, nil
}

// flags returns the flags for a test: no window, no calls to the maker, and no sandbox for root, which cannot use one.
func flags(profile string) []string {
	f := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + profile, "--no-first-run", "--no-default-browser-check",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-default-apps",
		"--disable-gpu", "--disable-dev-shm-usage", "--disable-search-engine-choice-screen", "--metrics-recording-only", "--mute-audio",
		"--force-color-profile=srgb", "--font-render-hinting=none", "--lang=en-US", "--log-level=3",
		"--hide-scrollbars",                                                                                                     // a picture is as wide as the window
		"--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding", "--disable-background-timer-throttling", // several pages are in use at once
		"--no-proxy-server",
	}
	if os.Getuid() == 0 {
		f = append(f, "--no-sandbox")
	}
	return append(f, "about:blank")
}

// close ends the browser: it leaves when its pipe is closed, or is killed.
func (b *Browser) close(cmd *exec.Cmd, in io.Closer) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = b.wire.call(ctx, "", "Browser.close", struct{}{}, nil) // it may be gone
	_ = in.Close()
	kill := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_ = cmd.Wait() // how it ends is of no interest
}
