package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ptywright/ptywright/protocol/client"
)

func TestRawTranscriptFiles(t *testing.T) {
	t.Parallel()
	s := startProgram(t, limited(t, "umask 0", "serve", "--stdio"))
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	regular, link, dangling, hard, pipe := at("regular"), at("link"), at("dangling"), at("hard"), at("pipe")
	const precious = "precious\n"
	if err := os.WriteFile(regular, []byte(precious), 0o640); err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink(regular, link))
	must(os.Symlink(at("nowhere"), dangling))
	must(unix.Mkfifo(pipe, 0o600))
	must(os.WriteFile(hard, nil, 0o600))
	must(os.Link(hard, at("hard2")))

	for _, test := range []struct {
		path    string
		appends bool
	}{
		{regular, false}, {link, false}, {link, true}, {dangling, false}, {dangling, true}, {pipe, false}, {pipe, true},
		{hard, false}, {hard, true}, {dir, false}, {dir, true}, {at("no/such/folder"), false}, {"/dev/null", true}, {"/dev/full", true},
	} {
		_, err := s.Spawn(s.ctx, client.Config{Program: "true", RawTranscriptPath: test.path, RawTranscriptAppend: test.appends})
		if e := wantError(t, err, client.CodeInvalidParams, "file_refused"); !strings.Contains(e.Message, test.path[:min(len(test.path), 30)]) {
			t.Errorf("%s: %s", test.path, e.Message)
		}
	}
	if len(s.list()) != 0 {
		t.Error("a session was started although its file was refused")
	}
	if _, err := os.Lstat(at("nowhere")); err == nil {
		t.Error("a symbolic link was followed")
	}

	run := func(path string, appends bool, word string) {
		t.Helper()
		c := s.with(client.Config{
			Program: "sh", Args: []string{"-c", `printf 'password=hunter2%s\n' ` + word}, RawTranscriptPath: path, RawTranscriptAppend: appends,
		})
		c.exited()
	}
	fresh := at("fresh")
	run(fresh, false, "A")
	run(fresh, true, "B")
	run(at("made"), true, "C")
	run(regular, true, "D")
	for _, test := range []struct {
		path, want string
		mode       fs.FileMode
	}{
		{fresh, "password=hunter2A\r\npassword=hunter2B\r\n", 0o600}, // raw is raw
		{at("made"), "password=hunter2C\r\n", 0o600},
		{regular, precious + "password=hunter2D\r\n", 0o640}, // it is its owner's to say
	} {
		got, err := os.ReadFile(test.path)
		info, statErr := os.Stat(test.path)
		if err != nil || statErr != nil || string(got) != test.want || info.Mode() != test.mode {
			t.Errorf("%s has mode %v and %q: %v", test.path, info.Mode(), got, err)
		}
	}
	_, err := s.Spawn(s.ctx, client.Config{Program: "true", RawTranscriptAppend: true})
	wantError(t, err, client.CodeInvalidParams, "invalid_params")
}

// A file that cannot take more ends itself, not its session: what it has is a beginning of the
// output.
func TestRawTranscriptThatCannotGrow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, setup string
		full        bool
	}{{"limit on files", "ulimit -f 64", false}, {"full disk", "true", true}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if test.full {
				if err := unix.Mount("ptywright-test", dir, "tmpfs", 0, "size=64k"); err != nil {
					t.Skipf("mounting a file system needs root: %v", err)
				}
				t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
			}
			s := startUnquiet(t, limited(t, test.setup, "serve", "--stdio"), "a recording of a session ended early")
			path := filepath.Join(dir, "raw")
			c := s.with(client.Config{Program: "sh", Args: []string{"-c", "stty -opost; seq 100000; exec cat"}, RawTranscriptPath: path})
			c.wait(client.Text("100000"))
			c.waitSince(c.text("alive\n"), client.Text("alive"))
			if info := s.list()[0]; !strings.Contains(info.TranscriptError, path) {
				t.Errorf("transcript_error is %q", info.TranscriptError)
			}
			got, err := os.ReadFile(path)
			var want bytes.Buffer
			for i := 1; want.Len() < len(got); i++ {
				want.WriteString(strconv.Itoa(i) + "\n")
			}
			if err != nil || len(got) < 16<<10 || !bytes.HasPrefix(want.Bytes(), got) {
				t.Errorf("the file has %d bytes that are no beginning of the output: %v", len(got), err)
			}
		})
	}
}

// startUnquiet is start for a server that has something to say.
func startUnquiet(t *testing.T, p *program, says string) *server {
	t.Helper()
	s := launch(t, p)
	t.Cleanup(func() { s.end(0, says) })
	return s
}
