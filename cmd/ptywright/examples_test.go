//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// onPath is a folder to be the PATH's first: the program under test is in it, as ptywright.
func onPath(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "ptywright")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// standAlone is a program that finds ptywright on its PATH, and has a home of its own.
func standAlone(t *testing.T, name string, args ...string) *program {
	t.Helper()
	p := programOf(t, exec.Command(name, args...))
	p.Dir = t.TempDir()
	p.Env = append(p.Env, "PATH="+onPath(t)+":"+os.Getenv("PATH"), "HOME="+p.Dir, "PTYWRIGHT_HOME="+filepath.Join(p.Dir, "home"), "PYTHONDONTWRITEBYTECODE=1")
	return p
}

// TestExamplePrograms runs what stands in examples/python and examples/node.
func TestExamplePrograms(t *testing.T) {
	t.Parallel()
	for _, e := range []struct{ file, interpreter, debian, want string }{
		{"python/repl.py", "python3", "python3", "python says 42\ntimeout: the screen shows nothing like it\nthe last screen:\n  >>> 6 * 7\n  42\n  >>>\n"},
		{"python/secret.py", "python3", "python3", "it asks for a secret\nPassword:\nlogged in with [REDACTED]\nPassword:\nlogged in with open sesame\n"},
		{"node/repl.mjs", "node", "nodejs", "node says [ 14, 28, 42 ]\nerror: Uncaught ReferenceError: nothing is not defined\ntimeout: there is no title\n"},
		{"node/secret.mjs", "node", "nodejs", "it asks for a secret\nPassword:\nlogged in with [REDACTED]\nPassword:\nlogged in with open sesame\n"},
	} {
		t.Run(e.file, func(t *testing.T) {
			t.Parallel()
			need(t, e.interpreter, e.debian)
			path, err := filepath.Abs(filepath.Join(root, "examples", e.file))
			if err != nil {
				t.Fatal(err)
			}
			p := standAlone(t, e.interpreter, path)
			if out, code := p.Run(""); code != 0 || out != e.want || p.Stderr.String() != "" {
				t.Errorf("exit code %d, printed:\n%s%s\nexpected:\n%s", code, out, p.Stderr, e.want)
			}
			noneLeft(t, p.Mark)
		})
	}
}

// TestShellExamples runs what stands in examples/shell, each as a newcomer does: with no server
// there yet.
func TestShellExamples(t *testing.T) {
	t.Parallel()
	for _, e := range []struct{ run, program, debian, prints string }{
		{"sh examples/shell/repl.sh", "python3", "python3", `python says 42
no match after …; the screen has been quiet for …
- the text "43": the screen shows nothing like it
the last screen, at sequence … (running):
>>> 6 * 7
42
>>>
ptywright: the wait timed out
exit code 3`},
		{"echo 'open sesame' | sh examples/shell/secret.sh", "stty", "coreutils", `Password:
logged in
Password:
logged in with [REDACTED]
Password:
logged in with open sesame`},
	} {
		t.Run(e.run, func(t *testing.T) {
			t.Parallel()
			need(t, e.program, e.debian)
			r := newReader(t)
			r.run("examples/shell", block{commands: e.run, checked: true, prints: e.prints})
			if left, code := r.do("ptywright ls", ""); code != 0 || left != "" {
				t.Errorf("left behind: %s", left)
			}
		})
	}
}

// TestExampleClientsTellOfALostServer: what is asked of a server that ends fails, and so does what
// is asked afterwards.
func TestExampleClientsTellOfALostServer(t *testing.T) {
	t.Parallel()
	for _, e := range []struct{ language, interpreter, flag, debian, source string }{
		{"python", "python3", "-c", "python3", `
import sys; sys.path.insert(0, FOLDER)
from ptywright import Ptywright, Refused
pty = Ptywright()
s = pty.call("session.create", program="sh", args=["-c", "read -r _; kill -9 $PPID; read -r _"])["session"]
for attempt in range(2):
    try:
        pty.start("session.input", session=s, action={"type": "key", "value": "enter"})
        pty.call("session.wait", session=s, matcher={"type": "process_exited"})
    except (ConnectionError, Refused) as lost:
        print("lost:", "ended" in str(lost) or "pipe" in str(lost))
`},
		{"node", "node", "--input-type=module", "nodejs", `
const { Ptywright } = await import(FOLDER + '/ptywright.mjs');
const pty = new Ptywright();
const { session } = await pty.call('session.create', { program: 'sh', args: ['-c', 'read -r _; kill -9 $PPID; read -r _'] });
for (let attempt = 0; attempt < 2; attempt++) {
  pty.call('session.input', { session, action: { type: 'key', value: 'enter' } }).catch(() => {});
  await pty.call('session.wait', { session, matcher: { type: 'process_exited' } })
    .catch((lost) => console.log('lost:', lost.message.includes('ended') ? 'True' : lost.message));
}
`},
	} {
		t.Run(e.language, func(t *testing.T) {
			t.Parallel()
			need(t, e.interpreter, e.debian)
			folder, err := filepath.Abs(filepath.Join(root, "examples", e.language))
			if err != nil {
				t.Fatal(err)
			}
			source := strings.ReplaceAll(e.source, "FOLDER", "'"+folder+"'")
			args := []string{e.flag, source}
			if e.language == "node" {
				args = []string{e.flag, "-e", source}
			}
			p := standAlone(t, e.interpreter, args...)
			out, code := p.Run("")
			if want := "lost: True\nlost: True\n"; code != 0 || out != want {
				t.Errorf("exit code %d, printed:\n%s%s", code, out, p.Stderr)
			}
		})
	}
}
