// Package repl is the interactive console of ptywright: Lua over a server's wire, with objects for
// sessions and adapters, commands that begin with a colon, and notifications above the prompt.
// [Run] is the entry point.
//
// One goroutine, the caller of Run, edits lines, runs Lua and draws, so output has one order.
// Beside it the connection's reader puts notifications on a board, which is bounded, and while Lua
// runs another goroutine shows them. A third handles signals: Ctrl-C cancels the running
// evaluation's context, which sends $/cancelRequest, and if that does not return, this goroutine
// restores the terminal and exits.
package repl

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"
	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/caller"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/repl/edit"
	"github.com/ptywright/ptywright/internal/ansi"
	"github.com/ptywright/ptywright/protocol/client"
)

// Options say how a REPL runs.
type Options struct {
	Server Server
	In     *os.File
	Out    *os.File  // the terminal, if there is one
	Print  io.Writer // gets all output, and passes it to Out
	Err    io.Writer
	Home   string   // of the history; "": no history
	Attach []string // attaches to a session, whose id is added; none: there is no :attach
	Stop   bool     // end a server that the REPL started, when it ends
}

// A console is a running REPL.
type console struct {
	Options
	ctx     context.Context
	m       *machine
	board   *board
	editor  *edit.Editor
	history history
	tty     bool // In is a person's terminal
	style   cli.Style

	// connected
	client  atomic.Pointer[client.Client]
	started *started

	cancel     func(error)                // of ctx
	cooked     atomic.Pointer[term.State] // the terminal's own mode
	lent       atomic.Int64               // until when a program has the terminal, in Unix nanoseconds
	back       chan chan struct{}         // a program gives it back: heed closes what is sent
	reading    atomic.Bool                // a script's next line
	evaluating atomic.Pointer[evaluation] // nil: none
	early      atomic.Bool                // Ctrl-C came after the line, before its evaluation
	ended      atomic.Pointer[Ended]      // nil: no signal came
	keeper     keeper
	quit       bool
	out        *shared
}

// shared is a writer for several goroutines: each Write is atomic.
type shared struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// completeBound is how long completion may ask the server. A live one needs a millisecond; nobody
// wants to wait longer than this for Tab.
const completeBound = 300 * time.Millisecond

// Run connects, and reads and evaluates In until its end: at a terminal with line editing, else
// line by line. It returns a [cli.ExitCode] when a line of a script failed, which it has reported,
// and otherwise an error of connecting.
func Run(ctx context.Context, o Options) error {
	tty := term.IsTerminal(int(o.In.Fd())) && term.IsTerminal(int(o.Out.Fd()))
	return run(ctx, o, tty, func(c *console) error {
		if tty {
			return c.interact()
		}
		return c.script(bufio.NewReader(o.In))
	})
}

// RunSource connects, evaluates one text, and prints the values that it returns. Errors contain
// name.
func RunSource(ctx context.Context, o Options, name, source string, args []string) error {
	return run(ctx, o, false, func(c *console) error {
		list := c.m.NewTable()
		list.RawSetInt(0, lua.LString(name))
		for _, a := range args {
			list.Append(lua.LString(a))
		}
		c.m.SetGlobal("arg", list)
		if rest, ok := strings.CutPrefix(source, "#!"); ok {
			source = "--" + rest
		}
		f, _, err := c.m.compile(source, name)
		if err == nil {
			err = c.m.named(source, c.evaluate(f))
		}
		return c.told(err)
	})
}

func run(ctx context.Context, o Options, tty bool, f func(*console) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	on := cli.TerminalOf(o.Out).Style
	c := &console{Options: o, ctx: ctx, cancel: cancel, tty: tty, style: on, board: newBoard(on), out: &shared{w: o.Print},
		back: make(chan chan struct{})}
	told, over := make(chan os.Signal, 8), make(chan struct{})
	ending.Notify(told)
	go c.heed(told, over)
	defer func() {
		if e := c.ended.Load(); e != nil {
			err = cli.ExitCode(ending.Code(e.Signal))
		}
	}()
	c.m = newMachine(c.out, on, func() int { _, cols := c.size(); return cols })
	defer c.m.Close()
	c.m.call = c.call
	c.m.touched, c.m.used = c.touch, c.keeper.use
	if dir, err := os.Getwd(); err == nil {
		c.m.cwd = dir
	}
	defer close(over)
	defer signal.Stop(told)
	if err := c.connect(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.disconnect()) }()
	return f(c)
}

