package testfrom

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/tuitest/script"
)

// cast makes a recording: a line is a time in seconds, o, i, r or x, and a Go string.
func cast(t testing.TB, head, lines string) *record.Recording {
	t.Helper()
	if head == "" {
		head = `{"version":2,"width":40,"height":6,"command":"app 'a b'"}`
	}
	var b strings.Builder
	b.WriteString(head + "\n")
	for line := range strings.Lines(lines) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(f) == 3 {
			fmt.Fprintf(&b, "[%s, %q, %s]\n", f[0], f[1], strings.ReplaceAll(f[2], `\x1b`, `\u001b`))
		}
	}
	rec, err := record.Load(strings.NewReader(b.String()))
	if err != nil {
		t.Fatalf("%v: %s", err, b.String())
	}
	return rec
}

// made is the script of a recording, which can be read.
func made(t testing.TB, rec *record.Recording, o Options) string {
	t.Helper()
	o.Source = "x.cast"
	text, err := Script(rec, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := script.Parse("x.ptw", text); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return string(text)
}

const shell = `
0.1 o "$ "
1.0 i "l"
1.01 o "l"
1.1 i "s"
1.11 o "s"
1.3 i "\r"
1.31 o "\r\nREADME  src\r\n$ "
3.0 i "echo hello"
3.01 o "echo hello"
3.1 i "\r"
3.11 o "\r\nhello\r\n$ "
5.0 i "exit\r"
5.01 o "exit\r\n"
5.1 x "3"
`

// TestShell: texts are typed as one, and each wait looks for what cannot be the echo.
func TestShell(t *testing.T) {
	t.Parallel()
	got := made(t, cast(t, "", shell), Options{})
	want := `# made by ptywright test from x.cast
size 6x40
spawn app 'a b'
expect regex /^\$ *$/
screen start
type 'ls' enter
wait text 'src'
wait regex /^\$ *$/
screen ls
type 'echo hello' enter
wait regex /^hello$/
wait regex /^\$ *$/
screen echo-hello
type 'exit' enter
exit 3
`
	if got != want {
		t.Errorf("%s", got)
	}
}

// TestWhatAWaitLooksFor: what came last, before what is shorter, and never what may be another text
// next time where there is a choice.
func TestWhatAWaitLooksFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ lines, want string }{
		"what came last": {`0.1 o "menu"
1 i "\x1b[B"
1.1 o "\r\nab loading"
1.5 o "\r\nfinished"`, "press down\nwait text 'finished'\n"},
		"not a time": {`0.1 o "menu"
1 i "x"
1.1 o "\r\nbuilt 12:31:07 in /tmp/x4 well"`, "wait text 'well'\n"},
		"not what flashes": {`0.1 o "menu"
1 i "x"
1.1 o "\r\nwait"
1.2 o "\r      \rdone"`, "wait text 'done'\n"},
		"an echo": {`0.1 o "name: "
1 i "Ada"
1.1 o "Ada"
1.4 i "\r"
1.5 o "\r\nthanks"`, "type 'Ada' enter\nwait text 'thanks'\n"},
		"a prompt that comes back": {`0.1 o "db> "
1 i "put 'a';"
1.1 o "put 'a';"
1.2 i "\r"
1.3 o "\r\ndb> "
1.5 i "put 'b';\r"
1.6 o "put 'b';\r\ndb> "`, "type 'put ''a'';' enter\nwait regex /^db> *$/\ntype 'put ''b'';' enter\nwait regex /^db> *$/\n"},
		"a prompt where the screen scrolls": {`0.1 o "\r\n\r\n\r\n\r\n\r\n=> "
1 i "one\r"
1.1 o "one\r\n"
1.2 o "=> "
1.4 i "two\r"
1.5 o "two\r\n=> "`, "type 'one' enter\nwait regex /^=> *$/\ntype 'two' enter\nwait regex /^=> *$/\n"},
		"no prompt and no news": {`0.1 o "$ "
1 i "cat\r"
1.1 o "cat\r\n"
1.3 i "q"`, "type 'cat' enter\nexpect cursor 1,0\n"},
		"a prompt that touches the echo": {`0.1 o "sh$"
1 i "ls\r"
1.1 o "ls\r\nsh$"
1.3 i "q"`, "type 'ls' enter\nwait regex /^sh\\$ *$/\n"},
		"what was looked at before Enter": {`0.1 o "> "
1 i "foo"
1.1 o "foo"
1.9 i "\r"
2.1 o "\x1b[2J\x1b[Hchosen"`, "type 'foo'\nexpect cursor 0,5\nscreen foo\npress enter\nwait text 'chosen'\n"},
		"the same key at what it showed": {`0.1 o "panel"
1 i "\x1b[21~"
1.1 o "\x1b[2;1HQuit? [Yes] [No]"
2 i "\x1b[21~"
2.1 o "\x1b[2J\x1b[Hbye now"`, "press f10\nwait text 'Yes'\nscreen f10\npress f10\nwait text 'bye'\n"},
		"news before Enter": {`0.1 o "> "
1 i "foo"
1.1 o "foo\r\nmatches"
1.9 i "\r"
2.1 o "\x1b[2J\x1b[Hchosen"`, "type 'foo'\nwait text 'matches'\npress enter\nwait text 'chosen'\n"},
		"what is gone": {`0.1 o "text\r\n-- INSERT --"
1 i "\x1b"
1.1 o "\r\u001b[K"
2 i "x"`, "press escape\n! expect text 'INSERT'\n"},
		"a cursor": {`0.1 o "ab\r"
1 i "l"
1.1 o "\x1b[C"
2 i "x"`, "type 'l'\nexpect cursor 0,1\n"},
		"a highlight": {`0.1 o "\x1b[7mone\x1b[m\r\ntwo\r"
1 i "\x1b[B"
1.1 o "\x1b[Hone\r\n\x1b[7mtwo\x1b[m\r"
1.2 i "q"`, "press down\nscreen down\n"},
		"nothing": {`0.1 o "ab"
1 i "\x1b[B"
3 i "q"
3.2 o "\r\nbye"`, "press down\n# nothing changed on the screen\ntype 'q'\nwait text 'bye'\n"},
		"several keys": {`0.1 o "ab"
1 i "\x1b[B"
1.2 i "\x1b[B"
1.4 i "\x1b[B"
1.5 o "\r\nthird"`, "press down*3\nwait text 'third'\n"},
		"answers": {`0.1 o "ab\x1b[c"
0.2 i "\x1b[?62c"
0.3 o " ready"
2 i "\x1b[99;99;99w"
2.1 i "q"
2.2 o "\r\nbye"`, "screen start\ntype 'q'"},
		"a paste": {`0.1 o "ab"
1 i "\x1b[200~it's\x1b[201~"
1.2 o "\r\npasted well"`, "paste 'it''s'\nwait text 'well'\n"},
		"the mouse": {`0.1 o "File  Edit\r\n\r\nx x"
1 i "\x1b[<0;7;1M\x1b[<0;7;1m"
1.2 o "\r\n menu"
2 i "\x1b[<0;1;3M\x1b[<0;3;3m"
2.2 o "\r\n moved"
3 i "\x1b[<64;1;1M\x1b[<64;1;1M"
3.2 o "\r\n scrolled"`, "drag rect 2,0 1x1 to rect 2,2 1x1\nwait text 'moved'\nscreen drag\nscroll up 2 at rect 0,0 1x1\nwait text 'scrolled'"},
		"a size": {`0.1 o "ab"
1 r "50x7"
1.2 o "\r\nlarger"`, "resize 7x50\nwait text 'larger'\n"},
	} {
		got := made(t, cast(t, "", c.lines), Options{})
		lines := regexp.MustCompile(`(?m)^screen [\w-]+\n`)
		if !strings.Contains(got, c.want) && !strings.Contains(lines.ReplaceAllString(got, ""), c.want) {
			t.Errorf("%s: no\n%sin\n%s", name, c.want, got)
		}
	}
}

