package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/redact"
)

const (
	// pace is how long after a change the editor is updated, so that a flood costs five messages a
	// second.
	pace = 200 * time.Millisecond
	// maxShown is how much of a terminal's output is text in a tool call, in bytes. Each change
	// sends all of it again; nobody reads more than a few screens there.
	maxShown = 16 << 10
	// maxCalls bounds the tool calls, and the terminals, that are kept up to date. The oldest are
	// no longer updated.
	maxCalls = 256
)

// A show keeps the editor's view of the agent's terminals up to date. Where the agent embeds one in
// a tool call, an editor that supports the extension `_meta.terminal_output` (Zed and others) gets
// a terminal with that name, its output, and its end; any other gets the end of its output as text
// in the terminal's place, and the tool call's content again after each change.
//
// It belongs to the goroutine that writes to the editor.
type show struct {
	source *Terminals
	native func() bool // the editor supports the extension

	calls     map[callKey]*toolCall
	terminals map[string]*shownTerminal
	changed   <-chan struct{} // of the engine, taken before the last look; nil: nothing to watch, or timer runs
	timer     *time.Timer     // nil: nothing has changed
	clock     int             // of use
}

type callKey struct{ session, call string }

// A toolCall is one whose content contains terminals.
type toolCall struct {
	key     callKey
	content []element
	used    int
}

// An element of a tool call's content: as the agent sent it, or a terminal.
type element struct {
	raw      json.RawMessage
	terminal *shownTerminal
}

// A shownTerminal is what was shown of a terminal, which may have been released since.
type shownTerminal struct {
	id     string
	run    *Terminal // nil once everything was shown
	native bool      // the editor shows it by the extension
	text   string    // else its text as last shown
	call   callKey   // the tool call that shows it
	offset engine.Offset
	stream *redact.Stream
	used   int
}

func newShow(source *Terminals, native func() bool) *show {
	return &show{source: source, native: native, calls: map[callKey]*toolCall{},
		terminals: map[string]*shownTerminal{}}
}

// due fires when something must be shown again; not in the middle of a line to the editor.
func (s *show) due(begun bool) <-chan time.Time {
	if s.timer == nil || begun {
		return nil
	}
	return s.timer.C
}

// hurry handles a change.
func (s *show) hurry() {
	s.changed = nil
	if s.timer == nil {
		s.timer = time.NewTimer(pace)
	}
}

func (s *show) stop() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// refresh returns the messages that bring the editor up to date.
func (s *show) refresh() (messages [][]byte) {
	s.stop()
	s.changed = s.source.host.Engine.Changed() // taken before looking, so that no change is missed
	live, fresh := false, map[*shownTerminal]bool{}
	for _, t := range s.terminals {
		if t.run == nil {
			continue
		}
		if t.native {
			messages = append(messages, t.tell(s.source.hide)...)
			if t.stream != nil && t.stream.Pending() > 0 {
				s.timer = time.NewTimer(pace) // shows what it holds back if nothing follows
			}
		} else if text := t.render(); text != t.text {
			t.text = text
			fresh[t] = true
		}
		live = live || t.run != nil
	}
	for _, c := range s.calls {
		for _, e := range c.content {
			if e.terminal != nil && fresh[e.terminal] {
				messages = append(messages, c.message())
				break
			}
		}
	}
	if !live {
		s.changed = nil
	}
	return messages
}

