package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/redact"
)

const shellSession = "\x1b]133;A\a$ \x1b]133;B\als | wc\x1b]133;C\a\r\n  3\x1b[31m  3\x1b[m  9\r\n\x1b]133;D;0\a" +
	"\x1b]7;file://host/home/me\x1b\\\x1b]133;A\a$ \x1b]133;B\afo \b\b\bfalse\r\n\x1b]133;C\a\x1b]133;D;1\a" +
	"\x1b]133;A\a$ \x1b]133;B\a\r\n\x1b]133;D\a" + // enter, and nothing else
	"\x1b]133;A\a$ \x1b]133;B\afor i in 1\r\n> do echo `x`; done\r\n\x1b]133;C\a 10 %\r 20 %\r100 %\r\n```\r\npassword=hunter2hunter2\r\n\x1b]133;D;0\a" +
	"\x1b]133;A\a$ \x1b]133;B\asleep 9\r\n\x1b]133;C\abusy"

func markdownOf(t testing.TB, session string, chunk int) string {
	t.Helper()
	d := &Document{Program: "bash --token=abcdef0123456789", Dir: "/home/me", Rows: 24, Cols: 80, Started: t0, Ended: after(5000)}
	b := engine.NewBlockReader(24, 80, func(b engine.Block) { d.Blocks = append(d.Blocks, b) })
	for i := 0; i < len(session); i += chunk {
		b.Output(t0, []byte(session[i:min(i+chunk, len(session))]))
	}
	b.Close()
	d.Marks = b.Integration()
	var out bytes.Buffer
	if _, err := Markdown(&out, d, nil, false); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestMarkdown(t *testing.T) {
	const want = "---\nprogram: \"bash --token=[REDACTED]\"\ncwd: \"/home/me\"\nsize: 80x24\nstarted: 2023-11-14T22:13:20.000Z\n" +
		"ended: 2023-11-14T22:13:25.000Z\nexit_code: null\nstate: done\nshell_marks: osc133\nblocks: 4\nredacted: true\nredactions: 2\n---\n" +
		"\n# Terminal session\n" +
		"\n## 1. `ls | wc`\n\nexit 0 · 0s · 22:13:20 UTC\n\n```text\n  3  3  9\n```\n" +
		"\n## 2. `false`\n\nexit 1 · 0s · 22:13:20 UTC · `/home/me`\n\nNo output.\n" +
		"\n## 3. `for i in 1`\n\n```sh\nfor i in 1\n> do echo `x`; done\n```\n\nexit 0 · 0s · 22:13:20 UTC · `/home/me`\n\n" +
		"````text\n 10 %␍ 20 %␍100 %\n```\npassword=[REDACTED]\n````\n" +
		"\n## 4. `sleep 9`\n\nnot ended · 22:13:20 UTC · `/home/me`\n\n```text\nbusy\n```\n"
	for chunk := 1; chunk <= len(shellSession); chunk++ {
		if got := markdownOf(t, shellSession, chunk); got != want {
			t.Fatalf("in pieces of %d: got\n%s\nwant\n%s", chunk, got, want)
		}
	}
}

func TestMarkdownWithoutMarks(t *testing.T) {
	got := markdownOf(t, "$ ls\r\nfile\r\n", 5)
	if !strings.HasSuffix(got, "\n## 1. (no command told)\n\n0s · 22:13:20 UTC\n\n```text\n$ ls\nfile\n```\n"+noMarks) && !strings.HasSuffix(got, "\n## 1. (no command told)\n\n22:13:20 UTC\n\n```text\n$ ls\nfile\n```\n"+noMarks) ||
		!strings.Contains(got, "shell_marks: none\n") {
		t.Errorf("%s", got)
	}
	if got := markdownOf(t, "", 1); !strings.Contains(got, "blocks: 0\n") {
		t.Errorf("%s", got)
	}
}

// Marks of VS Code tell the command line itself.
func TestMarksOf633(t *testing.T) {
	got := markdownOf(t, "\x1b]633;A\a$ \x1b]633;B\aec\x1b[90mho autosuggested\x1b[m\x1b]633;E;echo\\x20a\\x3bb;nonce\a\x1b]633;C\aa;b\r\n\x1b]633;D;0\a", 7)
	if !strings.Contains(got, "## 1. `echo a;b`") || !strings.Contains(got, "shell_marks: osc633\n") {
		t.Errorf("%s", got)
	}
}

// A long output keeps its end and says that it lost something; what is no mark is output.
func TestBlocksAreBounded(t *testing.T) {
	var blocks []engine.Block
	b := engine.NewBlockReader(5, 20, func(x engine.Block) { blocks = append(blocks, x) })
	b.Output(t0, []byte("\x1b]133;A\a$ \x1b]133;B\a"+strings.Repeat("x", 40_000)+"\x1b]133;C\a"))
	for range 60_000 {
		b.Output(t0, []byte("line\r\n"))
	}
	b.Output(t0, []byte("\x1b]133;"+strings.Repeat("z", 20_000)+"\a"))
	b.Output(t0, []byte("\x1b]133;D;7\x1b\\"))
	if len(blocks) != 1 || blocks[0].ExitCode != 7 || blocks[0].Whole || len(blocks[0].Output) > engine.MaxBlockOutput || len(blocks[0].Command) > 16<<10 {
		t.Fatalf("%d blocks, whole: %v, %d bytes, command %d", len(blocks), blocks[0].Whole, len(blocks[0].Output), len(blocks[0].Command))
	}
	if d := (&Document{Blocks: blocks}); !strings.Contains(markdownText(t, d), "\nIts beginning is left out.\n") {
		t.Error("the document does not say so")
	}
}

func markdownText(t *testing.T, d *Document) string {
	var out bytes.Buffer
	_, err := Markdown(&out, d, nil, false)
	must(t, err)
	return out.String()
}

// Whatever the output, what is in a fence stays in it, and the same is told however it came in.
func TestMarkdownOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mark := rapid.SampledFrom([]string{"\x1b]133;A\a", "\x1b]133;B\x1b\\", "\x1b]133;C\a", "\x1b]133;D;1\a", "\x1b]633;E;a`b``\a", "\x1b]7;file:///a`b\a", "\x1b]133;", "\x1b",
			"```", "````\n", "# head\r\n", "---\r\n", "~~~", "\x1b]133;A"})
		parts := rapid.SliceOfN(rapid.OneOf(mark, mark, enginetest.Anything(24, 80)), 0, 20).Draw(t, "session")
		session := strings.Join(parts, "")
		var whole, pieces []engine.Block
		b := engine.NewBlockReader(24, 80, func(x engine.Block) { whole = append(whole, x) })
		b.Output(t0, []byte(session))
		b.Close()
		b = engine.NewBlockReader(24, 80, func(x engine.Block) { pieces = append(pieces, x) })
		for rest := session; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			b.Output(t0, []byte(rest[:n]))
			rest = rest[n:]
		}
		b.Close()
		one, _ := json.Marshal(whole)
		two, _ := json.Marshal(pieces)
		if string(one) != string(two) {
			t.Fatalf("%s\n%s", one, two)
		}
		var out bytes.Buffer
		if _, err := Markdown(&out, &Document{Blocks: whole}, nil, true); err != nil {
			t.Fatal(err)
		}
		headings, open := 0, ""
		for _, line := range strings.Split(out.String(), "\n") {
			switch {
			case open == "" && strings.HasPrefix(line, "```"):
				open = line[:strings.LastIndexByte(line, '`')+1]
			case open != "" && strings.TrimRight(line, "`") == "" && len(line) >= len(open):
				open = ""
			case open == "" && strings.HasPrefix(line, "## "):
				headings++
			case open == "" && line != "" && !strings.ContainsAny(line, "·") && line != "No output." && line != "---" && !strings.Contains(line, ": ") &&
				line != "# Terminal session" && !strings.HasSuffix(line, " UTC") && !strings.HasPrefix(line, "exit ") && line != "not ended" && line != "0s":
				t.Fatalf("outside of a fence: %q\n%s", line, out.String())
			}
		}
		if open != "" || headings != len(whole) {
			t.Fatalf("%d headings, %d blocks, fence %q\n%s", headings, len(whole), open, out.String())
		}
	})
}

