package server

import (
	"net"
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
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}
