//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const keyList = "Enter, Tab, Escape, Backspace, Delete, ArrowUp, ArrowDown, ArrowRight, ArrowLeft, Home, End, PageUp, PageDown, Insert, F1..."

// TestTerminalMCP are the cases of Terminal MCP's behaviour, by their numbers, through the program
// and its wire.
func TestTerminalMCP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		test func(t *testing.T)
	}{
		{"T01 handshake", func(t *testing.T) {
			for asked, told := range map[string]string{"2024-11-05": "", "2025-03-26": "", "2025-06-18": "", "2025-11-25": "", "2026-07-28": "2025-11-25", "1900-01-01": "2025-11-25"} {
				home := t.TempDir()
				s := startTerminalWith(t, asTerminalMCP(t, home, "--headless"), home, asked)
				info, _ := s.hi["serverInfo"].(map[string]any)
				capabilities, _ := s.hi["capabilities"].(map[string]any)
				if told == "" {
					told = asked
				}
				if s.hi["protocolVersion"] != told || info["name"] != "terminal-mcp" || info["version"] != "0.5.1" || s.hi["instructions"] == "" {
					t.Errorf("asked for %s: %v", asked, s.hi)
				}
				if b, _ := json.Marshal(capabilities); string(b) != `{"prompts":{},"tools":{}}` {
					t.Errorf("capabilities are %s", b)
				}
				s.end(0)
			}
		}},
		{"T02 list", func(t *testing.T) {
			s := headless(t)
			var r struct {
				Tools []struct {
					Name, Description string
					InputSchema       struct {
						Type       string
						Properties map[string]struct {
							Type    string
							Enum    []string
							Default any
						}
						Required []string
					}
				}
				NextCursor *string
			}
			if err := json.Unmarshal(s.ask("tools/list", nil).Result, &r); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, x := range r.Tools {
				names = append(names, x.Name)
				if x.InputSchema.Type != "object" || x.Description == "" {
					t.Errorf("%s: schema %+v, description %q", x.Name, x.InputSchema, x.Description)
				}
			}
			want := []string{"type", "sendKey", "getContent", "takeScreenshot", "clear", "startRecording", "stopRecording", "createSession", "listSessions", "destroySession"}
			if !slices.Equal(names, want) || r.NextCursor != nil {
				t.Errorf("tools are %v, cursor %v", names, r.NextCursor)
			}
			for i, required := range map[int]string{0: "text", 1: "key", 6: "recordingId", 9: "sessionId"} {
				if got := r.Tools[i].InputSchema.Required; !slices.Equal(got, []string{required}) {
					t.Errorf("%s requires %v", names[i], got)
				}
			}
			if p := r.Tools[3].InputSchema.Properties["format"]; !slices.Equal(p.Enum, []string{"text", "ansi", "png"}) {
				t.Errorf("format is %+v", p)
			}
		}},
		{"T03 typed characters", func(t *testing.T) {
			s := headless(t)
			for text, n := range map[string]int{"echo héé😀": 10, "": 0, "ls -la": 6, "\t\n": 2} {
				if got := s.text("type", args{"text": text}); got != fmt.Sprintf("Typed %d character(s) to terminal", n) {
					t.Errorf("%q: %q", text, got)
				}
			}
		}},
		{"T05 a key's name is told as given", func(t *testing.T) {
			s := headless(t)
			s.until(`\$ $`, "")
			s.text("type", args{"text": "echo $((6*7))"})
			if got := s.text("sendKey", args{"key": " enter "}); got != "Sent key:  enter " {
				t.Errorf("%q", got)
			}
			s.until(`(?m)^42$`, "")
		}},
		{"T06 keys", testTerminalKeys},
		{"T07 unknown key", func(t *testing.T) {
			s := headless(t)
			s.refused(`Error: Unknown key: "Nope". Available keys include: `+keyList, "sendKey", args{"key": "Nope"})
			s.refused(`Error: Unknown key: "". Available keys include: `+keyList, "sendKey", args{"key": ""})
		}},
		{"T08 content", func(t *testing.T) {
			s := headless(t, "--rows", "4")
			s.enter("printf '%s\\n' a1 a2 a3 a4 a5 a6")
			if got, want := s.until(`a6\n\$ $`, ""), "$ printf '%s\\n' a1 a2 a3 a4 a5 a6\na1\na2\na3\na4\na5\na6\n$ "; got != want {
				t.Errorf("the buffer is %q, want %q", got, want)
			}
			if got, want := s.text("getContent", args{"visibleOnly": true}), "a4\na5\na6\n$ "; got != want {
				t.Errorf("the screen is %q, want %q", got, want)
			}
			s.enter("printf %100s x")
			if got := s.until(`x\$ $`, ""); !strings.Contains(got, strings.Repeat(" ", 19)+"x$ ") { // rows that wrapped stay two
				t.Errorf("the wrapped row is in %q", got)
			}
		}},
		{"T08 blanks at the ends of rows", func(t *testing.T) {
			s := headless(t, "--rows", "4")
			s.enter("printf 'a  \\n%81s\\n\\tb \\t\\nc \\033[K\\nd  \\b\\b\\033[K\\nName:  ' 'x '; read x")
			got := s.until(`Name:  $`, "")
			_, got, _ = strings.Cut(got, "read x\n")
			if want := "a  \n" + strings.Repeat(" ", 79) + "x\n \n        b \nc \nd\nName:  "; got != want {
				t.Errorf("the buffer is %q, want %q", got, want)
			}
			if got, want := s.text("getContent", args{"visibleOnly": true}), "        b \nc \nd\nName:  "; got != want {
				t.Errorf("the screen is %q, want %q", got, want)
			}
			var shot shotText
			if s.decode(&shot, "takeScreenshot", args{}); !strings.HasSuffix(shot.Content, "Name:  ") {
				t.Errorf("the picture's text is %q", shot.Content)
			}
		}},
		{"T09 a fresh screen", func(t *testing.T) {
			s := headless(t)
			s.until(`\$`, "")
			var shot shotText
			text := s.decode(&shot, "takeScreenshot", args{})
			if shot.Content != "$ "+strings.Repeat("\n", 9) || shot.Cursor.Y != 0 || shot.Cursor.X != 2 || shot.Dimensions.Cols != 80 || shot.Dimensions.Rows != 10 {
				t.Errorf("%q", text)
			}
			if want := "{\n  \"content\": \"$ \\n\\n\\n\\n\\n\\n\\n\\n\\n\",\n  \"cursor\": {\n    \"x\": 2,\n    \"y\": 0\n  },\n  \"dimensions\": {\n    \"cols\": 80,\n    \"rows\": 10\n  }\n}"; text != want {
				t.Errorf("%q, want %q", text, want)
			}
		}},
		{"T10 colours", func(t *testing.T) {
			s := headless(t, "--cols", "12", "--rows", "6")
			s.enter(`clear; printf '\033[1;31mab\033[0mc\033[4;92;44md\033[m\n\033[38;5;200;48;2;1;2;3m日\033[0;7mx\033[m\n'`)
			s.until(`(?m)^日x *\n\$ $`, "") // the prompt that follows is drawn, too
			var shot shotText
			s.decode(&shot, "takeScreenshot", args{"format": "ansi"})
			want := "\x1b[1;31mab\x1b[0mc\x1b[0;4;92;44md\x1b[0m        \x1b[0m\n" +
				"\x1b[38;5;200;48;2;1;2;3m日 \x1b[0mx         \x1b[0m\n$           \x1b[0m"
			if shot.Content != want {
				t.Errorf("%q, want %q", shot.Content, want)
			}
		}},
		{"T11 a picture", testTerminalPicture},
		{"T12 clear", func(t *testing.T) {
			s := headless(t, "--rows", "4")
			s.enter("printf '%s\\n' a1 a2 a3 a4 a5 a6")
			s.until(`a6\n\$ $`, "")
			if got := s.text("clear", nil); got != "Terminal cleared" {
				t.Errorf("%q", got)
			}
			if got := s.text("getContent", nil); got != "$ " {
				t.Errorf("after clear the terminal holds %q", got)
			}
			s.enter("echo on")
			s.until(`^\$ echo on\non\n\$ $`, "")
		}},
		{"T13 an empty terminal", func(t *testing.T) {
			home := t.TempDir()
			p := asTerminalMCP(t, home, "--headless", "--shell", "cat")
			s := startTerminal(t, p, home)
			defer s.end(0)
			if got := s.text("getContent", nil); got != "(empty terminal)" {
				t.Errorf("%q", got)
			}
			if got := s.text("getContent", args{"visibleOnly": true}); got != strings.Repeat("\n", 39) {
				t.Errorf("%q", got)
			}
		}},
		{"T14 unknown tool", func(t *testing.T) {
			s := headless(t)
			s.refused("Error: Unknown tool: zzz", "zzz", args{})
			s.refused("Error: Unknown tool: ", "", nil)
		}},
		{"T15 sessions", testTerminalSessions},
		{"T16 the limit", func(t *testing.T) {
			s := headless(t)
			for range 4 {
				s.text("createSession", nil)
			}
			s.refused("Error: Maximum session limit reached (5). Destroy an existing session or raise --max-sessions.", "createSession", args{})
			o := headless(t, "--max-sessions", "1")
			o.refused("Error: Maximum session limit reached (1). Destroy an existing session or raise --max-sessions.", "createSession", nil)
		}},
		{"T17 destroy", func(t *testing.T) {
			s := headless(t)
			var list struct{ Sessions []sessionText }
			s.decode(&list, "listSessions", nil)
			var made sessionText
			s.decode(&made, "createSession", nil)
			for _, x := range []struct{ id, text, failed string }{
				{"zzzzz", "Session 'zzzzz' not found", "true"},
				{list.Sessions[0].SessionID, "Session '" + list.Sessions[0].SessionID + "' is the default session and cannot be destroyed", "true"},
				{made.SessionID, "Session '" + made.SessionID + "' destroyed", "false"},
				{made.SessionID, "Session '" + made.SessionID + "' not found", "true"},
			} {
				if r := s.tool("destroySession", args{"sessionId": x.id}); r.Content[0].Text != x.text || r.failed() != x.failed {
					t.Errorf("%s: %q, isError %q", x.id, r.Content[0].Text, r.failed())
				}
			}
		}},
		{"T18 unknown session", func(t *testing.T) {
			s := headless(t)
			for _, tool := range []string{"type", "sendKey", "getContent", "takeScreenshot", "startRecording", "clear"} {
				s.refused("Error: Session 'nope1' not found", tool, args{"sessionId": "nope1", "text": "x", "key": "Tab"})
			}
		}},
		{"T19 arguments", testTerminalArguments},
		{"T20 record and stop", testTerminalRecording},
		{"T21 a recording that stops by itself", testTerminalAutoStop},
		{"T22 on failure", testTerminalOnFailure},
		{"T23 the file", testTerminalCast},
		{"T24 the input ends while recording", func(t *testing.T) {
			s := headless(t)
			var r recordingText
			s.decode(&r, "startRecording", nil)
			begin := time.Now()
			s.enter("echo hi")
			s.until(`(?m)^hi$`, "")
			s.end(0)
			if m := readMeta(t, r.Path); m.ExitCode != nil || m.StopReason != "server_shutdown" || m.BytesWritten == 0 {
				t.Errorf("after %s: %+v", time.Since(begin), m)
			}
		}},
		{"T25 the default shell ends", testTerminalEnded},
		{"T26 junk", func(t *testing.T) {
			s := headless(t)
			for junk, code := range map[string]int{"junk": -32700, "[]": -32600, "{nope": -32700, "[{}]": -32600, "5": -32600, `"x"`: -32600, "null": -32600, "\xff": -32700} {
				s.line(junk)
				if a := s.next(); a.ID != nil || a.Error == nil || a.Error.Code != code {
					t.Errorf("%q is answered %+v, want %d", junk, a, code)
				}
			}
			s.line("") // no line is no message
			s.line("   ")
			if got := s.text("type", args{"text": ""}); got != "Typed 0 character(s) to terminal" {
				t.Errorf("%q", got)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t)
		})
	}
}