// TestSecretsOfARecording are in no script.
func TestSecretsOfARecording(t *testing.T) {
	t.Parallel()
	got := made(t, cast(t, "", `0.1 o "Password: "
1 i "correcthorse99\r"
1.2 o "\r\nwelcome"
3 i "export TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789\r"
3.1 o "export TOKEN=[REDACTED]\r\nset"
5 i "[REDACTED]\r"
5.1 o "\r\nmore"`), Options{Goldens: true})
	if strings.Contains(got, "correcthorse99") || strings.Contains(got, "ghp_") || strings.Count(got, "type-secret SECRET_") != 3 {
		t.Errorf("%s", got)
	}
}

// TestProgramOfARecording is what it says, what is said instead, or an error.
func TestProgramOfARecording(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		`{"version":2,"width":40,"height":6,"command":"sh -c \"echo 'x'\""}`: `spawn sh -c 'echo ''x'''`,
		`{"version":2,"width":40,"height":6,"env":{"SHELL":"/bin/zsh"}}`:     "spawn zsh\n",
	} {
		if got := made(t, cast(t, head, "0.1 o \"x\""), Options{}); !strings.Contains(got, want) {
			t.Errorf("%s", got)
		}
	}
	line := cast(t, `{"version":2,"width":40,"height":6,"command":"sh -c ls d | fzf"}`, "0.1 o \"x\"")
	if _, err := Script(line, Options{}); !errors.Is(err, errShellLine) {
		t.Error(err)
	}
	words := []string{"sh", "-c", `ls "d" | fzf --prompt='> '`, "", `a\b`, "$x", "it's; \"&\""}
	if got := shellWords(record.CommandLine(words, nil)); !slices.Equal(got, words) {
		t.Errorf("%q, want %q", got, words)
	}
	bare := cast(t, `{"version":2,"width":40,"height":6}`, "0.1 o \"x\"")
	if _, err := Script(bare, Options{}); !errors.Is(err, errNoProgram) {
		t.Error(err)
	}
	if got := made(t, bare, Options{Program: []string{"less", "a file"}}); !strings.Contains(got, "spawn less 'a file'\n") {
		t.Errorf("%s", got)
	}
}

