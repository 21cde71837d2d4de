package repl

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/attach"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/repl/edit"
	"github.com/ptywright/ptywright/internal/nearest"
	"github.com/ptywright/ptywright/protocol/client"
)

// A command is one that begins with a colon.
type command struct {
	name, args, about string
	do                func(c *console, ctx context.Context, args string) error
}

// commands are all of them, in the order of :help.
func commands() []command {
	return []command{
		{"help", "", "tells this", (*console).help},
		{"sessions", "", "lists the sessions", (*console).listSessions},
		{"adapters", "", "lists the adapters that are live", (*console).listAdapters},
		{"use", "ID", "chooses what wait, turn, send, screen are about", (*console).use},
		{"attach", "ID [FLAG...]", "shows it live, until Ctrl-\\ d; --write to type", (*console).attach},
		{"shot", "[ID] [FILE]", "draws its screen, or a picture: .png .svg .html", (*console).shot},
		{"record", "[ID] [FILE]", "records it: .cast or .md; again: ends that", (*console).recordCommand},
		{"rpc", "METHOD [JSON]", "calls a method of the wire", (*console).rpcCommand},
		{"events", "[ID]", "what happened: input, waits, commands", (*console).listEvents},
		{"notifications", "on|off [ID]", "tells what happens; with ID its output, too", (*console).notifications},
		{"history", "[N]", "lists the last N entries", (*console).listHistory},
		{"reconnect", "", "connects again, or to a server it starts", (*console).reconnect},
		{"shutdown", "", "ends the server that was started from here", (*console).shutdown},
		{"quit", "", "leaves; the server and its sessions stay", (*console).leave},
	}
}

// meta runs a command. Its name may be shortened to any unique prefix.
func (c *console) meta(ctx context.Context, text string) error {
	name, args, _ := strings.Cut(strings.TrimSpace(text), " ")
	var found []command
	for _, cmd := range commands() {
		if cmd.name == name {
			found = []command{cmd}
			break
		}
		if name != "" && strings.HasPrefix(cmd.name, name) {
			found = append(found, cmd)
		}
	}
	switch len(found) {
	case 1:
		return found[0].do(c, ctx, strings.TrimSpace(args))
	case 0:
		var names []string
		for _, cmd := range commands() {
			names = append(names, cmd.name)
		}
		if near := nearest.Of(name, names); near != "" {
			return fmt.Errorf("no command :%s: did you mean :%s?", name, near)
		}
		return fmt.Errorf("no command :%s; :help lists those there are", name)
	}
	return fmt.Errorf(":%s may be :%s or :%s", name, found[0].name, found[1].name)
}

func (c *console) help(context.Context, string) error {
	t := cli.Table{Bare: true, Indent: 2, Columns: []cli.Column{{}, {Least: 20}}}
	for _, cmd := range commands() {
		t.Row(":"+strings.TrimSpace(cmd.name+" "+cmd.args), cmd.about)
	}
	c.table(&t)
	fmt.Fprint(c.out, `
Everything else is Lua (5.1), an expression or statements:
  s = session.spawn("python3", "-q")   start a program, which is s
  s:send("6*7\n")                      type; s:keys("ctrl+c", "up") presses
  s:wait{text = "42"}                  wait for what came after that; or for
      regex, title, cursor, stable = ms, exited = true, any and all = {...},
      and timeout = seconds
  s:turn("6*7\n", {text = "42"})       both
  s:screen()                           draw the screen; .text, .lines
  s:when{text = "42"}                  when it was there, and for how long
  s:find("'OK' in box"), s:click("'OK'")   a place by what you would call it
  s:at(7), s:at(-5)                    the screen at a sequence, or 5 s ago
  a = adapter.start("claude-code")     start a program that a plugin drives
  a:send_prompt("hello")               do what it can do
  a:wait()                             wait for the turn's end
  a:turn("send_prompt", "hello")       both
  s:search{text = "x"}                 any method of the wire; the same is
      rpc("session.search", {session = "s1", text = "x"})
A name in front of = is global; a local one is gone at the line's end. _ is the
last value.
`)
	return nil
}