// connect connects and asks what the server can do.
func (c *console) connect() error {
	says := &boardWriter{board: c.board, tty: c.tty, plain: c.Err}
	cl, p, local, err := c.Server.connect(c.ctx, says)
	if err != nil {
		return err
	}
	c.m.warn = func(text string) { fmt.Fprintf(says, "warning: %s\n", cli.OneLine(text)) }
	c.m.shapes = nil // they belong to the previous server
	c.m.environment = nil
	if local {
		c.m.environment = func() (map[string]string, error) {
			env, untold, err := caller.Environment(os.Environ())
			for _, name := range untold {
				c.m.warn(fmt.Sprintf("%.64q is not passed to the program: not valid UTF-8", name))
			}
			return env, err
		}
	}
	if p != nil {
		c.started = p
		c.board.add(c.style.As(cli.Dim, fmt.Sprintf("started a server (pid %d) at %s; it stays when you leave, :shutdown ends it", p.pid, cli.OneLine(c.Server.Path))))
	}
	c.client.Store(cl)
	var caps struct {
		Methods []string `json:"methods"`
	}
	if err := cl.Introduce(c.ctx, caller.Command(os.Args)); err != nil {
		return err
	}
	if err := c.call(c.ctx, "server.capabilities", nil, &caps); err != nil {
		return err
	}
	c.m.learn(caps.Methods)
	if err := c.call(c.ctx, "server.set_ordering", map[string]string{"ordering": "concurrent"}, nil); err != nil {
		return err
	}
	if c.tty {
		if err := c.subscribe(cl); err != nil {
			return err
		}
	}
	go func() {
		<-cl.Done()
		if c.client.CompareAndSwap(cl, nil) && c.tty && c.ctx.Err() == nil {
			c.board.add(c.style.As(cli.Red, "the connection to the server is lost") + ": :reconnect connects again, and starts a server when none listens")
		}
	}()
	return nil
}

// subscribe turns on notifications. A listening server sends them over a second connection, where
// no answer has to wait for them.
func (c *console) subscribe(cl *client.Client) error {
	if len(c.Server.Own) > 0 {
		return cl.Subscribe(c.ctx, c.board.event)
	}
	stream, err := daemon.DialStream(c.ctx, c.Server.Path)
	if err != nil {
		return fmt.Errorf("ask for notifications: %w", err)
	}
	events := client.New(stream)
	ctx, cancel := context.WithCancel(c.ctx)
	if err := events.Subscribe(ctx, c.board.paced(ctx)); err != nil {
		cancel()
		events.Close()
		return err
	}
	go func() { // it ends with the other connection
		select {
		case <-cl.Done():
		case <-c.ctx.Done():
		}
		cancel()
		events.Close()
	}()
	return nil
}

// disconnect disconnects, and ends the server if it should end.
func (c *console) disconnect() error {
	cl := c.client.Swap(nil)
	if cl != nil {
		if err := cl.Close(); err != nil && c.ctx.Err() == nil && len(c.Server.Own) > 0 {
			return fmt.Errorf("the server ended badly: %w", err)
		}
	}
	if p := c.started; p != nil && c.Stop {
		return p.end()
	}
	return nil
}

// call calls a method of the current server.
func (c *console) call(ctx context.Context, method string, params, result any) error {
	cl := c.client.Load()
	if cl == nil {
		return fmt.Errorf("%s: %w", method, client.ErrClosed)
	}
	return cl.Call(ctx, method, params, result)
}

// list asks the current server for all sessions.
func (c *console) list(ctx context.Context) ([]client.Info, error) {
	cl := c.client.Load()
	if cl == nil {
		return nil, fmt.Errorf("session.list: %w", client.ErrClosed)
	}
	return cl.Sessions(ctx)
}

func (c *console) size() (rows, cols int) {
	if cols, rows, err := term.GetSize(int(c.Out.Fd())); err == nil && cols > 0 && rows > 0 {
		return rows, cols
	}
	return 24, wide
}

// wide is the width of a screen outside a terminal, where nothing needs to fit.
const wide = 1100

