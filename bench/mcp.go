//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveNothing is MCP's yardstick: a server of the same SDK whose tools do nothing and report
// success.
func serveNothing() {
	s := sdk.NewServer(&sdk.Implementation{Name: "nothing", Version: "1"}, nil)
	for _, name := range []string{"sessions", "start", "send"} {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{
				Content:           []sdk.Content{&sdk.TextContent{Text: "No sessions."}},
				StructuredContent: json.RawMessage(`{"session":"s1","sessions":[],"outcome":{"matched":true}}`),
			}, nil
		})
	}
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// An mcpConn is a client of the stateless MCP versions on a server's standard input and output, one
// call at a time.
type mcpConn struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	next int
}

func dialMCP(argv []string) (*mcpConn, error) {
	c := &mcpConn{cmd: exec.Command(argv[0], argv[1:]...)}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewReaderSize(out, 1<<20)
	return c, c.cmd.Start()
}

// end closes the input and waits until the server has ended.
func (c *mcpConn) end() error {
	c.in.Close()
	kill := time.AfterFunc(patience, func() { c.cmd.Process.Kill() })
	defer kill.Stop()
	return c.cmd.Wait()
}

// call calls a tool and reads its structured content into result.
func (c *mcpConn) call(tool, args string, result any) error {
	c.next++
	_, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", c.next, tool, args)
	if err != nil {
		return err
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return err
	}
	var m struct {
		ID     int
		Result struct {
			IsError           bool
			StructuredContent json.RawMessage
		}
	}
	if err := json.Unmarshal(line, &m); err != nil || m.ID != c.next || m.Result.IsError || m.Result.StructuredContent == nil {
		return fmt.Errorf("%s: answered %.200q", tool, line)
	}
	return json.Unmarshal(m.Result.StructuredContent, result)
}

// mcp measures a call that does almost nothing, beside a server of the same SDK that does nothing
// and beside the native wire; and a turn of a REPL in one call, beside the two requests of the
// native wire.
func (b *bench) mcp() ([]row, error) {
	var calls, nothing, native, turns, nativeTurns []float64
	over := func(argv []string, calls, turns *[]float64) func() error {
		return func() (err error) {
			c, err := dialMCP(argv)
			if err != nil {
				return err
			}
			defer func() {
				if e := c.end(); err == nil {
					err = e
				}
			}()
			var ignored struct{ Sessions []any }
			for range 2 * b.samples {
				begin := time.Now()
				if err := c.call("sessions", "{}", &ignored); err != nil {
					return err
				}
				*calls = append(*calls, milliseconds(time.Since(begin)))
			}
			if turns == nil {
				return nil
			}
			var r struct {
				Session string
				Outcome struct{ Matched bool }
			}
			if err := c.call("start", fmt.Sprintf(`{"program":%q,"args":["child","repl"],"wait_for":{"text":"CHILD-UP"}}`, b.self), &r); err != nil {
				return err
			}
			for i := range 2 * b.samples {
				n := strconv.Itoa(i)
				begin := time.Now()
				if err := c.call("send", fmt.Sprintf(`{"session":%q,"text":"%s\n","wait_for":{"text":"R%s."}}`, r.Session, n, n), &r); err != nil {
					return err
				}
				if !r.Outcome.Matched {
					return fmt.Errorf("send: answered without a match")
				}
				*turns = append(*turns, milliseconds(time.Since(begin)))
			}
			return nil
		}
	}
	natively := func() error {
		return b.on(b.subject, func(_ *server, c *conn) error {
			for range 2 * b.samples {
				begin := time.Now()
				if err := c.call("session.list", object{}, nil); err != nil {
					return err
				}
				native = append(native, milliseconds(time.Since(begin)))
			}
			session, err := b.startREPL(c)
			for i := 0; err == nil && i < 2*b.samples; i++ {
				var took time.Duration
				took, err = turn(c, session, i)
				nativeTurns = append(nativeTurns, milliseconds(took))
			}
			return err
		})
	}
	idle := over([]string{b.self, "mcp"}, &nothing, nil)
	err := b.alternate(over([]string{b.subject[0], "mcp"}, &calls, &turns), func() error {
		if err := idle(); err != nil {
			return err
		}
		return natively()
	})
	if err != nil {
		return nil, err
	}
	beside := func(what string, ours, other []float64, whose string) row {
		o, x := median(ours), median(other)
		return row{what: what, ours: fmt.Sprintf("%.3f ms", o), beside: fmt.Sprintf("%.3f ms, %s", x, whose), ratio: o / x}
	}
	return []row{
		beside("MCP tools/call", calls, nothing, "SDK server that does nothing"),
		beside("the same", calls, native, "native session.list"),
		beside("MCP REPL turn in one call (send, wait_for)", turns, nativeTurns, "native REPL turn"),
	}, nil
}
