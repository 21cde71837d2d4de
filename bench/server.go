//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a running server of the wire: ptywright, or a yardstick.
type server struct {
	cmd  *exec.Cmd
	path string
	log  *os.File
}

// patience bounds every wait; a benchmark that hangs says where.
const patience = 5 * time.Minute

// startServer runs argv with --socket in dir and returns once it accepts connections.
func startServer(dir string, argv []string) (*server, error) {
	dir, err := os.MkdirTemp(dir, "s")
	if err != nil {
		return nil, err
	}
	s := &server{path: filepath.Join(dir, "s")}
	if s.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		return nil, err
	}
	s.cmd = exec.Command(argv[0], append(argv[1:], "--socket", s.path)...)
	s.cmd.Stderr = s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	// Nothing reports that the socket exists, so try until it accepts.
	for end := time.Now().Add(10 * time.Second); ; <-time.After(time.Millisecond) {
		c, err := net.Dial("unix", s.path)
		if err == nil {
			return s, c.Close()
		}
		if time.Now().After(end) {
			said := s.said()
			s.stop()
			return nil, fmt.Errorf("%s: no connection: %w: %s", strings.Join(argv, " "), err, said)
		}
	}
}

// said is the server's standard error.
func (s *server) said() string {
	b, _ := os.ReadFile(s.log.Name())
	return string(b)
}

func (s *server) stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(10*time.Second, func() { s.cmd.Process.Kill() })
	s.cmd.Wait()
	kill.Stop()
	s.log.Close()
}

// conn is a client of the wire with one request in flight at a time.
type conn struct {
	c    net.Conn
	r    *bufio.Reader
	next int
}

func (s *server) dial() (*conn, error) {
	c, err := net.Dial("unix", s.path)
	if err != nil {
		return nil, err
	}
	return &conn{c: c, r: bufio.NewReaderSize(c, 1<<20)}, c.SetDeadline(time.Now().Add(patience))
}

// call sends one request and reads its answer into result, which may be nil.
func (c *conn) call(method string, params, result any) error {
	c.next++
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	if err != nil {
		return err
	}
	if _, err := c.c.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	line, err := c.r.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	var reply struct {
		ID     int             `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	switch {
	case reply.ID != c.next:
		return fmt.Errorf("%s: answered out of order", method)
	case reply.Error != nil:
		return fmt.Errorf("%s: error %d: %s", method, reply.Error.Code, reply.Error.Message)
	case result == nil:
		return nil
	}
	return json.Unmarshal(reply.Result, result)
}

type object = map[string]any

// spawn creates a session of 24x80.
func (c *conn) spawn(argv ...string) (session string, err error) {
	return c.create(object{"program": argv[0], "args": argv[1:]})
}

// create creates a session of 24x80.
func (c *conn) create(params object) (session string, err error) {
	params["rows"], params["cols"] = 24, 80
	var r struct{ Session string }
	err = c.call("session.create", params, &r)
	return r.Session, err
}

func (c *conn) send(session, text string) error {
	return c.call("session.input", object{"session": session, "action": object{"type": "text", "value": text}}, nil)
}

func (c *conn) wait(session, text string) error {
	var r struct{ Matched bool }
	err := c.call("session.wait", object{"session": session, "timeout_ms": patience.Milliseconds(),
		"matcher": object{"type": "contains_text", "value": text}}, &r)
	if err == nil && !r.Matched {
		err = errors.New("session.wait: answered without a match")
	}
	return err
}

func (c *conn) end(session string) error {
	return c.call("session.close", object{"session": session}, nil)
}

// kilobytes reads a field of /proc/PID/status, such as VmRSS or VmHWM.
func (s *server) kilobytes(field string) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			return strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
		}
	}
	return 0, fmt.Errorf("no %s in /proc/%d/status", field, s.cmd.Process.Pid)
}

// cpu is the processor time of the server, in steps of the kernel's 10 ms.
func (s *server) cpu() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	ticks := 0
	for _, i := range []int{11, 12} { // utime and stime, see proc(5)
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// firstAnswer starts argv with stdin and stdout as its wire and returns how long it took to answer
// one request.
func firstAnswer(argv []string) (time.Duration, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if _, err := io.WriteString(in, request(1)); err != nil {
		return 0, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	took := time.Since(begin)
	in.Close()
	if err == nil && !strings.Contains(line, `"result"`) {
		err = fmt.Errorf("answered %.100q", line)
	}
	return took, errors.Join(err, cmd.Wait())
}

// request is a small request, for measuring only its handling.
func request(id int) string {
	return `{"jsonrpc":"2.0","id":` + strconv.Itoa(id) + `,"method":"session.list"}` + "\n"
}

// requestsPerSecond sends n requests over one connection, 64 of them in flight.
func (s *server) requestsPerSecond(n int) (float64, error) {
	c, err := s.dial()
	if err != nil {
		return 0, err
	}
	defer c.c.Close()
	const inFlight = 64
	begin := time.Now()
	var batch []byte
	sent, answered := 0, 0
	for answered < n {
		batch = batch[:0]
		for ; sent < n && sent-answered < inFlight; sent++ {
			batch = append(batch, request(sent)...)
		}
		if _, err := c.c.Write(batch); err != nil {
			return 0, err
		}
		// At least one answer, and those that came with it.
		for first := true; first && answered < sent || c.r.Buffered() > 0; first = false {
			line, err := c.r.ReadSlice('\n')
			if err != nil {
				return 0, err
			}
			if answered == 0 && !strings.Contains(string(line), `"result"`) {
				return 0, fmt.Errorf("answered %.100q", line)
			}
			answered++
		}
	}
	return float64(n) / time.Since(begin).Seconds(), nil
}