func (c *console) listSessions(ctx context.Context, _ string) error {
	sessions, err := c.list(ctx)
	if err != nil {
		return err
	}
	if len(sessions) == 0 {
		fmt.Fprintln(c.out, "no session; session.spawn(\"sh\") starts one")
	}
	t := cli.Table{Bare: true, Indent: 2, Columns: []cli.Column{
		{}, {Spare: true, Least: 8}, {Drop: 2}, {Drop: 1}, {Least: 12}, {Least: 12},
	}}
	for _, s := range sessions {
		state := "quiet " + cli.Brief(s.Quiet)
		if s.Exit != nil {
			state = s.Exit.String()
		}
		if s.Lease != nil {
			state += ", held by " + s.Lease.Holder
		}
		if s.Adapter != "" {
			state += ", driven by " + s.Adapter
		}
		program := strings.Join(append([]string{s.Program}, s.Args...), " ")
		if s.Title != nil && *s.Title != "" {
			program += " · " + *s.Title
		}
		t.Row(s.Session, s.Name, fmt.Sprintf("%dx%d", s.Rows, s.Cols), fmt.Sprintf("pid %d", s.PID), state, program)
	}
	return c.table(&t)
}

// table prints a table as wide as the console.
func (c *console) table(t *cli.Table) error { return t.PrintFor(c.out, cli.TerminalOf(c.Out)) }

func (c *console) listAdapters(ctx context.Context, _ string) error {
	var r struct {
		Adapters []struct {
			Adapter, Plugin, Session string
			Finished                 bool
		}
	}
	if err := c.call(ctx, "adapter.live", nil, &r); err != nil {
		return err
	}
	if len(r.Adapters) == 0 {
		fmt.Fprintln(c.out, "no adapter; adapter.start(\"claude-code\") starts one, adapter.plugins() lists the plugins")
	}
	t := cli.Table{Bare: true, Indent: 2, Columns: []cli.Column{{}, {}, {}, {Spare: true}}}
	for _, a := range r.Adapters {
		state := ""
		if a.Finished {
			state = "ended"
		}
		t.Row(a.Adapter, a.Plugin, a.Session, state)
	}
	return c.table(&t)
}

// lua evaluates the Lua that a command is short for.
func (c *console) lua(ctx context.Context, source string) error {
	f, _, err := c.m.compile(source, chunk)
	if err != nil {
		return err
	}
	values, err := c.m.eval(ctx, f)
	for _, v := range values {
		fmt.Fprintln(c.out, c.m.show(v))
	}
	return err
}

// luaString writes a text as a Lua string.
func luaString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			fmt.Fprintf(&b, `\%03d`, c)
		} else {
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (c *console) use(ctx context.Context, id string) error {
	if id == "" {
		return errors.New(":use what? give a session's or an adapter's id")
	}
	return c.lua(ctx, "use("+luaString(id)+")")
}

// target is the id that a command is about: its first word, or the current session's if that is
// missing or a file's name.
func (c *console) target(args string) (id, rest string, err error) {
	id, rest, _ = strings.Cut(args, " ")
	file := strings.ContainsAny(id, "./") // no id contains these
	switch {
	case id != "" && !file:
		return id, strings.TrimSpace(rest), nil
	case c.m.current == nil:
		return "", "", errors.New("of what? give a session's id; :sessions lists them")
	case c.m.current.owns != "":
		return c.m.current.owns, args, nil
	}
	return c.m.current.id, args, nil
}

// attach lends the terminal to `ptywright attach` until that ends.
func (c *console) attach(ctx context.Context, args string) error {
	id, flags, err := c.target(args)
	switch {
	case err != nil:
		return err
	case !c.tty:
		return errors.New(":attach needs a terminal")
	case len(c.Attach) == 0:
		return errors.New(":attach needs a server that listens on a socket, and this one is the REPL's own")
	}
	cmd := exec.CommandContext(ctx, c.Attach[0], slices.Concat(c.Attach[1:], strings.Fields(flags), []string{"--", id})...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it restores the terminal
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.In, c.Out, c.Err
	if err := c.lendTo(cmd.Run); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return fmt.Errorf("attach to %s: %w", id, err)
		}
		if exit.ExitCode() < 0 { // it could not restore the terminal
			fmt.Fprint(c.out, attach.Leave)
			return fmt.Errorf("attach to %s: it was ended by %s", id, exit)
		}
	}
	return nil
}