// interact edits and evaluates lines until the end.
func (c *console) interact() error {
	state, err := term.GetState(int(c.In.Fd()))
	if err != nil {
		return fmt.Errorf("read the terminal's mode: %w", err)
	}
	c.cooked.Store(state)
	defer c.restore()
	if err := busyMode(c.In); err != nil {
		return err
	}
	c.m.lend("os", "execute", c.lendTo)
	c.m.lend("io", "read", c.lend)
	if c.Home != "" {
		c.history.path = filepath.Join(c.Home, "repl_history")
	}
	entries, err := c.history.load()
	if err != nil {
		c.board.add(c.style.As(cli.Red, cli.OneLine(err.Error())))
	}
	resized := make(chan os.Signal, 1)
	notifyResize(resized)
	defer signal.Stop(resized)
	changed := make(chan struct{}, 1)
	go func() {
		for {
			select {
			case <-resized:
				select {
				case changed <- struct{}{}:
				default:
				}
			case <-c.ctx.Done():
				return
			}
		}
	}()
	promptSGR := "" // tells the prompt apart from input
	if c.style {
		promptSGR = cli.Cyan
	}
	c.editor = edit.New(edit.Options{
		In: c.In, Out: c.out, Size: c.size, Resized: changed, Prompt: c.prompt, PromptSGR: promptSGR, Highlight: c.highlight, Complete: c.complete,
		More: func(text string) bool { return c.more(text) }, Notices: c.board.told, Take: c.take, History: entries,
	})
	fmt.Fprintf(c.out, "ptywright: Lua over the wire. :help tells more, Tab completes, Ctrl-D leaves.\n")
	for !c.quit {
		text, err := c.read()
		switch {
		case errors.Is(err, edit.ErrInterrupt):
			continue
		case errors.Is(err, io.EOF):
			c.quit = true
			continue
		case err != nil:
			return err
		case strings.TrimSpace(text) == "":
			continue
		}
		c.keeper.hush = c.secretInHand()
		if err := c.enter(text); err != nil {
			fmt.Fprintln(c.out, c.m.complain(err))
		}
		c.keeper.hush = c.keeper.hush || c.secretInHand()
		c.editor.Remember(text)
		c.keep(text)
	}
	if p := c.started; p != nil && p.runs() && !c.Stop {
		fmt.Fprintf(c.out, "the server goes on (pid %d): ptywright repl comes back to it\n", p.pid)
	}
	return nil
}

// lendTo is [console.lend] for another program, which gets the signals of Ctrl-C and Ctrl-\.
func (c *console) lendTo(f func() error) error {
	c.lent.Store(math.MaxInt64)
	defer func() {
		c.takeBack()
		c.lent.Store(time.Now().Add(lentAfter).UnixNano())
	}()
	return c.lend(f)
}

// takeBack returns when heed has handled the signals that came until now: those of the program's
// keys must not end what is evaluated next.
func (c *console) takeBack() {
	relayed := make(chan os.Signal, 1)
	signal.Notify(relayed, os.Interrupt)
	signal.Stop(relayed) // returns when the runtime has relayed all that it has
	handled := make(chan struct{})
	c.back <- handled
	<-handled
}

// lend gives the terminal its own mode while f runs.
func (c *console) lend(f func() error) error {
	state := c.cooked.Load()
	if state == nil {
		return f()
	}
	if err := term.Restore(int(c.In.Fd()), state); err != nil {
		return fmt.Errorf("restore the terminal: %w", err)
	}
	c.board.hold(true)
	defer c.board.hold(false)
	return errors.Join(f(), busyMode(c.In))
}

// read edits one line in a raw terminal.
func (c *console) read() (string, error) {
	state, err := term.MakeRaw(int(c.In.Fd()))
	if err != nil {
		return "", fmt.Errorf("make the terminal raw: %w", err)
	}
	defer term.Restore(int(c.In.Fd()), state)
	defer c.early.Store(false) // from here on the key is a signal, and means what was entered
	return c.editor.Line(c.ctx)
}

func (c *console) prompt() (first, more string) {
	name := "pty"
	switch {
	case c.client.Load() == nil:
		name += "[lost]"
	case c.m.current != nil:
		name += "[" + cli.OneLine(c.m.current.id) + "]"
	}
	return name + "> ", strings.Repeat(".", len(name)) + "> "
}