// tool returns what the editor gets for an update or a question about a tool call: the line, with
// its terminals in a form that the editor supports.
func (s *show) tool(line []byte, m map[string]span, update bool) [][]byte {
	params := m["params"]
	pm := members(params.of(line))
	at, ok := pm["toolCall"]
	if update {
		at, ok = pm["update"]
	}
	if !ok {
		return [][]byte{line}
	}
	at = at.within(params)
	tm := members(at.of(line))
	call := &toolCall{key: callKey{text(params.of(line), pm, "sessionId"),
		text(at.of(line), tm, "toolCallId")}, used: s.tick()}
	var messages [][]byte
	if s.has(call.key) { // the terminals' earlier output comes before what it says now
		messages = s.refresh()
	}
	content, ok := tm["content"]
	if !ok || call.key.call == "" {
		return append(messages, line)
	}
	content = content.within(at)
	delete(s.calls, call.key) // what is sent now replaces it
	var edits []edit
	told, kept := false, false
	for _, e := range elements(content.of(line)) {
		e = e.within(content)
		one := element{raw: e.of(line)}
		em := members(e.of(line))
		if id := text(e.of(line), em, "terminalId"); strings.HasPrefix(id, prefix) &&
			text(e.of(line), em, "type") == "terminal" {
			t := s.terminal(call.key, id)
			if !t.native && t.text == "" && t.run != nil && s.native() && !told { // one per message
				t.native, told = true, true
				edits = append(edits, s.info(at, tm, line, t))
			}
			if !t.native {
				if t.run != nil {
					t.text = t.render()
				}
				one, kept = element{terminal: t}, true
				edits = append(edits, edit{e, t.content()})
			}
		}
		call.content = append(call.content, one)
	}
	if kept {
		s.calls[call.key] = call
	}
	s.forget()
	if len(edits) > 0 && s.timer == nil {
		s.hurry()
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	return append(messages, apply(line, edits...))
}

// has reports whether a tool call shows a terminal that may still change.
func (s *show) has(key callKey) bool {
	if s.calls[key] != nil {
		return true
	}
	for _, t := range s.terminals {
		if t.call == key && t.run != nil {
			return true
		}
	}
	return false
}

// terminal returns what is shown of a terminal.
func (s *show) terminal(call callKey, id string) *shownTerminal {
	t := s.terminals[id]
	if t == nil {
		t = &shownTerminal{id: id, call: call}
		var err error
		if t.run, err = s.source.Find(call.session, id); err != nil {
			t.text = "(the terminal was released before it was shown)"
		}
		s.terminals[id] = t
	}
	t.used = s.tick()
	return t
}

func (s *show) tick() int {
	s.clock++
	return s.clock
}

// forget drops the least recently used entries beyond the limits.
func (s *show) forget() {
	if len(s.calls) > maxCalls {
		var oldest *toolCall
		for _, c := range s.calls {
			if oldest == nil || c.used < oldest.used {
				oldest = c
			}
		}
		delete(s.calls, oldest.key)
	}
	if len(s.terminals) > maxCalls {
		var oldest *shownTerminal
		for _, t := range s.terminals {
			if oldest == nil || t.used < oldest.used {
				oldest = t
			}
		}
		delete(s.terminals, oldest.id)
	}
}

// render returns the terminal's current text. After the program's end it is called no more.
func (t *shownTerminal) render() string {
	exit := t.run.run.View().Exit
	text, cut := t.run.tail.newest(maxShown, exit != nil)
	if cut {
		if i := strings.IndexByte(text, '\n'); i >= 0 && i < len(text)-1 {
			text = text[i+1:]
		}
		text = "…\n" + text
	}
	if exit != nil && !exit.Draining {
		t.run = nil
	}
	fence := fenceOf(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	text = fence + "\n" + text + fence
	switch {
	case exit == nil:
	case exit.Signal != "":
		text += "\nended by " + exit.Signal
	case exit.Status() != 0:
		text += fmt.Sprintf("\nexit code %d", exit.Status())
	}
	return text
}

// fenceOf returns a Markdown fence that nothing in a text closes (CommonMark 0.31, section 4.5).
func fenceOf(text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// content is the text as an element of a tool call's content.
func (t *shownTerminal) content() []byte {
	return encode(map[string]any{"type": "content",
		"content": map[string]any{"type": "text", "text": t.text}})
}

// message brings a tool call's content up to date.
func (c *toolCall) message() []byte {
	content := make([]json.RawMessage, len(c.content))
	for i, e := range c.content {
		content[i] = e.raw
		if e.terminal != nil {
			content[i] = e.terminal.content()
		}
	}
	return c.key.update(map[string]any{"content": content})
}

// update is an update of a tool call, a line.
func (k callKey) update(more map[string]any) []byte {
	more["sessionUpdate"], more["toolCallId"] = "tool_call_update", k.call
	return append(encode(map[string]any{
		"jsonrpc": "2.0", "method": "session/update",
		"params": map[string]any{"sessionId": k.session, "update": more},
	}), '\n')
}

// info adds the terminal's information to a tool call, in the message that embeds it.
func (s *show) info(at span, tm map[string]span, line []byte, t *shownTerminal) edit {
	said := map[string]any{"terminal_id": t.id}
	if t.run.dir != "" {
		said["cwd"] = t.run.dir
	}
	member := `"terminal_info":` + string(encode(said))
	meta, ok := tm["_meta"]
	if !ok {
		return insert(at, tm, `"_meta":{`+member+`}`)
	}
	meta = meta.within(at)
	mm := members(meta.of(line))
	if mm == nil {
		return edit{meta, []byte(`{` + member + `}`)}
	}
	return insert(meta, mm, member)
}

// tell returns the messages for an editor that supports the extension: new output, and the end.
func (t *shownTerminal) tell(hide *redact.Redactor) (messages [][]byte) {
	v := t.run.run.View()
	raw, next, dropped := v.Transcript.Since(t.offset)
	data := string(raw)
	if dropped { // too much at once: the rest may begin inside a secret
		i := strings.IndexAny(data, " \t\r\n")
		data, t.stream = "\r\n…\r\n"+data[max(i, 0):], nil
	}
	t.offset = next
	over := v.Exit != nil && !v.Exit.Draining
	if hide != nil {
		if t.stream == nil {
			t.stream = redact.NewStream(hide.For(string(v.Session)))
		}
		if data == "" || over {
			data = t.stream.Write(data) + t.stream.Flush()
		} else {
			data = t.stream.Write(data)
		}
	}
	meta := func(name string, value map[string]any) {
		value["terminal_id"] = t.id
		messages = append(messages,
			t.call.update(map[string]any{"_meta": map[string]any{name: value}}))
	}
	if data != "" {
		meta("terminal_output", map[string]any{"data": data})
	}
	if over {
		e := exitOfV1(v.Exit)
		meta("terminal_exit", map[string]any{"exit_code": e.ExitCode, "signal": e.Signal})
		t.run = nil
	}
	return messages
}

// encode is JSON of values that always encode.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // never: strings, and what came as JSON
	}
	return b
}
