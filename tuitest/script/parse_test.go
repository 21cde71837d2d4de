package script_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/tuitest/script"
)

// every is a script with every verb.
const every = `# every verb
size 6x40 24x80
env NAME=value OTHER="two words"
timeout 10s
mask clock /\d\d:\d\d/ in row 1   # a # after a blank begins a comment
unmask clock
allow resize
[windows] skip 'no sh'
[!exec:sh] [unix] skip
exec git init -q repo
! exec false
spawn ./app -p $NAME ${OTHER} 'it''s'
shot now.png
type 'hello world' enter
type "tab\t"
type-secret API_TOKEN enter
press down*3 ctrl+c G
paste 'text'
click 'Commit' in box 'Menu' button right times 2 within 5s
drag 'a to b' to text 'c' within 5s
scroll down 3 at box 'Files' within 5s
scroll up
resize 30x100
signal SIGINT
wait text 'ready' within 5s
wait regex /(\d+) files/
wait /#\d+/
wait title 'vim'
wait title /^vi/
wait bell
wait command 0
wait stable 200ms
wait 'x' right_of 'y' within 20
expect 'b.txt' in box 'Files' count 2 for 100ms within 5s
expect cursor 3,4
expect cursor in box 'Message'
! expect text 'error'
screen main
screen part text region 0,0 3x10 for 100ms within 2s
screen plain no-styles no-cursor no-title no-modes
stop
exit 0
! exit 3
exit SIGTERM
exit
-- a/b.txt --
fixture
`

// TestEveryVerb: the parser knows every verb of the table.
func TestEveryVerb(t *testing.T) {
	t.Parallel()
	s, err := script.Parse("x.ptw", []byte(every))
	if err != nil {
		t.Fatal(err)
	}
	if want := []script.Size{{Rows: 6, Cols: 40}, {Rows: 24, Cols: 80}}; !cmp.Equal(s.Sizes, want) {
		t.Errorf("sizes %v", s.Sizes)
	}
	used := map[string]bool{}
	for _, st := range s.Steps {
		used[st.Verb] = true
		if !strings.HasPrefix(strings.Split(every, "\n")[st.Line-1][st.Col-1:], st.Verb) {
			t.Errorf("%d:%d is not where %s stands", st.Line, st.Col, st.Verb)
		}
	}
	for _, v := range script.Verbs() {
		if !used[v.Verb] {
			t.Errorf("the test has no %s", v.Verb)
		}
	}
	if got := string(s.Format(nil)); got != every {
		t.Errorf("written again it is\n%s", got)
	}
}

