package testfrom

import (
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/tuitest/script"
	"github.com/ptywright/ptywright/tuitest/tape"
)

const demo = `# a demo
Output demo.gif
Output demo.ascii
Require git
Set Shell "sh"
Set FontSize 20
Set Width 1080
Set Height 640
Set Padding 60
Set Theme { "name": "x" }
Set WaitTimeout 5s
Env LANG "en_US.UTF-8"

Hide
Type "git init" Enter
Wait
Show
Type@100ms ` + "`say \"it's\"`" + ` Sleep 500ms Enter 1
Wait+Screen@2s /done\/\d+/
Ctrl+C
Ctrl+Alt+Delete
Down@10ms 3
Shift+Tab
Copy "a b"
Paste
Source other.tape
Screenshot shot.png
PlayMusic loud
Sleep 1.5
`

// importOf imports a tape's text.
func importOf(name, text string, open func(string) ([]byte, error)) ([]byte, error) {
	t, err := tape.Parse(name, []byte(text), open)
	if err != nil {
		return nil, err
	}
	return Import(t), nil
}

// TestImport: a tape says the same as a script, and what a script cannot say is a comment.
func TestImport(t *testing.T) {
	t.Parallel()
	open := func(name string) ([]byte, error) {
		if name == "other.tape" {
			return []byte("Type \"q\"\n"), nil
		}
		return nil, os.ErrNotExist
	}
	text, err := importOf("dir/demo.tape", demo, open)
	if err != nil {
		t.Fatal(err)
	}
	want := `# made by ptywright test import demo.tape
size 20x80 # about what the tape's picture has
[!exec:git] skip 'git is not installed'
env LANG=en_US.UTF-8
env 'PS1=> '
spawn sh
expect regex />\s*$/ in lines cursor
# a demo
# demo.tape:2: Output demo.gif: a test makes no film; ptywright tape does
# demo.tape:3: Output demo.ascii: the golden screen at the end takes its place
# demo.tape:10: Set Theme { "name": "x" }: it changes pictures only
# demo.tape:14: Hide: a test has no frames to leave out
type 'git init' enter
expect regex />$/ in lines cursor within 5s
# demo.tape:17: Show: a test has no frames to leave out
# demo.tape:18: Type@100ms: keys come at once here, and a program cannot tell
type 'say "it''s"'
wait stable 250ms # Sleep 500ms
press enter
expect regex /done\/\d+/ within 2s
press ctrl+c
press ctrl+alt+delete
press down*3
press shift+tab
paste 'a b'
type 'q'
shot shot.png
# demo.tape:28: PlayMusic loud: not a command that is known here
wait stable 250ms # Sleep 1.5
screen end
`
	if string(text) != want {
		t.Errorf("%s", text)
	}
	if _, err := script.Parse("x.ptw", text); err != nil {
		t.Error(err)
	}
}

// TestTapeErrors are told with the line and the column.
func TestTapeErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Enter\nType": "x.tape:2:1: Type wants a text", `Type "x`: "x.tape:1:6: a quote is not closed", "Sleep soon": "x.tape:1:7: \"soon\" is not a time",
		`"ls"`: "x.tape:1:1: expected a command", "Wait /(/": "x.tape:1:6: error parsing regexp", "Wait+Half": "x.tape:1:6: Wait+Half is not known",
		"Set Width wide": "x.tape:1:11: Width is \"wide\"", "Set Width": "x.tape:1:1: Set Width wants", "Ctrl+Foo": "x.tape:1:1: key \"ctrl+Foo\"",
		"Source gone.tape": "x.tape:1:8: no such tape", "Sleep": "x.tape:1:6: Sleep wants a time", "Env X": "x.tape:1:1: Env wants",
	} {
		_, err := importOf("x.tape", text, func(string) ([]byte, error) { return nil, errors.New("no such tape") })
		var at *tape.Error
		if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	self := func(string) ([]byte, error) { return []byte("Source me\n"), nil }
	if _, err := importOf("me", "Source me\n", self); err == nil || err.Error() != "me:1:1: tapes name each other in a circle: me, me" {
		t.Errorf("a tape that names itself: %v", err)
	}
}

// TestAnyTape is refused with its place, or becomes a script that can be read.
func TestAnyTape(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"Type", "Enter", "Sleep", "Wait", "Wait+Line", "Set", "Env", "Ctrl+C", "Copy", "Paste", "Require", "Output", "Screenshot", "Source", "\n", "\n",
			`"it's"`, "'$x'", "`a`", "/re/", "/a b", "2s", "-1", "Width", "Shell", "x.png", "{", "#", "\x1b", "日本", "-- a --", "\"\\x1b\"", "Alt+'", "Down@1s", "3"})
		made := strings.Join(rapid.SliceOf(word).Draw(t, "tape"), " ")
		text, err := importOf("x.tape", made, nil)
		if err != nil {
			var at *tape.Error
			if !errors.As(err, &at) || at.Line < 1 || at.Col < 1 {
				t.Fatalf("%v", err)
			}
			return
		}
		if _, err := script.Parse("x.ptw", text); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
	})
}