func (c *console) take() []string {
	_, cols := c.size()
	return c.board.take(cols)
}

// more reports whether a text is an incomplete Lua chunk.
func (c *console) more(text string) bool {
	if strings.HasPrefix(strings.TrimSpace(text), ":") {
		return false
	}
	_, more, err := c.m.compile(text, chunk)
	return err != nil && more
}

// chunk is the name of a line in Lua's errors.
const chunk = "<repl>"

// enter runs a line.
func (c *console) enter(text string) error {
	if command, ok := strings.CutPrefix(strings.TrimSpace(text), ":"); ok {
		return c.during(func(ctx context.Context) error { return c.meta(ctx, command) })
	}
	if c.asksHelp(text) {
		return c.help(c.ctx, "")
	}
	f, _, err := c.m.compile(text, chunk)
	if err != nil {
		return err
	}
	return c.m.named(text, c.evaluate(f))
}

// asksHelp reports whether a line is what people type for help, and nothing of the user's own.
func (c *console) asksHelp(text string) bool {
	switch strings.TrimSpace(text) {
	case "help", "help()", "?":
		return c.m.GetGlobal("help") == lua.LNil
	}
	return false
}

// evaluate runs a chunk and prints the values that it returns.
func (c *console) evaluate(f *lua.LFunction) error {
	return c.during(func(ctx context.Context) error {
		values, err := c.m.eval(ctx, f)
		if err != nil {
			return err
		}
		for _, v := range values {
			if v != lua.LNil || len(values) > 1 {
				fmt.Fprintln(c.out, c.m.show(v))
			}
		}
		if len(values) > 0 {
			c.m.SetGlobal("_", values[0])
		}
		return nil
	})
}

// during runs f, which Ctrl-C ends, and shows notices meanwhile.
func (c *console) during(f func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(c.ctx)
	now := &evaluation{cancel, make(chan struct{})}
	c.lent.Store(0)
	c.evaluating.Store(now)
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		notices := c.board.told
		if !c.tty {
			notices = nil
		}
		for {
			select {
			case <-notices:
				for _, l := range c.take() {
					fmt.Fprintln(c.out, l)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	if c.early.Swap(false) || c.editor != nil && c.editor.Interrupted(available(c.In)) {
		cancel(errInterrupted)
	}
	err := f(ctx)
	c.evaluating.Store(nil)
	close(now.over)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errInterrupted) && wireError(err) == nil {
		err = cause
	}
	cancel(nil)
	<-shown
	return err
}

// script evaluates lines that are not typed by a person. The first that fails ends it.
func (c *console) script(in *bufio.Reader) error {
	text := ""
	for number := 1; ; number++ {
		c.reading.Store(true)
		l, err := in.ReadString('\n')
		c.reading.Store(false)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read standard input: %w", err)
		}
		text += l
		if strings.TrimSpace(text) != "" && (err != nil || !c.more(text)) {
			if e := c.enter(text); e != nil {
				return c.told(e)
			}
			text = ""
		}
		if err != nil || c.quit {
			return nil
		}
	}
}

// told reports a script's error and returns its exit code. Evidence is a result: it goes to
// standard output.
func (c *console) told(err error) error {
	if err == nil {
		return nil
	}
	code := codeOf(err)
	text := c.m.complain(err)
	if code == cli.ExitTimeout {
		head, evidence, _ := strings.Cut(text, "\n")
		fmt.Fprintln(c.out, evidence)
		text = head
	}
	fmt.Fprintln(c.Err, "ptywright: "+strings.TrimPrefix(ansi.Strip(text), "error: "))
	return cli.ExitCode(code)
}

// A boardWriter shows the messages of the REPL's own server as notices, one line each.
type boardWriter struct {
	board *board
	tty   bool
	plain io.Writer
}

func (w *boardWriter) Write(p []byte) (int, error) {
	if !w.tty {
		return w.plain.Write(p)
	}
	for l := range strings.Lines(string(p)) {
		w.board.add(cli.OneLine(strings.TrimRight(l, "\n")))
	}
	return len(p), nil
}

// indented writes JSON for people.
func indented(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	b, _ := json.MarshalIndent(v, "", "  ")
	return string(b)
}