func (c *console) absolute(path string) string {
	if strings.HasPrefix(path, "~/") {
		if home, err := os.UserHomeDir(); err == nil {
			path = home + path[1:]
		}
	}
	if !filepath.IsAbs(path) && c.m.cwd != "" {
		path = filepath.Join(c.m.cwd, path)
	}
	return path
}

func (c *console) shot(ctx context.Context, args string) error {
	id, file, err := c.target(args)
	if err != nil {
		return err
	}
	if file == "" {
		var raw json.RawMessage
		if err := c.call(ctx, "session.snapshot", map[string]string{"session": id, "cells": "runs"}, &raw); err != nil {
			return err
		}
		_, cols := c.size()
		fmt.Fprintln(c.out, c.m.screenOf(id, object(raw)).show(c.style, cols))
		return nil
	}
	file = c.absolute(file)
	params := map[string]string{"session": id, "path": file}
	var r struct {
		Path, Format, Data string
		Bytes              int64
	}
	if err := c.call(ctx, "session.screenshot", params, &r); err != nil {
		return err
	}
	if r.Path == "" && r.Data != "" { // a server that does not write files
		data := []byte(r.Data)
		if r.Format == "png" {
			if data, err = base64.StdEncoding.DecodeString(r.Data); err != nil {
				return fmt.Errorf("write %s: %w", file, err)
			}
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return fmt.Errorf("write the picture: %w", err)
		}
	}
	fmt.Fprintf(c.out, "%s: %s, %d bytes\n", cli.OneLine(file), cli.OneLine(r.Format), r.Bytes)
	return nil
}

func (c *console) recordCommand(ctx context.Context, args string) error {
	id, file, err := c.target(args)
	if err != nil {
		return err
	}
	if file != "" {
		file = c.absolute(file)
	}
	c.m.SetContext(ctx)
	defer c.m.RemoveContext()
	a, err := c.m.record(id, file)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.out, c.m.show(c.m.wrap(a)))
	return nil
}

// A recording is one that was started from here.
type recording struct {
	id   any
	path string
}

// record starts recording a session, or ends the recording that was started from here.
func (m *machine) record(session, file string) (*answer, error) {
	if m.recordings == nil {
		m.recordings = map[string]recording{}
	}
	now, ok := m.recordings[session]
	switch {
	case ok && file != "":
		return nil, fmt.Errorf("%s is being recorded to %s: :record %s ends that first", session, now.path, session)
	case ok:
		return m.endRecording(session, now)
	case file == "":
		file = session + "-" + time.Now().Format("20060102-150405") + ".cast"
	}
	format := "asciicast-v2"
	if strings.HasSuffix(file, ".md") {
		format = "markdown"
	}
	if !filepath.IsAbs(file) && m.cwd != "" {
		file = filepath.Join(m.cwd, file)
	}
	var raw json.RawMessage
	if err := m.call(m.context(), "session.record_start", map[string]any{"session": session, "path": file, "format": format}, &raw); err != nil {
		return nil, err
	}
	r := object(raw)
	m.recordings[session] = recording{r["recording"], file}
	return &answer{raw: r, said: fmt.Sprintf("recording %s to %s; :record %s ends it", session, file, session)}, nil
}

func (m *machine) endRecording(session string, r recording) (*answer, error) {
	delete(m.recordings, session)
	var raw json.RawMessage
	if err := m.call(m.context(), "session.record_stop", map[string]any{"recording": r.id}, &raw); err != nil {
		return nil, err
	}
	var done struct {
		Bytes      int64
		DurationMS int64 `json:"duration_ms"`
		State      string
		Error      string
	}
	_ = json.Unmarshal(raw, &done) // missing members are not shown
	said := fmt.Sprintf("recorded %s to %s: %s, %d bytes", session, r.path, (time.Duration(done.DurationMS) * time.Millisecond).Round(100*time.Millisecond), done.Bytes)
	if done.State != "" && done.State != "done" {
		said += ", " + done.State
	}
	if done.Error != "" {
		said += ": " + done.Error
	}
	return &answer{raw: object(raw), said: said}, nil
}