// TestMasksAreLearnt from two recordings of the same steps.
func TestMasksAreLearnt(t *testing.T) {
	t.Parallel()
	one := `0.1 o "\x1b]2;job 1\u0007top 12:31:07  up 3 days\r\npid 4711 runs\r\nsame\r\nid 3fa9c0 ok"
2 i "n"
2.1 o "\x1b[2J\x1b[Hnext page\r\nrow a: 7 kB left"
4 i "q"
4.1 o "\x1b[2J\x1b[Hlast"`
	two := strings.NewReplacer("job 1", "job 2", "12:31:07", "12:44:59", "4711", "808", "3fa9c0", "77b1e2", "7 kB", "1234 kB").Replace(one)
	got := made(t, cast(t, "", one), Options{Again: cast(t, "", two), Goldens: true})
	for _, want := range []string{
		`mask top /top  ?\(\\d\\d:\\d\\d:\\d\\d\)/ in row 0`, `mask pid /pid \(\\d\+\)/ to end in row 1`, `mask id /id \(\[0-9a-fA-F\]\+\)/ in row 3`,
		`screen start no-title\n`, `unmask top pid id\nmask \S+ .* to end in row 1\nscreen n`, `unmask \S+\nscreen q no-title\n`,
	} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for _, bad := range []string{"12:31", "4711", "3fa9c0"} {
		if strings.Contains(got, bad) {
			t.Errorf("%s is in\n%s", bad, got)
		}
	}
	// Screens that have nothing in common are not made goldens.
	three := strings.ReplaceAll(one, "last", `a\r\nb\r\nc\r\nd\r\ne`)
	if got := made(t, cast(t, "", one), Options{Again: cast(t, "", three)}); !strings.Contains(got, "# no golden screen here: ") {
		t.Errorf("%s", got)
	}
	// Other steps are refused, where they part.
	var part *PartError
	_, err := Script(cast(t, "", one), Options{Again: cast(t, "", strings.Replace(one, `i "q"`, `i "x"`, 1))})
	if !errors.As(err, &part) || part.Want != "q" || part.Have != "x" {
		t.Errorf("%v", err)
	}
	if _, err = Script(cast(t, "", one), Options{Again: cast(t, "", strings.Split(one, "4 i")[0])}); !errors.As(err, &part) || part.Want != "q" || part.Have != "" {
		t.Errorf("%v", err)
	}
}

// TestMasksHaveTheShapeOfWhatVaries, and leave what stands beside it.
func TestMasksHaveTheShapeOfWhatVaries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, want string }{
		{"1|12:31:07", "1|12:44:59", `clock /\d\d:\d\d:\d\d/ in row 0`},
		{"9 [2026-11-23]", "9 [2026-12-24]", `date /\d+-\d\d-\d\d/ in row 0`},
		{"1|4711|x", "1|8080|x", `number /1\|(\d+)/ in row 0`},
		{"4711 7 x", "8080 7 x", `number /\b\d+\b/ in row 0`},
		{"in=/tmp/a1 x", "in=/tmp/b2 x", `path /in=(~?\/[\pL\pN_.+\/~-]+)/ in row 0`},
		{"took 1.25s well", "took 3.5s well", `took /took (\d[\d.,]*)/ to end in row 0`},
		{"(3fa9c0) ok", "(77b1e2) ok", `id /\(([0-9a-fA-F]+)/ in row 0`},
	} {
		one := cast(t, "", fmt.Sprintf("0.1 o %q", c.a))
		got := made(t, one, Options{Again: cast(t, "", fmt.Sprintf("0.1 o %q", c.b))})
		if !strings.Contains(got, "\nmask "+c.want+"\n") {
			t.Errorf("no mask %s in\n%s", c.want, got)
		}
	}
}

// TestHostileRecording: whatever a recording has, its script can be read.
func TestHostileRecording(t *testing.T) {
	t.Parallel()
	got := made(t, cast(t, `{"version":2,"width":40,"height":6,"command":"a\nspawn evil $(x) 'b"}`, `0.1 o "-- x --\r\n-- screen/a --\r\nit's $HOME /x/ # y"
1 i "-- a --\n$HOME '\"\\"
1.1 o "\r\nscreen 1\r\n<<<<<<< ours"
3 i "\x1b]52;c;eA==\u0007"
4 i "#"
4.1 o "\u202e\r\nwell"`), Options{Goldens: true})
	if strings.Contains(got, "\nspawn evil") || strings.Contains(got, "\u202e") {
		t.Errorf("%s", got)
	}
}
