//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"image/gif"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
)

const (
	heroTape = "examples/tapes/hero.tape"
	again    = "draw it again with: just pictures" // and look at it
	// What a code host shows without a thought.
	heroSVGMax = 400_000
	heroGIFMax = 1_500_000
)

// measured are the numbers of the hero that no two runs share.
var measured = regexp.MustCompile(`(after|quiet for|at sequence) [\d.]+(ms|s)?`)

// TestHero: the picture of the README shows what the program does today.
func TestHero(t *testing.T) {
	t.Parallel()
	need(t, "bash", "bash")
	need(t, "make", "make")
	pictures := filepath.Join(root, "docs", "pictures")
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(pictures, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	now := filepath.Join(t.TempDir(), "hero.txt")
	p := ptywright(t, "tape", "--hermetic", "-o", now, heroTape)
	p.Dir = root
	p.Env = append(p.Env, "PATH="+asItself(t, p.Mark)+":"+os.Getenv("PATH"))
	if out, err := p.Output(); err != nil {
		t.Fatalf("%v: %s%s", err, out, p.Stderr)
	}
	drawn, err := os.ReadFile(now)
	if err != nil {
		t.Fatal(err)
	}
	want := read("hero.txt")
	if got := measured.ReplaceAllString(string(drawn), "$1 N"); got != measured.ReplaceAllString(want, "$1 N") {
		t.Errorf("docs/pictures/hero.txt is stale: %s\nit shows\n%s\nthe program shows\n%s", again, want, drawn)
	}

	// The pictures are of the same run as the text.
	svg := read("hero.svg")
	text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(svg, ""))
	for line := range strings.Lines(want) {
		for line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "──"); {
			row := line[:min(len(line), 80)] // the picture has the rows of a line apart
			line = line[len(row):]
			if !strings.Contains(text, row) {
				t.Errorf("docs/pictures/hero.svg lacks %q: %s", row, again)
			}
		}
	}
	long := regexp.MustCompile(`animation:([\d.]+)s`).FindStringSubmatch(svg)
	if long == nil {
		t.Fatal("docs/pictures/hero.svg does not move")
	}
	seconds, _ := strconv.ParseFloat(long[1], 64)
	file, err := os.Open(filepath.Join(pictures, "hero.gif"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	moving, err := gif.DecodeAll(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, d := range moving.Delay {
		sum += d
	}
	if d := float64(sum)/100 - seconds; len(moving.Image) < 2 || d < -0.1 || d > 0.1 || seconds > 13 {
		t.Errorf("hero.gif lasts %d cs in %d frames, hero.svg %v s: %s", sum, len(moving.Image), seconds, again)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if len(svg) > heroSVGMax || info.Size() > heroGIFMax {
		t.Errorf("hero.svg has %d bytes, hero.gif %d: at most %d and %d", len(svg), info.Size(), heroSVGMax, heroGIFMax)
	}
	noneLeft(t, p.Mark)
	source, err := os.ReadFile(filepath.Join(root, heroTape))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(source), "Sleep") {
		t.Error("the hero has a Sleep")
	}
}

// asItself is a folder with a ptywright that is the program under test also where the environment does
// not say so.
func asItself(t *testing.T, mark string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := fmt.Sprintf("#!/bin/sh\n%s=%s PTYWRIGHT_CONFIG=off exec '%s' \"$@\"\n", asProgram, mark, self)
	if err := os.WriteFile(filepath.Join(dir, "ptywright"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTapeIsEnded: a tape that is interrupted leaves neither a program nor a file.
func TestTapeIsEnded(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"once": false, "again and again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, scratch := t.TempDir(), t.TempDir()
			fifo := filepath.Join(dir, "fifo")
			if err := mkfifo(fifo); err != nil {
				t.Fatal(err)
			}
			p := ptywright(t, "tape", "-o", filepath.Join(dir, "x.gif"), "-o", filepath.Join(dir, "x.txt"), "-")
			p.Dir, p.Env = dir, append(p.Env, "TMPDIR="+scratch)
			p.Stdin = strings.NewReader("Set Shell sh\nType `sleep 1000." + p.Mark + " & (trap '' HUP TERM; sleep 1001." + p.Mark +
				") & echo up > " + fifo + "` Enter\nScreenshot y.png\nSleep 30m\n")
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.ReadFile(fifo); err != nil { // until the programs run
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- p.Wait() }()
			err := p.Process.Signal(syscall.SIGINT)
			for again && err == nil { // os.ErrProcessDone once it has been reaped
				err = p.Process.Signal(syscall.SIGINT)
			}
			if code := programtest.ExitCode(t, <-ended); code != 130 {
				t.Errorf("exit %d: %s", code, p.Stderr)
			}
			if again {
				programtest.Gone(t, programtest.Marked(t, p.Mark)) // the watcher ends them
			}
			noneLeft(t, p.Mark)
			if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
				t.Errorf("%v, %v", left, err)
			}
			if left, err := os.ReadDir(scratch); err != nil || len(left) != 0 {
				t.Errorf("in the folder for what is temporary: %v, %v", left, err)
			}
		})
	}
}

// TestTapeThatIsKilled: what a tape leaves that was killed outright is removed by the next one, and
// not that of one that runs.
func TestTapeThatIsKilled(t *testing.T) {
	t.Parallel()
	dir, temp := t.TempDir(), t.TempDir()
	begin := func(name string) *programtest.Program {
		fifo := filepath.Join(dir, name)
		if err := mkfifo(fifo); err != nil {
			t.Fatal(err)
		}
		p := ptywright(t, "tape", "--hermetic", "-o", filepath.Join(dir, name+".gif"), "-")
		p.Dir, p.Env = dir, append(p.Env, "TMPDIR="+temp)
		p.Stdin = strings.NewReader("Set Shell sh\nType `echo up > " + fifo + "` Enter\nSleep 30m\n")
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.ReadFile(fifo); err != nil { // until the program runs
			t.Fatal(err)
		}
		return p
	}
	folders := func() []os.DirEntry {
		t.Helper()
		all, err := os.ReadDir(temp)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	killed, living := begin("killed"), begin("living")
	if n := len(folders()); n != 2 {
		t.Fatalf("%d folders of two tapes that run", n)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()                                       // it was killed
	programtest.Gone(t, programtest.Marked(t, killed.Mark)) // the watcher ends its programs
	next := ptywright(t, "tape", "-o", "next.txt", "-")
	next.Dir, next.Env = dir, append(next.Env, "TMPDIR="+temp)
	next.Stdin = strings.NewReader("Set Shell sh\nType `echo next` Enter Wait\n")
	if out, err := next.Output(); err != nil {
		t.Fatalf("%v: %s%s", err, out, next.Stderr)
	}
	if left := folders(); len(left) != 1 {
		t.Errorf("left beside that of the tape that runs: %v", left)
	}
	if err := living.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := programtest.ExitCode(t, living.Wait()); code != 130 {
		t.Errorf("exit %d: %s", code, living.Stderr)
	}
	if left := folders(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestTapeWatch: a tape is drawn again when it or one that it names is saved, also when it was broken
// in between.
func TestTapeWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	save := func(name, text string) {
		t.Helper()
		beside := filepath.Join(dir, name+"~") // as editors do
		if err := os.WriteFile(beside, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(beside, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	save("a.tape", "Set Shell sh\nType 'echo one' Enter Wait\n")
	p := ptywright(t, "tape", "--watch", "-o", "a.txt", "a.tape")
	p.Dir = dir
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p.Cmd.Stderr = w
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	lines := bufio.NewScanner(r)
	until := func(text string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Fatalf("the end before %q: %v", text, lines.Err())
	}
	shows := func(text string) { // the last of what may be several runs
		t.Helper()
		for {
			until("watching a.tape")
			data, err := os.ReadFile(filepath.Join(dir, "a.txt"))
			if err == nil && strings.Contains(string(data), "\n"+text+"\n") {
				return
			}
		}
	}
	shows("one")
	save("b.tape", "Type 'echo three' Enter Wait\n")
	save("a.tape", "Set Shell sh\nSorce b.tape\n")
	until(`a.tape:2:1: unknown command "Sorce": did you mean Source?`)
	save("a.tape", "Set Shell sh\nSource b.tape\n")
	shows("three")
	save("b.tape", "Type 'echo four' Enter Wait\n")
	shows("four")
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := programtest.ExitCode(t, p.Wait()); code != 130 {
		t.Errorf("exit %d", code)
	}
}

// TestTapeSecrets: what is a secret is in no file that a tape makes, typed key by key or printed.
func TestTapeSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const token, mine = "ghp_n4xYqLm82ZkTfWc71sVbHdRp0aJeGuOi93Qw", "tr0ub4dor-and-3-more-words"
	p := ptywright(t, "tape", "-o", "x.cast", "-o", "x.txt", "-o", "x.svg", "-")
	p.Dir = dir
	p.Env = append(p.Env, "MY_API_TOKEN="+mine)
	p.Stdin = strings.NewReader("Set Shell sh\nSet Width 1600\nType 'echo " + token + "' Enter Wait Screenshot y.svg\n" +
		"Type 'echo is $MY_API_TOKEN' Enter Wait\n")
	if out, err := p.Output(); err != nil {
		t.Fatalf("%v: %s%s", err, out, p.Stderr)
	}
	for _, name := range []string{"x.cast", "x.txt", "x.svg", "y.svg"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(data), "")
		if name == "x.cast" {
			text = printed(t, string(data))
		}
		// Of what is typed key by key the first keys show until it can be known as a secret.
		for _, secret := range []string{token[:20], token[20:], mine} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s", name, secret)
			}
		}
		if !strings.Contains(text, "echo") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// printed is all that a cast prints.
func printed(t *testing.T, cast string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(cast) {
		var event []any
		if json.Unmarshal([]byte(line), &event) == nil && len(event) == 3 && event[1] == "o" {
			b.WriteString(event[2].(string))
		}
	}
	return b.String()
}

// BenchmarkTape types 1,000 keys at VHS's speed: what a film of a minute costs.
func BenchmarkTape(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		p := ptywright(b, "tape", "-o", "x.cast", "-")
		p.Dir = dir
		p.Stdin = strings.NewReader(strings.Repeat("Type `"+strings.Repeat("x", 50)+"` Ctrl+U\n", 20))
		began := time.Now()
		if out, err := p.Output(); err != nil {
			b.Fatalf("%v: %s%s", err, out, p.Stderr)
		}
		b.ReportMetric(50*time.Since(began).Seconds()*1000/(1000*50), "ms/key")
	}
}
