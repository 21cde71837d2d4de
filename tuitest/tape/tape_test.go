package tape_test

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/tuitest/tape"
)

// TestParse: every form of VHS's grammar means what it means there.
func TestParse(t *testing.T) {
	t.Parallel()
	ms := func(n time.Duration) *time.Duration { n *= time.Millisecond; return &n }
	for text, want := range map[string]tape.Command{
		`Type "a b" c.d 'e'`:       {Kind: tape.Type, Text: "a b c.d e", At: 6},
		"Type@500ms `it's`":        {Kind: tape.Type, Text: "it's", Pace: ms(500), At: 12},
		`Type@.5 "x"`:              {Kind: tape.Type, Text: "x", Pace: ms(500), At: 9},
		`Type @1 "x"`:              {Kind: tape.Type, Text: "x", Pace: ms(1000), At: 9},
		`Type "\n"`:                {Kind: tape.Type, Text: `\n`, At: 6},
		"Enter":                    {Kind: tape.Press, Key: "enter", Times: 1},
		"Down@100ms 3":             {Kind: tape.Press, Key: "down", Times: 3, Pace: ms(100)},
		"PageUp 2":                 {Kind: tape.Press, Key: "page_up", Times: 2},
		"Ctrl+C":                   {Kind: tape.Press, Key: "ctrl+c", Times: 1},
		"Ctrl+@":                   {Kind: tape.Press, Key: "ctrl+@", Times: 1},
		"Ctrl+Alt+Delete":          {Kind: tape.Press, Key: "ctrl+alt+delete", Times: 1},
		"Ctrl+Shift+Left":          {Kind: tape.Press, Key: "ctrl+shift+left", Times: 1},
		"Alt+[":                    {Kind: tape.Press, Key: "alt+[", Times: 1},
		"Shift+Tab":                {Kind: tape.Press, Key: "shift+tab", Times: 1},
		"ScrollUp 10":              {Kind: tape.Scroll, Times: 10},
		"Sleep 2":                  {Kind: tape.Sleep, Duration: 2 * time.Second, Text: "2", At: 7},
		"Sleep 500 ms":             {Kind: tape.Sleep, Duration: 500 * time.Millisecond, Text: "500 ms", At: 7},
		"Sleep 1.5m":               {Kind: tape.Sleep, Duration: 90 * time.Second, Text: "1.5m", At: 7},
		"Wait":                     {Kind: tape.Wait, Scope: tape.Line},
		`Wait+Screen@10s /a\/b/`:   {Kind: tape.Wait, Scope: tape.Screen, Within: 10 * time.Second, Pattern: `a\/b`},
		"Wait@2 /x y/":             {Kind: tape.Wait, Scope: tape.Line, Within: 2 * time.Second, Pattern: "x y"},
		"Wait+Stable 300ms":        {Kind: tape.Wait, Scope: tape.Still, Duration: 300 * time.Millisecond},
		"Wait+Stable":              {Kind: tape.Wait, Scope: tape.Still},
		"Output /tmp/x.gif":        {Kind: tape.Output, Text: "/tmp/x.gif", At: 8},
		`Env NAME "a b"`:           {Kind: tape.Env, Name: "NAME", Text: "a b", At: 10},
		"Set FontSize 22":          {Kind: tape.Set, Name: "FontSize", Text: "22", Number: 22, At: 14},
		"Set LoopOffset 20.99%":    {Kind: tape.Set, Name: "LoopOffset", Text: "20.99%", Number: 20.99, At: 16},
		"Set TypingSpeed .1":       {Kind: tape.Set, Name: "TypingSpeed", Text: ".1", Duration: 100 * time.Millisecond, At: 17},
		"Set WaitPattern /[$#]$/":  {Kind: tape.Set, Name: "WaitPattern", Text: "/[$#]$/", Pattern: "[$#]$", At: 17},
		`Set MarginFill "#674EFF"`: {Kind: tape.Set, Name: "MarginFill", Text: "#674EFF", At: 16},
		"Set CursorBlink false":    {Kind: tape.Set, Name: "CursorBlink", Text: "false", At: 17},
		"Hide":                     {Kind: tape.Hide}, "Paste": {Kind: tape.Paste},
		"Copy 'x' y":    {Kind: tape.Copy, Text: "x y", At: 6},
		"Screenshot x":  {Kind: tape.Screenshot, Text: "x", At: 12},
		"Slep 5 # five": {Kind: tape.Unknown, Text: "Slep 5 # five", Likely: "Sleep"},
		"Set Foo bar":   {Kind: tape.Unknown, Text: "Set Foo bar", Name: "Foo"},
	} {
		read, err := tape.Parse("x.tape", []byte(text), nil)
		if err != nil || len(read.Commands) != 1 {
			t.Errorf("%s: %v, %+v", text, err, read)
			continue
		}
		got := read.Commands[0]
		want.File, want.Line = "x.tape", 1
		if got.Name != "" && want.Name == "" {
			want.Name = got.Name
		}
		want.Col, want.Raw = got.Col, got.Raw
		if got.Raw == "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", text, got, want)
		}
	}
}

// TestSeveralOnALine: a command ends where the next one begins.
func TestSeveralOnALine(t *testing.T) {
	t.Parallel()
	text := "Type \"ls\" Sleep 500ms Enter 2 Wait /x/ Ctrl+C Hide Show\n" +
		"Set Theme { \"black\": \"#000000\",\n \"red\": \"#ff0000\" } Type x\n"
	read, err := tape.Parse("x.tape", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []tape.Kind
	for _, c := range read.Commands {
		kinds = append(kinds, c.Kind)
	}
	want := []tape.Kind{tape.Type, tape.Sleep, tape.Press, tape.Wait, tape.Press, tape.Hide, tape.Show, tape.Set, tape.Type}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("%v", kinds)
	}
	if last := read.Commands[len(read.Commands)-1]; last.Line != 3 || last.Col != 21 {
		t.Errorf("behind a theme of two lines: %s", last.Where())
	}
}