func testTerminalKeys(t *testing.T) {
	table := map[string]string{
		"Enter": "^M", "Tab": "^I", "Escape": "^[", "Backspace": "^?", "Delete": "^[[3~", "Insert": "^[[2~", "ArrowUp": "^[[A", "ArrowDown": "^[[B",
		"ArrowRight": "^[[C", "ArrowLeft": "^[[D", "Home": "^[[H", "End": "^[[F", "PageUp": "^[[5~", "PageDown": "^[[6~", "F1": "^[OP", "F2": "^[OQ",
		"F3": "^[OR", "F4": "^[OS", "F5": "^[[15~", "F6": "^[[17~", "F7": "^[[18~", "F8": "^[[19~", "F9": "^[[20~", "F10": "^[[21~", "F11": "^[[23~",
		"F12": "^[[24~", "Ctrl+[": "^[", `Ctrl+\`: `^\`, "Ctrl+]": "^]", "Ctrl+^": "^^", "Ctrl+_": "^_", "Ctrl+Space": "^@",
	}
	for c := 'A'; c <= 'Z'; c++ {
		table["Ctrl+"+string(c)] = "^" + string(c)
	}
	s := headless(t, "--cols", "400")
	s.enter(`stty raw -echo; printf '\033[?1h\033[2J\033[Hready'; cat -vET`) // with application cursor keys on
	s.until(`^ready`, "")
	want := "ready"
	for name, shown := range table {
		if shown != "^J" {
			s.text("sendKey", args{"key": name})
			want += shown
		}
	}
	s.text("sendKey", args{"key": "Ctrl+J"}) // a line feed, before which cat has a dollar sign
	want += "$"
	if got := s.until(`\$$`, ""); got != want {
		t.Errorf("shown is %q, want %q", got, want)
	}
}

func testTerminalPicture(t *testing.T) {
	s := headless(t)
	size := func() []byte {
		r := s.tool("takeScreenshot", args{"format": "png"})
		c := r.Content[0]
		if c.Type != "image" || c.MimeType != "image/png" || c.Text != "" || r.failed() != "" {
			t.Fatalf("%s, %s, isError %q", c.Type, c.MimeType, r.failed())
		}
		b, err := base64.StdEncoding.DecodeString(c.Data)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	picture := size()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	if d := img.Bounds().Size(); d.X != 2*(672+32) || d.Y != 2*(170+56) {
		t.Errorf("the picture has %v pixels", d)
	}
	if _, _, _, a := img.At(0, 0).RGBA(); a != 0 {
		t.Error("the corner is not round")
	}
	if r, g, b, _ := img.At(40, 36).RGBA(); r>>8 != 0xff || g>>8 != 0x5f || b>>8 != 0x57 {
		t.Errorf("the first button is %x %x %x", r>>8, g>>8, b>>8)
	}
	// After scrolling it shows the viewport: a red row that is the last one.
	s.enter(`seq 50; printf '\033[41m%80s\033[m'; read x`)
	s.until(`(?m)^50$`, "")
	poll(t, func() string {
		img, err := png.Decode(bytes.NewReader(size()))
		if err != nil {
			t.Fatal(err)
		}
		if r, g, b, _ := img.At(700, 88+34*9+17).RGBA(); r>>8 == 0xe0 && g>>8 == 0x6c && b>>8 == 0x75 {
			return ""
		}
		return fmt.Sprintf("the last row is not red: %v", img.At(700, 88+34*9+17))
	})
}

func testTerminalSessions(t *testing.T) {
	s := headless(t)
	var made sessionText
	text := s.decode(&made, "createSession", args{"cols": 40, "rows": 5})
	keys := regexp.MustCompile(`(?m)^  "(\w+)":`).FindAllStringSubmatch(text, -1)
	var order []string
	for _, k := range keys {
		order = append(order, k[1])
	}
	if want := []string{"sessionId", "shell", "cols", "rows", "createdAt", "lastActivityAt", "isDefault"}; !slices.Equal(order, want) {
		t.Errorf("members are %v, want %v", order, want)
	}
	if !regexp.MustCompile(`^[0-9a-f]{5}$`).MatchString(made.SessionID) || made.Shell != "/bin/sh" || made.Cols != 40 || made.Rows != 5 || made.IsDefault {
		t.Errorf("%s", text)
	}
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(made.CreatedAt) || made.CreatedAt != made.LastActivityAt {
		t.Errorf("times are %s and %s", made.CreatedAt, made.LastActivityAt)
	}
	s.until(`\$ $`, made.SessionID)
	s.text("type", args{"text": "stty size; echo $TERMINAL_MCP $TERM\r", "sessionId": made.SessionID})
	s.until(`5 40\n1 xterm-256color`, made.SessionID)
	if got := s.text("getContent", nil); strings.Contains(got, "stty") {
		t.Errorf("the default session holds %q", got)
	}
	var list struct {
		Sessions                        []sessionText
		MaxSessions, SessionIdleTimeout float64
	}
	s.decode(&list, "listSessions", nil)
	if len(list.Sessions) != 2 || !list.Sessions[0].IsDefault || list.Sessions[1].SessionID != made.SessionID || list.MaxSessions != 5 || list.SessionIdleTimeout != 600 {
		t.Errorf("%+v", list)
	}
	if list.Sessions[1].LastActivityAt < made.LastActivityAt || list.Sessions[0].LastActivityAt != list.Sessions[0].CreatedAt {
		t.Errorf("%+v", list.Sessions)
	}
	s.text("type", args{"text": "exit\r", "sessionId": made.SessionID})
	poll(t, func() string {
		r := s.tool("getContent", args{"sessionId": made.SessionID})
		if r.failed() != "true" {
			return "the session does not end"
		}
		want := "Error: Session '" + made.SessionID + "' is no longer active"
		if got := r.Content[0].Text; got != want {
			t.Errorf("of a session that has ended: %q, want %q", got, want)
		}
		return ""
	})
	s.refused("Error: Session '"+made.SessionID+"' not found", "getContent", args{"sessionId": made.SessionID})
	s.decode(&list, "listSessions", nil)
	if len(list.Sessions) != 1 {
		t.Errorf("%+v", list.Sessions)
	}
}

func testTerminalEnded(t *testing.T) {
	s := headless(t)
	var list struct{ Sessions []sessionText }
	s.decode(&list, "listSessions", nil)
	id := list.Sessions[0].SessionID
	s.enter("exit 3")
	const gone = "Error: Session not initialized. Use getSessionAsync() or call initSession() first."
	poll(t, func() string {
		return unless(s.tool("getContent", nil).failed() != "", "the session does not end")
	})
	for _, tool := range []string{"getContent", "takeScreenshot", "type", "sendKey", "startRecording", "clear"} {
		s.refused(gone, tool, args{"text": "x", "key": "Tab", "sessionId": ""})
	}
	s.decode(&list, "listSessions", nil)
	if len(list.Sessions) != 0 {
		t.Errorf("%+v", list.Sessions)
	}
	if r := s.tool("destroySession", args{"sessionId": id}); r.Content[0].Text != "Session '"+id+"' is the default session and cannot be destroyed" {
		t.Errorf("%q", r.Content[0].Text)
	}
	for range 5 { // the default one counts no more
		s.text("createSession", nil)
	}
	s.decode(&list, "listSessions", nil)
	s.until(`\$`, list.Sessions[4].SessionID)
}

func testTerminalArguments(t *testing.T) {
	s := headless(t)
	issue := func(lines ...string) string {
		return "Error: [\n  {\n    " + strings.Join(lines, ",\n    ") + "\n  }\n]"
	}
	path := func(name string) string { return "\"path\": [\n      \"" + name + "\"\n    ]" }
	required := func(name string) string {
		return issue(`"code": "invalid_type"`, `"expected": "string"`, `"received": "undefined"`, path(name), `"message": "Required"`)
	}
	wrong := func(name, expected, received string) string {
		return issue(`"code": "invalid_type"`, `"expected": "`+expected+`"`, `"received": "`+received+`"`, path(name), `"message": "Expected `+expected+`, received `+received+`"`)
	}
	none := issue(`"code": "invalid_type"`, `"expected": "object"`, `"received": "undefined"`, `"path": []`, `"message": "Required"`)
	for _, c := range []struct {
		tool string
		a    args
		want string
	}{
		{"type", args{}, required("text")},
		{"type", nil, none}, {"sendKey", nil, none}, {"stopRecording", nil, none}, {"destroySession", nil, none},
		{"sendKey", args{"text": "x"}, required("key")},
		{"stopRecording", args{}, required("recordingId")},
		{"destroySession", args{}, required("sessionId")},
		{"type", args{"text": 5}, wrong("text", "string", "number")},
		{"type", args{"text": nil}, wrong("text", "string", "null")},
		{"type", args{"text": []int{}}, wrong("text", "string", "array")},
		{"sendKey", args{"key": true}, wrong("key", "string", "boolean")},
		{"getContent", args{"visibleOnly": "true"}, wrong("visibleOnly", "boolean", "string")},
		{"getContent", args{"sessionId": 1}, wrong("sessionId", "string", "number")},
		{"createSession", args{"cols": "80"}, wrong("cols", "number", "string")},
		{"startRecording", args{"maxDuration": "1"}, wrong("maxDuration", "number", "string")},
		{"takeScreenshot", args{"format": "bogus"}, issue(`"received": "bogus"`, `"code": "invalid_enum_value"`,
			"\"options\": [\n      \"text\",\n      \"ansi\",\n      \"png\"\n    ]", path("format"), `"message": "Invalid enum value. Expected 'text' | 'ansi' | 'png', received 'bogus'"`)},
		{"takeScreenshot", args{"format": 1}, issue(`"expected": "'text' | 'ansi' | 'png'"`, `"received": "number"`, `"code": "invalid_type"`, path("format"),
			`"message": "Expected 'text' | 'ansi' | 'png', received number"`)},
		{"startRecording", args{"mode": "off"}, issue(`"received": "off"`, `"code": "invalid_enum_value"`,
			"\"options\": [\n      \"always\",\n      \"on-failure\"\n    ]", path("mode"), `"message": "Invalid enum value. Expected 'always' | 'on-failure', received 'off'"`)},
		{"createSession", args{"rows": 0}, issue(`"code": "too_small"`, `"minimum": 0`, `"type": "number"`, `"inclusive": false`, `"exact": false`,
			`"message": "Number must be greater than 0"`, path("rows"))},
		{"createSession", args{"rows": 1.5}, issue(`"code": "invalid_type"`, `"expected": "integer"`, `"received": "float"`, `"message": "Expected integer, received float"`, path("rows"))},
	} {
		s.refused(c.want, c.tool, c.a)
	}
	for _, size := range []float64{1001, 70000, 1e18, 1e300} { // a terminal that cannot be is refused, whatever its size wraps around to
		if r := s.tool("createSession", args{"cols": size}); r.failed() != "true" || !strings.HasPrefix(r.Content[0].Text, "Error: ") {
			t.Errorf("%v columns: %q", size, r.Content[0].Text)
		}
	}
	s.refused("Error: Recording not found: x", "stopRecording", args{"recordingId": "x"})
	s.text("getContent", args{"unknown": []int{1}, "visibleOnly": false})
	var list struct{ Sessions []sessionText }
	s.decode(&list, "listSessions", args{"any": 1})
	if len(list.Sessions) != 1 {
		t.Errorf("refused calls have left %d sessions", len(list.Sessions))
	}
}