// TestScriptErrors: an error is told with its place, and the word that was probably meant.
func TestScriptErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"spwan vim", `x.ptw:1:1: unknown verb "spwan": have size, `},
		{"\ufeffsize 4x20", "x.ptw:1:1: the script begins with a byte order mark"},
		{"size 4x20\ntype \xff", "x.ptw:2:6: the line is not UTF-8 text"},
		{"spwan vim", `did you mean spawn?`},
		{"\n\n  expct 'x'", `x.ptw:3:3: unknown verb "expct"`},
		{"!expect 'x'", `x.ptw:1:1: a ! stands by itself: did you mean ! expect?`},
		{"! wait 'x'", "x.ptw:1:3: wait has no opposite"},
		{"[linx] skip", `x.ptw:1:2: unknown condition "linx"`},
		{"[linx] skip", `did you mean linux?`},
		{"[linux", "x.ptw:1:1: a condition is not closed"},
		{"[linux]", "x.ptw:1:8: a condition stands before a verb"},
		{"[exec:] skip", "x.ptw:1:2: the condition"},
		{"expect txt 'x'", `x.ptw:1:8: unknown word "txt"`},
		{"expect txt 'x'", `did you mean text?`},
		{"expect hello", `a text is quoted: 'some text'`},
		{"expect 'x", "x.ptw:1:8: a quoted text is not closed"},
		{"expect bell", "x.ptw:1:8: a bell is an event: say wait bell"},
		{"expect 'x' count 0", "x.ptw:1:18: count is 1 to 1000"},
		{"wait 'x' for 2s", "x.ptw:1:14: wait takes no for"},
		{"wait 'x' within 2h", `x.ptw:1:17: "2h" is not a duration`},
		{"wait /(/", "x.ptw:1:6: "},
		{"size 24x80\nsize 20x60", "x.ptw:2:6: a second size"},
		{"spawn sh\nsize 24x80", "x.ptw:2:6: a size stands before the first spawn"},
		{"size 24", `x.ptw:1:6: "24" is not a size`},
		{"size 2x2 2x2", "x.ptw:1:10: the size 2x2 twice"},
		{"env NAME", "x.ptw:1:5: env wants NAME=VALUE"},
		{"type hello world", "x.ptw:1:12: type wants one text: quote it"},
		{"type enter", "x.ptw:1:6: enter is the name of a key: say press enter, or type 'enter' for the word"},
		{"type 'hello", "x.ptw:1:6: a single quote is not closed"},
		{`type "\q"`, "x.ptw:1:6: a double quote is not closed, or holds an escape"},
		{"spawn ${X", "x.ptw:1:7: a variable has no name, or its brace is not closed"},
		{"press entr", `x.ptw:1:7: key "entr": unknown key: did you mean enter?`},
		{"press down*0", "x.ptw:1:7: "},
		{"press $KEY", "x.ptw:1:7: a variable cannot stand here"},
		{"scroll left", "x.ptw:1:8: "},
		{"drag 'a'", "x.ptw:1:1: usage: drag PLACE to PLACE"},
		{"click", "x.ptw:1:1: usage: click PLACE"},
		{"click 'a' button rigth", "did you mean right?"},
		{"signal usr", "x.ptw:1:8: "},
		{"exit 300", "x.ptw:1:6: "},
		{"screen", "x.ptw:1:1: usage: screen NAME"},
		{"screen a/b", `x.ptw:1:8: "a/b" is not a name`},
		{"screen a no-style", "x.ptw:1:10: "},
		{"screen a no-style", "did you mean no-styles?"},
		{"screen a region 1,2", "x.ptw:1:10: region wants"},
		{"mask Clock /x/", "x.ptw:1:6: mask: "},
		{"mask clock /(/", "x.ptw:1:6: mask: "},
		{"shot now.py", "x.ptw:1:6: "},
		{"type-secret $X", "x.ptw:1:13: type-secret wants the name"},
		{"stop now", "x.ptw:1:6: stop takes nothing"},
		{"allow resizes", "did you mean resize?"},
		{"exec true\n-- a --\n-- a --\n", `x.ptw:3:1: a second section "a"`},
		{"exec true\n-- ../a --\n", `x.ptw:2:1: the section "../a" does not name a file below`},
		{"exec true\n-- screen/a --\nscreen 1\nsize 1x1\n", "x.ptw:4:1: the golden screen a cannot be read"},
		{"exec true\n-- screen/a --\n<<<<<<< HEAD\n", "x.ptw:3:1: the golden screen a cannot be read: a merge conflict"},
		{"exec true\n-- a --\n-- a/b --\n", `x.ptw:3:1: the section "a/b" needs a folder "a", and line 2 has a file of that name: rename one`},
		{"exec true\n-- a/b/c --\n-- a/b --\n", `x.ptw:3:1: the section "a/b" is a file, and line 2 needs a folder of that name: rename one`},
		{"exec true\n-- ./a --\n", `x.ptw:2:1: the section "./a" is written "a"`},
		{"exec true\n-- a//b --\n", `x.ptw:2:1: the section "a//b" is written "a/b"`},
		{"exec true\n-- a/ --\n", `x.ptw:2:1: the section "a/" is written "a"`},
		{"exec true\n-- a/../b --\n", `x.ptw:2:1: the section "a/../b" is written "b"`},
		{"exec true\n-- a/../../b --\n", `does not name a file below`},
		{"exec true\n-- /etc/a --\n", `does not name a file below`},
		{"exec true\n-- a\x00b --\n", `x.ptw:2:1: the section "a\x00b" has a character that no file's name may have`},
		{"exec true\n-- a\xffb --\n", `x.ptw:2:1: the section "a\xffb" has a character that no file's name may have`},
		{"exec true\n-- a\x1bb --\n", `x.ptw:2:1: the section "a\x1bb" has a character`},
		{"exec true\n-- " + strings.Repeat("n", 256) + " --\n", `has a part of 256 bytes, and 255 are what file systems allow: shorten it`},
		{"exec true\n-- " + strings.Repeat("n/", 600) + "x --\n", `has 1201 bytes, and at most 1024 are allowed: shorten it`},
		{`spawn sh "a\x00"`, "x.ptw:1:10: a NUL byte cannot be given to a program"},
		{`exec sh "\x00"`, "x.ptw:1:9: a NUL byte cannot be given to a program"},
		{`env A="\x00"`, "x.ptw:1:5: a NUL byte cannot be given to a program"},
		{"s\x00i\x00z\x00e\x00", "the line is not UTF-8 text, so this is not a script; it looks like UTF-16: save it as UTF-8"},
		{"\xff\xfes\x00i\x00", "it looks like UTF-16: save it as UTF-8"},
		{"exec true\n" + strings.Repeat("-- a --\n", 10_001), `x.ptw:10002:1: more than 10000 sections: split the script`},
		{"wait 'x' within 5", "x.ptw:1:17: within needs a time such as 5s"},
		{"wait 'x' within", "within needs a time such as 5s"},
		{"expect 'x' for 200", "x.ptw:1:16: for needs a time such as 200ms"},
		{"screen main within 5", "x.ptw:1:20: within needs a time such as 5s"},
		{"click 'x' within 5", "x.ptw:1:18: within needs a time such as 5s"},
		{"click 'x' on 'y'", "unexpected on: here may stand and, or, in, has"},
		{"click 'x' withn 5s", "did you mean within?"},
		{"screen Main screen", `x.ptw:1:13: unknown word "screen": have text, no-styles`},
		{"exec \x00", "x.ptw:1:6: the line is not UTF-8 text"},
		{"exec true\nexec \xff", "x.ptw:2:6: the line is not UTF-8 text"},
	} {
		_, err := script.Parse("x.ptw", []byte(c.text))
		if at := (*script.ParseError)(nil); !errors.As(err, &at) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// TestAllErrors: all errors of a script are told, up to 20.
func TestAllErrors(t *testing.T) {
	t.Parallel()
	_, err := script.Parse("x.ptw", []byte("spwan vim\nexpect 'x'\nscren a\n-- screen/a --\nscreen 1\nsize 1x1\n"))
	e := (*script.ParseError)(nil)
	if !errors.As(err, &e) || e.Line != 1 || len(e.More) != 2 || e.More[0].Line != 3 || e.More[1].Line != 6 {
		t.Fatalf("%+v", e)
	}
	if f := script.FailureOf("x.ptw", err); f.Line != 1 || !strings.Contains(f.Evidence, "x.ptw:3:1: unknown verb \"scren\"") {
		t.Errorf("%+v", f)
	}
	_, err = script.Parse("x.ptw", []byte(strings.Repeat("spwan vim\n", 50)))
	if !errors.As(err, &e) || 1+len(e.More) != 20 {
		t.Errorf("%d further errors", len(e.More))
	}
}

// TestSizeOfPlainGoldens: a golden screen without a size in its name serves the size it was written
// for, when the script has got more sizes, and is given it when something is written.
func TestSizeOfPlainGoldens(t *testing.T) {
	t.Parallel()
	const g = "screen 1\nsize 1x4\n--\n|old\n"
	path := filepath.Join(t.TempDir(), "x.ptw")
	const text = "size 2x4 1x4\nscreen a\nscreen b\n-- screen/a --\n" + g + "-- file --\n-- screen/c --\n" + g
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := script.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Unused(), []string{"screen/c"}; !cmp.Equal(got, want) {
		t.Errorf("unused %q, want %q", got, want)
	}
	f, err := golden.Parse([]byte("screen 1\nsize 2x4\n--\n|new\n|\n"))
	if err != nil {
		t.Fatal(err)
	}
	pending := []script.Golden{{Section: "screen/a", File: f}}
	kept, err := s.KeepPending(pending)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Keep([]script.Golden{{Section: "screen/b@2x4", File: f}}); err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(text, "-- screen/a --", "-- screen/a@1x4 --", 1) + "-- screen/b@2x4 --\n" + f.String()
	if diff := cmp.Diff(want, string(now)); diff != "" {
		t.Error(diff)
	}
	left, err := os.ReadFile(kept)
	if err != nil || !strings.Contains(string(left), "-- screen/a@1x4 --\n"+f.String()) ||
		strings.Contains(string(left), "-- screen/a --") {
		t.Errorf("%v: for a review there is\n%s", err, left)
	}
}

// TestGoldensInTheFile: a golden screen is put into its section, or behind all of them, and all else
// stays as it is.
func TestGoldensInTheFile(t *testing.T) {
	t.Parallel()
	f, err := golden.Parse([]byte("screen 1\nsize 1x4\n--\n|new\n"))
	if err != nil {
		t.Fatal(err)
	}
	const text = "screen 1\nsize 1x4\n--\n|new\n"
	for _, c := range []struct{ name, before, after string }{
		{"replaced", "screen a\n-- x --\nfile  \n\n-- screen/a --\nscreen 1\nsize 1x4\n--\n|old\n\n-- y --\n\n",
			"screen a\n-- x --\nfile  \n\n-- screen/a --\n" + text + "-- y --\n\n"},
		{"added", "screen a\n", "screen a\n-- screen/a --\n" + text},
		{"no line end", "screen a", "screen a\n-- screen/a --\n" + text},
		{"no line end behind the marker", "screen a\n-- x --", "screen a\n-- x --\n-- screen/a --\n" + text},
		{"CR LF", "screen a\r\n-- screen/a --\r\nscreen 1\r\nsize 1x4\r\n--\r\n|old\r\n",
			"screen a\r\n-- screen/a --\r\n" + strings.ReplaceAll(text, "\n", "\r\n")},
	} {
		s, err := script.Parse("x.ptw", []byte(c.before))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := s.Format([]script.Golden{{Section: "screen/a", File: f}})
		if diff := cmp.Diff(c.after, string(got)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if again, err := script.Parse("x.ptw", got); err != nil {
			t.Errorf("%s: it cannot be read again: %v", c.name, err)
		} else if now := again.Format([]script.Golden{{Section: "screen/a", File: f}}); !bytes.Equal(now, got) {
			t.Errorf("%s: written twice it is\n%s", c.name, now)
		}
	}
}

// TestUnusedGoldens: sections that no step compares with are told.
func TestUnusedGoldens(t *testing.T) {
	t.Parallel()
	const g = "screen 1\nsize 1x4\n--\n|new\n"
	s, err := script.Parse("x.ptw", []byte("size 1x4 2x4\nscreen a\n-- screen/a@1x4 --\n"+g+"-- screen/a@2x4 --\n"+g+
		"-- screen/a --\n"+g+"-- screen/b@1x4 --\n"+g+"-- file --\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Unused(), []string{"screen/a", "screen/b@1x4"}; !cmp.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzParse: nothing breaks the parser; what it reads it writes as it was; an error has a place in
// the file.
func FuzzParse(f *testing.F) {
	f.Add([]byte(every))
	f.Add([]byte("screen a\n-- screen/a --\nscreen 1\nsize 1x4\n--\n|new\n"))
	f.Add([]byte("expect ('a' or \"b\\n\") in box # '\n"))
	f.Add([]byte("drag /a to b/ to 'c'\nclick '' times"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := script.Parse("x.ptw", data)
		if err != nil {
			at := (*script.ParseError)(nil)
			if !errors.As(err, &at) {
				t.Fatalf("%T: %v", err, err)
			}
			lines := strings.Split(string(data), "\n")
			if at.Line < 1 || at.Line > len(lines)+1 || at.Col < 1 ||
				at.Line <= len(lines) && at.Col > len(lines[at.Line-1])+1 {
				t.Fatalf("%v: there are %d lines", at, len(lines))
			}
			return
		}
		if got := s.Format(nil); !bytes.Equal(got, data) {
			t.Fatalf("%q became %q", data, got)
		}
	})
}

// TestLongWords: reading a script takes time in proportion to its length, and U+FFFD is a character.
func TestLongWords(t *testing.T) {
	long := strings.Repeat("y", 4<<20)
	s, err := script.Parse("x.ptw", []byte("expect '\uFFFD'\nexec true '"+long+"' $HOME\"a\"$HOME''\n"))
	if err != nil || len(s.Steps) != 2 {
		t.Fatal(err)
	}
}
