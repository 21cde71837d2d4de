//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
	"github.com/ptywright/ptywright/protocol"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asAgent {
		scriptedAgent()
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == asSilent {
		silentServer(os.Args[2], len(os.Args) > 3)
		os.Exit(0)
	}
	programtest.Main(tests{m}, main)
}

// atEnd ends what several tests share.
var atEnd []func()

type tests struct{ *testing.M }

func (m tests) Run() int {
	code := m.M.Run()
	for _, end := range atEnd {
		end()
	}
	return code
}

// asSilent is the argument that makes this test binary a server that takes connections and ignores
// all else, also the request to end. With one more argument it holds the lock of a server.
const asSilent = "be-silent"

func silentServer(path string, locked bool) {
	signal.Ignore(syscall.SIGTERM)
	var l net.Listener
	var err error
	if locked {
		l, err = protocol.Listen(path)
	} else {
		l, err = net.Listen("unix", path)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listening")
	for {
		if _, err := l.Accept(); err != nil {
			return
		}
	}
}
