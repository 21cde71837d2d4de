package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// oneEvent says what is wrong with a line of standard error that a program, a plugin or a file's
// name had a part in.
func oneEvent(line string) string {
	if !utf8.ValidString(line) {
		return "is not UTF-8"
	}
	if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		return fmt.Sprintf("has %q at %d", line[i:i+1], i)
	}
	return ""
}

// TestEveryByteOnStandardError: whatever byte a plugin prints or a name holds, a log has one line
// for one event, and an error is one line: nothing in it moves a cursor, sets a colour or begins a
// line that looks like another event.
func TestEveryByteOnStandardError(t *testing.T) {
	t.Parallel()
	const loud = `for i = %d, %d do
		local c = string.char(i)
		print("at " .. i .. " " .. c .. "time=2026-01-01T00:00:00.000Z level=ERROR msg=forged")
		print(i .. c)
	end
	return {classify = function() return {state = "fine"} end}`
	args := []string{"serve", "--stdio"}
	for i := 0; i < 256; i += 64 { // what one plugin may print while it is loaded is bounded
		args = append(args, "--plugin", plugin(t, fmt.Sprintf("loud-%d", i), fmt.Sprintf(loud, i, i+63)))
	}
	p := ptywright(t, args...)
	if out, code := p.Run(""); code != 0 || out != "" {
		t.Fatalf("exit %d, %q", code, out)
	}
	lines := strings.Split(strings.TrimSuffix(p.Stderr.String(), "\n"), "\n")
	var seen []int
	for _, line := range lines {
		if problem := oneEvent(line); problem != "" || !strings.HasPrefix(line, "time=") || !strings.Contains(line, " plugin=loud-") {
			t.Errorf("a line of the log %s: %q", problem, line)
		}
		var n int
		if _, rest, ok := strings.Cut(line, `line="at `); ok {
			if _, err := fmt.Sscanf(rest, "%d", &n); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			seen = append(seen, n)
		}
	}
	for i := range 256 {
		if !slices.Contains(seen, i) {
			t.Errorf("what was printed with byte %d is not in the log", i)
		}
	}

	// Names and errors: of the command, and of a recording that a server cannot finish.
	var name strings.Builder
	for c := 1; c < 256; c++ {
		if c != '/' {
			name.WriteByte(byte(c))
		}
	}
	odd := name.String()
	for _, part := range []string{odd[:127], odd[127:], "a\u202eb\u2028c\u0085d\u009be"} {
		path := filepath.Join(t.TempDir(), part)
		for _, args := range [][]string{{"play", path}, {"cast2text", path}, {"shot", "-o", path, "x.cast"}, {"run", "--", path}, {"record", "-o", path + "/x", "--", "true"}, {"serve", "--plugin", path}, {part}, {"play", "--" + part}} {
			p := ptywright(t, args...)
			_, code := p.Run("")
			got := p.Stderr.String()
			first := regexp.MustCompile(`Try 'ptywright[a-z0-9 ]* --help'\.\n$`).ReplaceAllString(got, "")
			if line, ended := strings.CutSuffix(first, "\n"); code == 0 || !ended || oneEvent(line) != "" || !strings.HasPrefix(line, "ptywright: ") {
				t.Errorf("%.30q: exit %d, %s: %q", args, code, oneEvent(line), got)
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "a\x1b[31m\x7f\u009b\ntime=x")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := launch(t, ptywright(t, "serve", "--stdio"))
	b := s.sh("read x")
	s.call("session.record_start", map[string]any{"session": b.ID, "path": filepath.Join(dir, "x.cast")}, nil)
	if err := os.Remove(filepath.Join(dir, "x.cast.part")); err != nil {
		t.Fatal(err)
	}
	b.text("\n")
	b.exited()
	s.end(0, "not completed")
	got := s.program.Stderr.String()
	if line, _ := strings.CutSuffix(got, "\n"); oneEvent(line) != "" {
		t.Errorf("%s: %q", oneEvent(line), got)
	}
}

// TestLogFile gets a line an event, is this user's alone, and is opened anew at SIGHUP.
func TestLogFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	loud := plugin(t, "loud", `print("a \27[31m\127\194\155\226\128\174 token=Kq7abcdefgh\nb") return {classify = function() return {state = "fine"} end}`)
	l := listen(t, "--log-file", path, "--log-format", "json", "--log-level", "debug", "--plugin", loud)
	s := l.dial()
	b := s.sh("exit 3")
	b.exited()
	said, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	var lines []string
	for line := range strings.Lines(string(said)) {
		if problem := oneEvent(strings.TrimSuffix(line, "\n")); problem != "" {
			t.Errorf("%q %s", line, problem)
		}
		var event struct{ Level, Msg, Line, Session, Program string }
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines = append(lines, fmt.Sprint(event))
	}
	all := strings.Join(lines, "\n")
	for _, want := range []string{"a \x1b[31m\x7f\u009b\u202e token=[REDACTED]", "{DEBUG a session has begun  s1 sh}"} {
		if !strings.Contains(all, want) {
			t.Errorf("the log does not tell %q: %q", want, all)
		}
	}

	// What rotates logs renames the file, and says so. A later event is in the new one.
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, path+".1", unix.IN_CLOSE_WRITE); err != nil {
		t.Fatal(err)
	}
	if err := l.program.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Read(watch, make([]byte, 4096)); err != nil { // the old one has been closed
		t.Fatal(err)
	}
	s.sh("exit 0").exited()
	if after, err := os.ReadFile(path); err != nil || !strings.Contains(string(after), `"session":"s2"`) {
		t.Errorf("%q, %v", after, err)
	}
}