func TestTranscript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.md")
	tr, err := NewTranscript(path, TranscriptOptions{Program: "bash --token=abcdef0123456789", Dir: "/home/me", Rows: 24, Cols: 80, Start: t0})
	must(t, err)
	size := int64(0)
	for i, p := range strings.SplitAfter(shellSession, "\a") {
		must(t, tr.Output(after(i), []byte(p)))
		if n := tr.Status().Bytes; n > size {
			size = n
			data, err := os.ReadFile(path + ".part")
			must(t, err)
			if int64(len(data)) != n || !bytes.Contains(data, []byte("\nstate: recording\n")) || data[len(data)-1] != '\n' {
				t.Errorf("%s", data)
			}
		}
	}
	r, err := redact.New(redact.Policy{ExtraLiterals: []string{"busy"}})
	must(t, err)
	tr.SetRedactor(r)
	must(t, tr.Resize(after(4000), 30, 80))
	must(t, tr.Exit(after(5000), 0))
	must(t, tr.Close())
	must(t, tr.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	head, body, _ := strings.Cut(string(data), "\n# Terminal")
	for _, want := range []string{"ended: 2023-11-14T22:13:25.000Z\n", "\nexit_code: 0\n", "\nstate: done\n", "\nshell_marks: osc133\n", "\nblocks: 4\n", "\nredactions: 3\n# --"} {
		if !strings.Contains(head, want) {
			t.Errorf("no %q in\n%s", want, head)
		}
	}
	for line := range strings.Lines(string(data)) {
		if line != strings.TrimRight(line, " \n")+"\n" {
			t.Errorf("blanks at the end of %q", line)
		}
	}
	if !strings.HasSuffix(body, "\n## 4. `sleep 9`\n\nended with the shell · 22:13:20 UTC · `/home/me`\n\n```text\n[REDACTED]\n```\n") || strings.Contains(body, "hunter2") {
		t.Errorf("%s", body)
	}
}

