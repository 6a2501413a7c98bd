package transport

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// dialAs connects by a socket of another user: a socket belongs to whose rights its thread has when it makes it.
func dialAs(t *testing.T, user int, address string) net.Conn {
	t.Helper()
	made := make(chan int)
	go func() {
		runtime.LockOSThread() // and never unlocks: the thread ends with this goroutine
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(user), 0, 0)
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			fd = -1
		}
		made <- fd
	}()
	fd := <-made
	if fd < 0 {
		t.Fatal("no socket")
	}
	to := netip.MustParseAddrPort(address)
	if err := syscall.Connect(fd, &syscall.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}); err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), "socket")
	defer file.Close()
	c, err := net.FileConn(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(deadline))
	return c
}

// A connection by another user's socket is refused; one by this user's is not. Both are real.
func TestForeignUserSocket(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a socket of another user")
	}
	h := newSite(t, HTTPConfig{})
	for user, want := range map[int]int{0: 200, 65534: 403} {
		c := dialAs(t, user, h.address)
		fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || response.StatusCode != want {
			t.Errorf("a socket of user %d: %v, %v; want status %d", user, response, err, want)
		}
	}
}
