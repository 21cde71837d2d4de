//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// This file holds what ptywright is measured against: the least that a program can do and still do
// the job.

// openPTY returns a non-blocking master and the path of its slave.
func openPTY(rows, cols int) (*os.File, string, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, "", fmt.Errorf("open /dev/ptmx: %w", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(cols)})
	}
	if err != nil {
		unix.Close(fd)
		return nil, "", fmt.Errorf("set up a PTY: %w", err)
	}
	return os.NewFile(uintptr(fd), "ptmx"), "/dev/pts/" + strconv.Itoa(n), nil
}

// startOnPTY starts argv on a PTY of 24x80.
func startOnPTY(argv []string) (*os.File, *exec.Cmd, error) {
	master, name, err := openPTY(24, 80)
	if err != nil {
		return nil, nil, err
	}
	slave, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		master.Close()
		return nil, nil, err
	}
	defer slave.Close()
	c := exec.Command(argv[0], argv[1:]...)
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		master.Close()
		return nil, nil, err
	}
	return master, c, nil
}

// readUntil runs argv on a PTY and reads until it has seen text, parsing nothing: the limit for
// throughput.
func readUntil(argv []string, text string) (time.Duration, error) {
	begin := time.Now()
	master, c, err := startOnPTY(argv)
	if err != nil {
		return 0, err
	}
	defer c.Wait()
	defer master.Close()
	buf, want := make([]byte, 64<<10), []byte(text)
	kept := 0 // bytes at the start of buf from the end of an earlier read
	for {
		n, err := master.Read(buf[kept:])
		if err != nil {
			return 0, fmt.Errorf("%q was not printed: %w", text, err)
		}
		if bytes.Contains(buf[:kept+n], want) {
			return time.Since(begin), nil
		}
		end := kept + n
		kept = min(len(want)-1, end)
		copy(buf, buf[end-kept:end])
	}
}

// stub is a server of ptywright's wire that parses nothing: raw PTYs, a bounded tail, a substring
// search. It is the floor for any server with this protocol.
type stub struct {
	mu sync.Mutex
	// protects the fields below
	next     int
	sessions map[string]*stubSession
}

type stubSession struct {
	master *os.File
	cmd    *exec.Cmd

	mu sync.Mutex
	// protects the fields below
	tail    []byte
	waiting map[chan struct{}][]byte
}

// stubTail is the least amount of output that a stub session keeps, in bytes.
const stubTail = 8 << 10

// serveStub takes the arguments that ptywright takes: serve --stdio, or serve --socket PATH.
func serveStub(args []string) {
	s := &stub{sessions: map[string]*stubSession{}}
	onEachConnection(args, s.serve)
}

// serveLines answers each line with one fixed line, args[0], in one write: the limit for requests
// per second and for start-up.
func serveLines(args []string) {
	reply := []byte(args[0] + "\n")
	onEachConnection(args[1:], func(r io.Reader, w io.Writer) {
		in := bufio.NewReaderSize(r, 64<<10)
		for {
			if _, err := in.ReadSlice('\n'); err != nil {
				return
			}
			if _, err := w.Write(reply); err != nil {
				return
			}
		}
	})
}

// onEachConnection serves --stdio, or --socket PATH until the process ends.
func onEachConnection(args []string, serve func(io.Reader, io.Writer)) {
	if len(args) != 2 || args[0] != "--socket" {
		serve(os.Stdin, os.Stdout)
		return
	}
	l, err := net.Listen("unix", args[1])
	if err != nil {
		fatal("stub: %v", err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			fatal("stub: %v", err)
		}
		go func() {
			serve(c, c)
			c.Close()
		}()
	}
}

// stubParams is the union of the params of the stub's methods.
type stubParams struct {
	Session   string   `json:"session"`
	Program   string   `json:"program"`
	Args      []string `json:"args"`
	TimeoutMS int      `json:"timeout_ms"`
	Action    struct {
		Value string `json:"value"`
	} `json:"action"`
	Matcher struct {
		Value string `json:"value"`
	} `json:"matcher"`
}

