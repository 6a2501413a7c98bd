package inbox

import (
	"net"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// Who knows our state and answers as we would, but is another user, is a stranger: its page would be shown to our person.
func TestWhoHoldsOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can answer by a socket of another user")
	}
	for user, want := range map[int]holder{0: heldBySame, 65534: heldByStranger} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go answerAs(user, l.(*net.TCPListener))
		if got := whoHolds(t.Context(), l.Addr().String(), testState); got != want {
			t.Errorf("user %d is taken for %d, want %d", user, got, want)
		}
	}
}

// answerAs answers one connection: a socket belongs to whose rights its thread has when it takes it.
func answerAs(user int, l *net.TCPListener) {
	runtime.LockOSThread() // and never unlocks: the thread ends with this goroutine
	_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(user), 0, 0)
	file, err := l.File()
	if err != nil {
		return
	}
	defer file.Close()
	fd := int(file.Fd()) // it waits from here on
	if syscall.SetNonblock(fd, false) != nil {
		return
	}
	c, _, err := syscall.Accept(fd)
	if err != nil {
		return
	}
	defer syscall.Close(c)
	_, _ = syscall.Read(c, make([]byte, 4096))
	const body = `{"patterngate":"1","state":"` + testState + `"}`
	_, _ = syscall.Write(c, []byte("HTTP/1.1 200 OK\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body))
	_, _ = syscall.Read(c, make([]byte, 1)) // until the other end has looked
}
