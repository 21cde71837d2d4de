package main

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// A client that turns notifications on and never reads, beside one that works: the server's memory
// stays where it is, the other is served, and the first is told what it has missed when it reads
// again.
func TestClientThatNeverReads(t *testing.T) {
	t.Parallel()
	// The memory measured below is what is kept, and not what a busy machine's collector is behind.
	srv := listenWith(t, "GOGC=20")
	slow, busy := srv.dial(), srv.dial()
	reading := make(chan struct{})
	read := sync.OnceFunc(func() { close(reading) })
	defer read()
	dropped := make(chan client.Event, 1)
	err := slow.Subscribe(slow.ctx, func(e client.Event) {
		<-reading
		if e.Dropped {
			select {
			case dropped <- e:
			default:
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	flood := times(32, 1000) << 20
	f := busy.sh(fmt.Sprintf("read x; seq -f %%079.0f 100000; echo w$((1))arm; read x; seq -f %%079.0f %d; echo e$((1))nd", flood/80))
	f.text("\n")
	f.wait(client.Regexp(`(?m)^w1arm$`)) // scrollback and transcript are full
	before := memory(t, srv.program.Process.Pid, "VmHWM")
	f.text("\n")
	beside := busy.create("cat")
	for i := 0; ; i++ { // turns beside the flood, as many as there is time for
		beside.waitSince(beside.text("turn\n"), client.Text("turn"))
		m, err := f.Wait(busy.ctx, client.Regexp(`(?m)^e1nd$`), client.Within(0))
		if err == nil {
			if i == 0 {
				t.Error("no turn was taken beside the flood")
			}
			if tail := m.TranscriptTail; !strings.Contains(tail, fmt.Sprintf("000%d\r\ne1nd", flood/80)) {
				t.Errorf("the flood ended with %q", tail[max(0, len(tail)-100):])
			}
			break
		}
		wantError(t, err, client.CodeTimeout, "timeout")
	}
	grown := memory(t, srv.program.Process.Pid, "VmHWM") - before
	t.Logf("with %d MiB of output the server has grown by %d MiB", flood>>20, grown>>10)
	if grown > flood/2>>10 {
		t.Error("the server keeps what nobody reads")
	}
	read()
	select {
	case e := <-dropped:
		if e.Session != f.ID || e.Output == "" {
			t.Errorf("told of dropped output by %+v", e)
		}
	case <-slow.ctx.Done():
		t.Error("the slow client was never told that it missed something")
	}
}

// Replies cannot be merged: a client that asks and asks and reads nothing is not read any more,
// then cut off.
func TestClientThatLeavesRepliesUnread(t *testing.T) {
	t.Parallel()
	srv := listen(t, "--max-reply-bytes", "1000000")
	beside := srv.dial()
	s := beside.sh("echo up; exec cat")
	s.wait(client.Text("up"))
	before := memory(t, srv.program.Process.Pid, "VmRSS")
	conn, err := net.Dial("unix", srv.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// The server takes requests until it has a megabyte of answers that nobody reads, cuts the
	// connection, and the write fails.
	ask := bytes.Repeat([]byte(`{"jsonrpc":"2.0","id":1,"method":"session.snapshot","params":{"session":"`+s.ID+`"}}`+"\n"), 100)
	written, err := int64(0), error(nil)
	for err == nil && written < 1<<30 {
		var n int
		n, err = conn.Write(ask)
		written += int64(n)
	}
	if err == nil {
		t.Errorf("the server took %d bytes of requests", written)
	}
	if grown := memory(t, srv.program.Process.Pid, "VmHWM") - before; grown > 200<<10 {
		t.Errorf("the server has grown by %d MiB", grown>>10)
	}
	if exit := s.snapshot("none").Exit; exit != nil {
		t.Fatalf("the session has ended: %+v", *exit)
	}
	s.waitSince(s.text("still here\n"), client.Text("still here"))
}