func (s *stub) serve(r io.Reader, w io.Writer) {
	var wmu sync.Mutex
	reply := func(id json.RawMessage, key string, value any) {
		b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, key: value})
		if err != nil {
			fatal("stub: %v", err)
		}
		wmu.Lock()
		defer wmu.Unlock()
		w.Write(append(b, '\n'))
	}
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params stubParams      `json:"params"`
		}
		if err := json.Unmarshal(line, &q); err != nil {
			fatal("stub: %v in %q", err, line)
		}
		if q.Method == "session.wait" {
			go func() {
				key, value := s.wait(q.Params)
				reply(q.ID, key, value)
			}()
			continue
		}
		key, value := s.answer(q.Method, q.Params)
		reply(q.ID, key, value)
	}
}

func failed(code int, text string) (string, any) {
	return "error", map[string]any{"code": code, "message": text}
}

func (s *stub) answer(method string, p stubParams) (key string, result any) {
	switch method {
	case "server.capabilities":
		return "result", map[string]any{"protocol": "stub"}
	case "session.list":
		return "result", map[string]any{"sessions": []string{}}
	case "session.create":
		id, err := s.create(append([]string{p.Program}, p.Args...))
		if err != nil {
			return failed(-32603, err.Error())
		}
		return "result", map[string]any{"session": id}
	}
	one := s.session(p.Session)
	switch {
	case one == nil:
		return failed(-32602, "unknown session or method")
	case method == "session.input":
		if _, err := one.master.WriteString(p.Action.Value); err != nil {
			return failed(-32603, err.Error())
		}
		return "result", map[string]any{"sent": true}
	case method == "session.record_start": // no-op, so that every measurement runs
		return "result", map[string]any{"recording": "r1"}
	case method == "session.snapshot", method == "session.history": // likewise
		return "result", map[string]any{"sequence": 1, "complete": true}
	case method == "session.close":
		one.cmd.Process.Kill()
		one.master.Close()
		return "result", map[string]any{"closed": true}
	}
	return failed(-32601, "unknown method")
}

func (s *stub) session(id string) *stubSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

func (s *stub) create(argv []string) (string, error) {
	master, cmd, err := startOnPTY(argv)
	if err != nil {
		return "", err
	}
	one := &stubSession{master: master, cmd: cmd, waiting: map[chan struct{}][]byte{}}
	go one.pump()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	id := "s" + strconv.Itoa(s.next)
	s.sessions[id] = one
	return id, nil
}

// pump keeps the tail of the output and wakes waits for text in it.
func (o *stubSession) pump() {
	buf := make([]byte, 32<<10)
	for {
		n, err := o.master.Read(buf)
		o.mu.Lock()
		if len(o.tail)+n > 8*stubTail {
			o.tail = append(o.tail[:0], o.tail[max(0, len(o.tail)-stubTail):]...)
		}
		from := max(0, len(o.tail)-256) // a text may span two reads
		o.tail = append(o.tail, buf[:n]...)
		for ch, text := range o.waiting {
			if bytes.Contains(o.tail[from:], text) {
				close(ch)
				delete(o.waiting, ch)
			}
		}
		o.mu.Unlock()
		if err != nil {
			o.cmd.Wait()
			return
		}
	}
}

func (s *stub) wait(p stubParams) (key string, result any) {
	one := s.session(p.Session)
	if one == nil {
		return failed(-32602, "unknown session")
	}
	ch, text := make(chan struct{}), []byte(p.Matcher.Value)
	one.mu.Lock()
	if bytes.Contains(one.tail, text) {
		close(ch)
	} else {
		one.waiting[ch] = text
	}
	one.mu.Unlock()
	timeout := time.NewTimer(time.Duration(p.TimeoutMS) * time.Millisecond)
	defer timeout.Stop()
	select {
	case <-ch:
	case <-timeout.C:
		return failed(-32001, "timeout")
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	screen := one.tail[max(0, len(one.tail)-1920):] // as many bytes as 24x80 cells
	return "result", map[string]any{"matched": true, "snapshot": map[string]any{
		"plain_text": strings.ToValidUTF8(string(screen), "?"), "cells": []int{}}}
}