func (c *console) rpcCommand(ctx context.Context, args string) error {
	method, text, _ := strings.Cut(args, " ")
	if method == "" {
		return errors.New(":rpc what? give a method and its params as JSON; Tab lists the methods")
	}
	var params json.RawMessage
	if text = strings.TrimSpace(text); text != "" {
		if !json.Valid([]byte(text)) {
			return fmt.Errorf(":rpc %s: the params are no JSON: %s", method, edit.Cut(text, 60))
		}
		params = json.RawMessage(text)
	}
	var input map[string]any
	if method == "session.input" && json.Unmarshal(params, &input) == nil {
		c.touch(ctx, input)
		c.keeper.hush = true // may be a password
	}
	var given any
	if params != nil {
		given = params
	}
	var raw json.RawMessage
	if err := c.call(ctx, method, given, &raw); err != nil {
		return err
	}
	fmt.Fprintln(c.out, cli.Clean(indented(raw)))
	return nil
}

func (c *console) notifications(_ context.Context, args string) error {
	word, id, _ := strings.Cut(args, " ")
	if word != "on" && word != "off" {
		return errors.New(":notifications on|off, with a session's id for its output, too")
	}
	if id = strings.TrimSpace(id); id != "" {
		if h := c.m.one(id); h != nil {
			id = h.id
		}
	}
	c.board.set(word == "on", id)
	return nil
}

// listEvents prints what has happened to a session.
func (c *console) listEvents(ctx context.Context, args string) error {
	id, _, err := c.target(args)
	if err != nil {
		return err
	}
	var r struct {
		Events []client.SessionEvent `json:"events"`
	}
	if err := c.call(ctx, "session.events", map[string]string{"session": id}, &r); err != nil {
		return err
	}
	if len(r.Events) == 0 {
		fmt.Fprintf(c.out, "nothing has happened to %s yet\n", cli.OneLine(id))
	}
	cols := cli.TerminalOf(c.Out).Cols
	for i := range r.Events {
		e := &r.Events[i]
		at := e.Noted().Local().Format(time.TimeOnly) + "  "
		fmt.Fprintln(c.out, cli.Wrap("  "+at+cli.OneLine(e.String()), cols, len(at)))
	}
	return nil
}

func (c *console) listHistory(_ context.Context, args string) error {
	if c.editor == nil {
		return nil
	}
	entries := c.editor.Entries()
	n := 20
	if args != "" {
		if _, err := fmt.Sscan(args, &n); err != nil || n < 1 {
			return fmt.Errorf(":history %s: give a number of entries", args)
		}
	}
	for i := max(len(entries)-n, 0); i < len(entries); i++ {
		fmt.Fprintf(c.out, "%5d  %s\n", i+1, strings.ReplaceAll(cli.Clean(entries[i]), "\n", "\n       "))
	}
	return nil
}

func (c *console) reconnect(context.Context, string) error {
	if cl := c.client.Swap(nil); cl != nil {
		cl.Close()
	}
	c.m.current, c.m.recordings = nil, nil
	if err := c.connect(); err != nil {
		return err
	}
	fmt.Fprintln(c.out, "connected")
	return nil
}

func (c *console) shutdown(context.Context, string) error {
	p := c.started
	if p == nil || !p.runs() {
		return errors.New("this REPL did not start the server, and others may be using it")
	}
	if cl := c.client.Swap(nil); cl != nil {
		cl.Close()
	}
	if err := p.end(); err != nil {
		return err
	}
	c.started, c.m.current = nil, nil
	fmt.Fprintln(c.out, "the server has ended; :reconnect starts another")
	return nil
}

func (c *console) leave(context.Context, string) error {
	c.quit = true
	return nil
}