// TestGreetingIsNoCommand: what a shell shows before its first prompt has no number, and is not
// counted.
func TestGreetingIsNoCommand(t *testing.T) {
	const session = "Welcome to fish\r\n" + shellSession
	got := markdownOf(t, session, 7)
	if !strings.Contains(got, "\nblocks: 4\n") || !strings.Contains(got, "\n## Before the first command\n\n") || !strings.Contains(got, "\n## 1. `ls | wc`\n") {
		t.Errorf("%s", got)
	}
	m := &mem{left: 1 << 20}
	tr, err := newTranscript(m, "m.md", TranscriptOptions{Start: t0})
	must(t, err)
	must(t, tr.Output(t0, []byte(session)))
	must(t, tr.Close())
	if got := string(m.data); !strings.Contains(got, "\nblocks: 4\n") || !strings.Contains(got, "\n## Before the first command\n\n") || !strings.Contains(got, "\n## 4. `sleep 9`\n\nnot ended") {
		t.Errorf("%s", got)
	}
}

func TestTranscriptOnAFullDisk(t *testing.T) {
	for room := range 2000 {
		m := &mem{left: room}
		tr, err := newTranscript(m, "m.md", TranscriptOptions{Start: t0})
		if err == nil {
			for i, p := range strings.SplitAfter(shellSession, "\a") {
				_ = tr.Output(after(i), []byte(p))
			}
			err = tr.Close()
			if s := tr.Status(); s.State == StateFailed && (int64(len(m.data)) != s.Bytes || !bytes.Contains(m.data, []byte("state: failed"))) {
				t.Fatalf("room for %d: %+v\n%s", room, s, m.data)
			}
		}
		if len(m.data) > 0 && m.data[len(m.data)-1] != '\n' {
			t.Fatalf("room for %d: %v\n%s", room, err, m.data)
		}
	}
}

// bash with marks of our own making: exact commands and exit codes, also behind a prompt over two
// lines and after Ctrl-C.
func TestBlocksOfBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed (Debian package bash)")
	}
	rc := filepath.Join(t.TempDir(), "rc")
	must(t, os.WriteFile(rc, []byte(`PS1='\[\e]133;D;$?\a\e]133;A\a\]\[\e[32m\]two\nlines\$ \[\e[m\]\[\e]133;B\a\]'
PS0='\e]133;C\a'
`), 0o600))
	path := filepath.Join(t.TempDir(), "b.cast")
	rec := &Recording{Header: Header{Rows: 24, Cols: 40}}
	c, err := NewCast(path, CastOptions{Rows: 24, Cols: 40})
	must(t, err)
	last := typeInto(t, rec, c, []string{bash, "--noprofile", "--rcfile", rc, "-i"}, "printf 'a\\nb\\n'; (exit 3)\r", "echo a line that is longer than the screen is wide, well\r",
		"for i in 1 2\rdo echo $i\rdone\r", "nosuchcommand\r", "exit 4\r")
	data, err := os.ReadFile(path)
	must(t, err)
	recorded := load(t, data)
	if d := diffScreens(last, at(t, recorded, time.Hour)); d != "" {
		t.Errorf("the session ended with another screen: %s", d)
	}
	d := recorded.Document()
	want := []engine.Block{
		{Command: "printf 'a\\nb\\n'; (exit 3)", Output: "a\nb\n", ExitCode: 3, Exited: true},
		{Command: "echo a line that is longer than the screen is wide, well", Output: "a line that is longer than the screen is wide, well\n", Exited: true},
		{Command: "for i in 1 2\n> do echo $i\n> done", Output: "1\n2\n", Exited: true},
		{Command: "nosuchcommand", Output: "bash: nosuchcommand: command not found\n", ExitCode: 127, Exited: true},
		{Command: "exit 4", Output: "exit\n"}, // of marks that nobody knows the shell of
	}
	for i := range d.Blocks {
		if !d.Blocks[i].Whole || d.Blocks[i].Number != uint64(i+1) {
			t.Errorf("block %d: %+v", i, d.Blocks[i])
		}
		d.Blocks[i] = engine.Block{Command: d.Blocks[i].Command, Output: d.Blocks[i].Output, ExitCode: d.Blocks[i].ExitCode, Exited: d.Blocks[i].Exited}
	}
	got, _ := json.MarshalIndent(d.Blocks, "", " ")
	exp, _ := json.MarshalIndent(want, "", " ")
	if string(got) != string(exp) || d.ExitCode == nil || *d.ExitCode != 4 {
		t.Errorf("got %s\nwant %s\n%s", got, exp, data)
	}
}

