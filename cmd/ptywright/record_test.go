//go:build unix

package main

import (
	"bytes"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// painted is a program that draws, clears, draws again and writes what is no ASCII, with pauses
// that make events.
const painted = `stty -echo -onlcr; printf 'gone\r\n\033[2J\033[H\033[1;31m日本\033[m \033[4mtwo\033[m\r\n'; sleep 0.05; printf '\033[5;3H┌──┐\033[6;3H└──┘'; sleep 0.05; printf '\033[10;1Hend\r\n'; exit 3`

// leaves is what play writes at the end of a recording that has changed no mode.
func leaves(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "empty.cast")
	if err := os.WriteFile(path, []byte(`{"version":2,"width":80,"height":24}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	end, code := ptywright(t, "play", path).Run("")
	if code != 0 || end == "" {
		t.Fatalf("exit %d, %q", code, end)
	}
	return end
}

// TestRecordAndPlay: what is recorded is played byte by byte, by us and by asciinema, and shows the
// live screen.
func TestRecordAndPlay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	s := start(t)
	live := s.sh(painted)
	live.exited()
	want := live.snapshot("full")
	for _, format := range []string{"v2", "v3"} {
		path := at(format + ".cast")
		shown, code := ptywright(t, "record", "--format", format, "-o", path, "--", "sh", "-c", painted).Run("")
		if code != 3 {
			t.Errorf("%s: exit %d", format, code)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", format, info, err)
		}
		played, code := ptywright(t, "play", "--speed", "1000", path).Run("")
		if rest, ok := strings.CutPrefix(played, shown); code != 0 || !ok || rest != leaves(t) {
			t.Errorf("%s: exit %d, shown %q, played %q", format, code, shown, played)
		}
		self, err := exec.LookPath(ptywright(t).Path)
		if err != nil {
			t.Fatal(err)
		}
		players := [][]string{{self, "play", "--speed", "1000", path}, {self, "play", "--start-at", "1ms", path}}
		if _, err := exec.LookPath("asciinema"); err == nil && format == "v2" {
			players = append(players, []string{"asciinema", "cat", path}, []string{"asciinema", "play", "-s", "1000", "-i", "0.01", path})
		} else if format == "v2" {
			t.Log("asciinema is not installed: apt-get install asciinema")
		}
		for _, p := range players {
			b := s.with(client.Config{Program: p[0], Args: p[1:], Env: map[string]string{asProgram: "1", "LC_ALL": "C.UTF-8", "HOME": dir}})
			if how := b.exited(); how != "exit 0" {
				t.Errorf("%q: %s", p, how)
			}
			got := b.snapshot("full")
			if got.PlainText != want.PlainText || !reflect.DeepEqual(got.Cells, want.Cells) {
				t.Errorf("%q shows\n%s\nwant\n%s", p, got.PlainText, want.PlainText)
			}
		}
		text, code := ptywright(t, "cast2text", path).Run("")
		if code != 0 || text != want.PlainText+"\n" {
			t.Errorf("%s: exit %d, text %q, want %q", format, code, text, want.PlainText)
		}
		picture := at(format + ".png")
		if _, code := ptywright(t, "shot", "-o", picture, path).Run(""); code != 0 {
			t.Errorf("%s: shot exits with %d", format, code)
		}
		data, err := os.ReadFile(picture)
		if err != nil {
			t.Fatal(err)
		}
		if img, err := png.Decode(bytes.NewReader(data)); err != nil || img.Bounds().Dx() != 80*9 || img.Bounds().Dy() != 24*18 {
			t.Errorf("%s: a picture of %v, %v", format, img.Bounds(), err)
		}
	}
}

// TestCastThatIsCut: cut at any byte, a recording is played as far as it is whole, or refused for
// what it is.
func TestCastThatIsCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.cast")
	shown, _ := ptywright(t, "record", "-o", path, "--", "sh", "-c", painted).Run("")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head := bytes.IndexByte(whole, '\n') + 1
	end := leaves(t)
	for _, n := range []int{0, 1, head / 2, head - 1, head, head + 1, head + 20, (head + len(whole)) / 2, len(whole) - 5, len(whole) - 1} {
		cut := filepath.Join(dir, "cut.cast")
		if err := os.WriteFile(cut, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		p := ptywright(t, "play", "--speed", "1000", cut)
		played, code := p.Run("")
		played = strings.TrimSuffix(played, end)
		if n < head-1 {
			if code != 1 || played != "" || !strings.Contains(p.Stderr.String(), "cut.cast: ") {
				t.Errorf("cut at %d, in its header: exit %d, %q, %q", n, code, played, p.Stderr)
			}
			continue
		}
		if code != 0 || !strings.HasPrefix(shown, played) || n > len(whole)-6 && played != shown {
			t.Errorf("cut at %d: exit %d, %q of %q; %q", n, code, played, shown, p.Stderr)
		}
	}
}

// TestFilesThatAreRefused: a clear error that names the file, and nothing is run, made or replaced.
func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, make := range map[string]func(path string) error{
		"there.cast":      func(p string) error { return os.WriteFile(p, []byte("kept"), 0o600) },
		"under.cast.part": func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"link.cast":       func(p string) error { return os.Symlink("there.cast", p) },
		"link.png":        func(p string) error { return os.Symlink("there.cast", p) },
		"folder":          func(p string) error { return os.Mkdir(p, 0o700) },
		"way":             func(p string) error { return os.Symlink("folder", p) },
	} {
		if err := make(at(name)); err != nil {
			t.Fatal(err)
		}
	}
	before, err := filepath.Glob(at("*"))
	if err != nil {
		t.Fatal(err)
	}
	s := start(t)
	b := s.sh("read x")
	for path, problem := range map[string]string{
		"there.cast": "exists already", "under.cast": "is being recorded", "link.cast": "is a symbolic link", "folder": "exists already", "no/a.cast": "its folder does not exist",
		"way/a.cast": "its folder is a symbolic link", "there.cast/a.cast": "its folder is a file",
	} {
		p := ptywright(t, "record", "-o", at(path), "--", "touch", at("ran"))
		if _, code := p.Run(""); code != 1 || !strings.Contains(p.Stderr.String(), problem) || strings.Count(p.Stderr.String(), "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %q", path, code, p.Stderr, problem)
		}
		for _, format := range []string{"asciicast-v2", "markdown"} {
			err := s.refused(-32602, "file_refused", "session.record_start", map[string]any{"session": b.ID, "path": at(path), "format": format})
			if !strings.Contains(err.Message, problem) {
				t.Errorf("%s: %s, want %q", path, err.Message, problem)
			}
		}
	}
	for _, path := range []string{"no/a.png", "way/a.png", "link.png", "folder"} {
		s.refused(-32602, "file_refused", "session.screenshot", map[string]any{"session": b.ID, "path": at(path)})
	}
	p := ptywright(t, "record", "-o", at("new.cast"), "--", "no-such-program")
	if _, code := p.Run(""); code != 127 {
		t.Errorf("a program that is not there: exit %d, %q", code, p.Stderr)
	}
	after, _ := filepath.Glob(at("*"))
	if kept, _ := os.ReadFile(at("there.cast")); strings.Join(after, " ") != strings.Join(before, " ") || string(kept) != "kept" {
		t.Errorf("before %q, after %q with %q", before, after, kept)
	}
	b.text("\n")
	if how := b.exited(); how != "exit 0" {
		t.Errorf("the session: %s", how)
	}
}

// TestRecordingsThatFail: the disk is full, or somebody takes the file away. The session goes on,
// the recording says what became of it, and what was written is a valid prefix.
func TestRecordingsThatFail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// POSIX counts blocks of 512 bytes; some shells of 1,024. A file beyond is an error, and no
	// signal: Go ignores it.
	s := launch(t, limited(t, "ulimit -f 8", "serve", "--stdio"))
	type recording struct{ Recording, Path, State, Error string }
	start := func(b *session, format string) (r recording) {
		s.call("session.record_start", map[string]any{"session": b.ID, "dir": dir, "format": format, "input": format != "markdown"}, &r)
		return r
	}
	stop := func(r recording) (stopped recording) {
		s.call("session.record_stop", map[string]any{"recording": r.Recording}, &stopped)
		return stopped
	}
	b := s.sh("while read x; do seq 300; echo $x done; done")
	full, text := start(b, "asciicast-v2"), start(b, "markdown")
	for _, word := range []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"} {
		b.text(word + "\n")
		b.wait(client.Regexp(word + " done"))
	}
	stopped := stop(full)
	if stopped.State != "failed" || !strings.Contains(stopped.Error, "file too large") {
		t.Errorf("on a full disk: %+v", stopped)
	}
	if played, code := ptywright(t, "cast2text", stopped.Path).Run(""); code != 0 || !strings.Contains(played, "\n300\n") {
		t.Errorf("what was written of it: exit %d, %q", code, played)
	}
	b.text("\x04")
	if how := b.exited(); how != "exit 0" {
		t.Errorf("the session: %s", how)
	}
	if stopped = stop(text); stopped.State != "failed" || !strings.Contains(stopped.Error, "file too large") {
		t.Errorf("a document on a full disk: %+v", stopped)
	}
	if written, err := os.ReadFile(stopped.Path); err != nil || !bytes.Contains(written, []byte("\nstate: failed\n")) || !bytes.HasSuffix(written, []byte("\n")) {
		t.Errorf("the document has %q, %v", written, err)
	}

	c := s.sh("read x")
	gone := start(c, "asciicast-v3")
	if err := os.Remove(gone.Path + ".part"); err != nil {
		t.Fatal(err)
	}
	c.text("one\n")
	if how := c.exited(); how != "exit 0" {
		t.Errorf("the session: %s", how)
	}
	if stopped = stop(gone); stopped.State != "failed" || !strings.Contains(stopped.Error, "was removed or replaced while it was written") {
		t.Errorf("a file that was taken away: %+v", stopped)
	}
	if _, err := os.Stat(gone.Path); !os.IsNotExist(err) {
		t.Errorf("the file that was taken away: %v", err)
	}
	s.end(0, "the session goes on")
}