// TestErrors have their place, and are told together.
func TestErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Enter 0":                       `x.tape:1:7: "0" is not a number of times from 1 to 1000`,
		"Type@x \"a\"":                  `x.tape:1:5: "@x" is not a time`,
		"Sleep -1":                      `x.tape:1:7: "-1" is not a time`,
		"Sleep 2h":                      `x.tape:1:7: "2h" is not a time`,
		"Wait /x":                       "x.tape:1:6: an expression is not closed",
		"Wait //":                       "x.tape:1:6: the expression is empty",
		"Wait+Stabel":                   "x.tape:1:6: Wait+Stabel is not known: have Line, Screen and Stable: did you mean Wait+Stable?",
		"Set Padding -1":                `x.tape:1:13: Padding is "-1": give a number from 0 to 10000`,
		"Set WindowBar Colourful":       "x.tape:1:15: \"Colourful\" is no window bar: have Colorful, ColorfulRight, Rings, RingsRight: did you mean Colorful?",
		"Set MarginFill \"#12\"":        `x.tape:1:16: "#12" is no colour`,
		"Set CursorBlink maybe":         `x.tape:1:17: CursorBlink is "maybe": give true or false`,
		"Set Theme {\"black\": 1}":      "x.tape:1:11: the theme cannot be read: black is \"1\"",
		"Set Theme {":                   "x.tape:1:11: the braces are not closed",
		"Ctrl":                          "x.tape:1:1: Ctrl wants a key: Ctrl+c",
		"Enter+x":                       "", // no key, and no command that takes a +: unknown
		"\xff":                          "x.tape:1:1: the line is not UTF-8",
		"\ufeffEnter":                   "x.tape:1:1: the tape begins with a byte order mark",
		"Env A=B c":                     `x.tape:1:5: "A=B" is not the name of a variable`,
		"Source self":                   "",
		"\n\n  \"x\"":                   "x.tape:3:3: expected a command",
		strings.Repeat("Hide\n", 10001): "x.tape:10001:1: more than 10000 commands",
	} {
		_, err := tape.Parse("x.tape", []byte(text), nil)
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	_, err := tape.Parse("x.tape", []byte("Sleep x\nEnter\n  Sleep y Enter\n"), nil)
	var e *tape.Error
	if !errors.As(err, &e) || len(e.Errors()) != 2 || e.More[0].Line != 3 || e.More[0].Col != 9 {
		t.Errorf("%v", err)
	}
}

// TestSource: a tape that is named stands in the place of the command, without its Outputs, and one
// that names itself ends.
func TestSource(t *testing.T) {
	t.Parallel()
	read, err := tape.Parse("a.tape", []byte("Source b.tape Enter"), func(name string) ([]byte, error) {
		if name != "b.tape" {
			return nil, os.ErrNotExist
		}
		return []byte("Output x.gif\nType 'b'\nOutput y.gif\n"), nil
	})
	if err != nil || len(read.Commands) != 2 || read.Commands[0].Where() != "b.tape:2:1" || read.Commands[1].Kind != tape.Press {
		t.Errorf("%v: %+v", err, read)
	}
	_, err = tape.Parse("a.tape", []byte("Source b.tape"), func(string) ([]byte, error) { return []byte("Sleep x"), nil })
	if err == nil || !strings.HasPrefix(err.Error(), "b.tape:1:7: ") {
		t.Errorf("%v", err)
	}
	calls := 0
	_, err = tape.Parse("a.tape", []byte("Source a.tape"), func(string) ([]byte, error) {
		calls++
		return []byte("Source a.tape\nSource a.tape\n"), nil
	})
	if err == nil || calls > 1000 {
		t.Errorf("tapes that name each other twice: %d were read: %v", calls, err)
	}
}

// TestHeader: settings count before the first other command, but for the typing speed.
func TestHeader(t *testing.T) {
	t.Parallel()
	read, err := tape.Parse("x.tape", []byte("Set Width 800\nOutput x.gif\nSet Theme Dracula\nEnv A b\nHide\nSet Height 3\nSet TypingSpeed 1s\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, late := read.Header()
	if s.Width != 800 || s.Height != 600 || s.Theme != "Dracula" || s.TypingSpeed != 50*time.Millisecond || len(s.Given) != 2 ||
		len(late) != 1 || late[0].Name != "Height" {
		t.Errorf("%+v, %+v", s, late)
	}
}

// FuzzParse: any file is read or refused with its place; a command says where it stands.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"Type \"x\" Enter 3 Wait+Screen@2s /a/\n", "Set Theme {\n\"black\": \"#123456\" }\nCtrl++ Alt+'", "Sleep .5 m#", "Env A `b`\r\nSource \"x\"", "Set LoopOffset 5%\nOutput /a/b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		depth := 0
		read, err := tape.Parse("x.tape", []byte(text), func(string) ([]byte, error) {
			if depth++; depth > 50 {
				return nil, os.ErrNotExist
			}
			return []byte(text), nil
		})
		var e *tape.Error
		if err != nil {
			if !errors.As(err, &e) || e.Line < 1 || e.Col < 1 || e.Msg == "" || len(e.Errors()) > 20 {
				t.Fatalf("%#v", err)
			}
			return
		}
		lines := strings.Count(text, "\n") + 1
		for _, c := range read.Commands {
			if c.Line < 1 || c.Line > lines || c.Col < 1 || c.Raw == "" && c.Kind != tape.Unknown {
				t.Fatalf("%+v", c)
			}
		}
	})
}