// A document that begins while a secret is being printed shows none of its rest.
func TestMarkdownBegunWithinASecret(t *testing.T) {
	key := func(i int) string {
		return fmt.Sprintf("MIIEpAIBAAKCAQEA%04dq8Zr5tYw0uVbNn1m2Lk3Jh4Gg5Ff6Dd7Ss8Aa9Pp0OoIi\r\n", i)
	}
	for name, c := range map[string]struct{ before, after string }{
		"key":      {"-----BEGIN RSA PRIVATE KEY-----\r\n" + key(1) + key(2) + key(3)[:33], key(3)[33:] + key(4) + key(5) + "-----END RSA PRIVATE KEY-----\r\n"},
		"password": {"early\r\npassword=hunter2", "Dd7Ss8Aa9\r\n"},
		"nothing":  {"early\r\ntwo", " three\r\n"},
	} {
		live := vt.New(5, 80, vt.Options{})
		live.Feed([]byte(c.before))
		m := &mem{left: -1}
		tr, err := newTranscript(m, "m.md", TranscriptOptions{Start: t0, Screen: live.Snapshot()})
		must(t, err)
		must(t, tr.Output(after(1), []byte(c.after)))
		must(t, tr.Output(after(2), []byte("the end MIIE\r\n")))
		must(t, tr.Close())
		if got := string(m.data); strings.Contains(got, "q8Zr5tYw0u") || strings.Contains(got, "Dd7Ss8Aa9") || strings.Contains(got, "early") || !strings.Contains(got, "the end MIIE") ||
			strings.Contains(got, "\n three\n") != (name == "nothing") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestForgedMarks: what a command shows of another session's output neither ends it nor begins
// another in a document.
func TestForgedMarks(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed (Debian package bash)")
	}
	home := t.TempDir()
	must(t, os.WriteFile(filepath.Join(home, "evil"), []byte("before \x1b]133;D;7\a\x1b]133;A\a$ \x1b]133;B\afake\x1b]133;C\a behind\n"), 0o600))
	e := engine.New(engine.Options{})
	defer e.Close(t.Context())
	s, err := e.Spawn(t.Context(), engine.Config{Program: bash, Args: []string{"--noprofile", "--norc"}, Dir: home, ShellIntegration: true,
		Env: map[string]string{"HOME": home, "PATH": os.Getenv("PATH"), "PS1": "$ "}, ClearEnv: true})
	must(t, err)
	path := filepath.Join(home, "a.md")
	kept, err := new(Recordings).Start(s, StartOptions{Path: path, Format: MarkdownDoc})
	must(t, err)
	// What is typed before the prompt could be echoed into a command's output.
	for _, c := range []struct{ prompt, line string }{{"$", "cat evil; (exit 5)\r"}, {"behind\n$", "exit\r"}} {
		_, err := s.Wait(t.Context(), engine.Func(func(v *engine.View) bool { return strings.HasSuffix(v.Screen.Text(), c.prompt) }))
		must(t, err)
		_, err = s.Do(t.Context(), engine.Text(c.line))
		must(t, err)
	}
	_, err = s.Wait(t.Context(), engine.Func(func(v *engine.View) bool { return v.Exit != nil }))
	must(t, err)
	must(t, kept.Stop()) // returns when everything is written
	data, err := os.ReadFile(path)
	must(t, err)
	got := string(data)
	if !strings.Contains(got, "## 1. `cat evil; (exit 5)`\n\nexit 5 · ") || !strings.Contains(got, "\n```text\nbefore $ fake behind\n```\n") || strings.Contains(got, "exit 7") {
		t.Errorf("%s", got)
	}
}
