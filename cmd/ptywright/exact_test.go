//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/internal/ansi"
)

// hardCommands are commands whose output is easily got wrong. What each writes is what the same
// shell writes to a pipe with -c.
var hardCommands = []struct {
	name, posix, fish string // "": the same
}{
	{name: "lines of its own", posix: "cat <<'EOF'\n  one\n$two  \n\nEOF", fish: "echo '  one\n$two  \n'"},
	{name: "5,000 lines", posix: "seq 5000"},
	{name: "a syntax error", posix: "if fi", fish: "echo )"},
	{name: "tabs", posix: `printf 'a\tb\n\tc\t\n'`},
	{name: "blanks at the ends of lines", posix: `printf 'x  \ny \n   \n\n\n'`},
	{name: "no line end", posix: `printf 'no line end'`},
	{name: "a progress bar", posix: `printf '10%%\r50%%\r100%%\n'; sh -c 'exit 7'`},
	{name: "colours", posix: `printf '\033[1;31mred\033[0m plain  \033[K\n\033]8;;http://x\007link\033]8;;\007'`},
	{name: "a job in the background", posix: "sleep 0.1 & echo started; wait"},
	{name: "noise", posix: "cat noise"},
	{name: "a prompt", posix: `printf '$ echo fake\nfake\n\033]133;D;9\007\033]133;A\007$ \033]133;B\007'; sh -c 'exit 4'`},
	{name: "exit", posix: "echo hi; exit 3"},
}

// jobNotice is what an interactive shell itself says of its jobs, which with -c it does not.
var jobNotice = regexp.MustCompile(`(?m)^\[\d+\].*\n|^\n?fish: Job .*\n`)

// A way runs a command in a shell of its own that stays, and returns its output and its exit code.
type way func(command string) (output string, code float64)

// TestOutputIsExact: by each door what a command wrote is given, byte for byte, with its exit code.
func TestOutputIsExact(t *testing.T) {
	t.Parallel()
	doors := map[string]func(t *testing.T, shell string, env map[string]string) way{
		"native": nativeWay, "mcp": mcpWay, "unterm": untermWay,
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		for door, open := range doors {
			t.Run(shell+" "+door, func(t *testing.T) {
				t.Parallel()
				need(t, shell, shell)
				home := enginetest.Home(t)
				if err := os.WriteFile(filepath.Join(home, "noise"), noise(), 0o600); err != nil {
					t.Fatal(err)
				}
				env := map[string]string{"HOME": home, "ZDOTDIR": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "ENV": "", "PWD": home}
				run := open(t, shell, env)
				for _, c := range hardCommands {
					line := c.posix
					if shell == "fish" && c.fish != "" {
						line = c.fish
					}
					want, code := toPipe(t, shell, line, env)
					got, exit := run(line)
					switch {
					case c.name == "a job in the background":
						got = jobNotice.ReplaceAllString(got, "")
					case c.name == "a syntax error" && shell == "fish":
						code = 123 // that of fish's own eval: with -c, 3.6 says 0
					case c.name == "a syntax error": // with -c the shell names the line, too
						for _, line := range []string{"bash: -c: line 1: `if fi'\n", "-c: line 1: ", ":1"} {
							want = strings.Replace(want, line, "", 1)
						}
					}
					if got != want || exit != code {
						t.Errorf("%s: %.300q, exit code %v, want %.300q, %v", c.name, got, exit, want, code)
					}
				}
			})
		}
	}
}

// noise is bytes of all kinds, but for those that make a terminal answer, and hide nothing: ESC and ENQ.
func noise() []byte {
	r := rand.New(rand.NewPCG(5, 17))
	var out []byte
	for len(out) < 4096 {
		if c := byte(r.UintN(256)); c != 0x1b && c != 0x05 {
			out = append(out, c)
		}
	}
	return out
}

// toPipe is what a command writes to a pipe, as text without escape sequences.
func toPipe(t *testing.T, shell, line string, env map[string]string) (output string, code float64) {
	t.Helper()
	c := exec.Command(shell, "-c", line)
	c.Dir, c.Env = env["HOME"], os.Environ()
	for name, value := range env {
		c.Env = append(c.Env, name+"="+value)
	}
	out, err := c.CombinedOutput()
	return ansi.Strip(ansi.Valid(out)), float64(exitCodeOf(t, err))
}

// nativeWay types the line, and reads its block.
func nativeWay(t *testing.T, shell string, env map[string]string) way {
	s := start(t)
	var created struct{ Session string }
	s.call("session.create", obj{"program": shell, "cwd": env["HOME"], "shell_integration": true, "env": env}, &created)
	last := 0
	return func(command string) (string, float64) {
		t.Helper()
		var sent struct{ Sequence uint64 }
		keys := strings.ReplaceAll(command, "\n", "\r") + "\r"
		s.call("session.input", obj{"session": created.Session, "action": obj{"type": "text", "value": keys}}, &sent)
		end := obj{"type": "any", "value": []any{obj{"type": "command_finished"}, obj{"type": "process_exited"}}}
		s.call("session.wait", obj{"session": created.Session, "since": sent.Sequence, "matcher": end}, nil)
		var r struct {
			Blocks []struct {
				Number    int
				Output    string
				Truncated bool
				ExitCode  *float64 `json:"exit_code"`
			}
		}
		s.call("session.blocks", obj{"session": created.Session, "since": last}, &r)
		if len(r.Blocks) != 1 || r.Blocks[0].Truncated {
			t.Fatalf("%q: %d blocks, %+v", command, len(r.Blocks), r.Blocks)
		}
		b := r.Blocks[0]
		last = b.Number
		if b.ExitCode != nil {
			if shell == "fish" && *b.ExitCode == 123 { // it leaves a line on the command line that it has refused
				s.call("session.input", obj{"session": created.Session, "action": obj{"type": "text", "value": "\x15"}}, nil)
			}
			return b.Output, *b.ExitCode
		}
		var all struct {
			Details []struct {
				Session string
				Exit    struct {
					Code float64 `json:"exit_code"`
				}
			}
		}
		s.call("session.list", obj{"details": true}, &all)
		return b.Output, all.Details[0].Exit.Code
	}
}

func mcpWay(t *testing.T, shell string, env map[string]string) way {
	s := goClient(t, nil)
	first, r := tool(t, s, "run", obj{"command": "true", "shell": shell, "cwd": env["HOME"], "env": env, "keep": true})
	if first == nil {
		t.Fatal(textOf(r))
	}
	return func(command string) (string, float64) {
		t.Helper()
		out, r := tool(t, s, "run", obj{"session": first["session"], "command": command, "max_chars": 200000})
		if out == nil || out["truncated"] != false || out["exit_code"] == nil {
			t.Fatalf("%q: %v %s", command, out, textOf(r))
		}
		return out["output"].(string), out["exit_code"].(float64)
	}
}

func untermWay(t *testing.T, shell string, env map[string]string) way {
	c := startUnterm(t).client(t)
	id := c.call("session.create", obj{"program": shell, "cwd": env["HOME"], "env": env})["id"]
	return func(command string) (string, float64) {
		t.Helper()
		r := c.call("exec.run_wait", obj{"id": id, "command": command})
		if r["output_truncated"] != false || r["exit_code"] == nil {
			t.Fatalf("%q: %v", command, r)
		}
		return r["output"].(string), r["exit_code"].(float64)
	}
}

// TestRawOutputAndScreenText: the same output with its escape sequences, and as it stood on the screen, by
// each door, with nothing of a secret in either.
func TestRawOutputAndScreenText(t *testing.T) {
	t.Parallel()
	need(t, "bash", "bash")
	const secret = "ghp_kR7vN2xQ9mT4wL8cF1zB6yH3jD5sG0pA7uEe"
	// The secret in two colours, over an older one; one that a carriage return draws over.
	line := fmt.Sprintf(`printf '\033[31mred\033[m  \n10%%%%\r20%%%%\ta\n\033[1m%s\033[2m%s\033[m\nexport TOKEN=%s\r-\n'`, secret[:12], secret[12:], secret)
	const raw = "\x1b[31mred\x1b[m  \n10%\r20%\ta\n"
	const plain = "red  \n10%\r20%\ta\n"
	const screen = "red\n20%     a\n"
	check := func(t *testing.T, door, what, got, begins string) {
		t.Helper()
		if !strings.HasPrefix(got, begins) || strings.Contains(got, secret[:12]) || strings.Contains(got, secret[12:]) || !strings.Contains(got, "[REDACTED]") {
			t.Errorf("%s: %s is %q, want %q and what is hidden", door, what, got, begins)
		}
	}
	home := t.TempDir()
	env := map[string]string{"HOME": home, "PS1": "$ "}
	t.Run("native", func(t *testing.T) {
		s := start(t)
		var created struct{ Session string }
		s.call("session.create", obj{"program": "bash", "shell_integration": true, "env": env}, &created)
		var sent struct{ Sequence uint64 }
		s.call("session.input", obj{"session": created.Session, "action": obj{"type": "text", "value": line + "\r"}}, &sent)
		s.call("session.wait", obj{"session": created.Session, "since": sent.Sequence, "matcher": obj{"type": "command_finished"}}, nil)
		for _, keep := range []bool{false, true} {
			var r struct {
				Blocks []struct {
					Output, Command string
					ScreenText      *string `json:"screen_text"`
					ScreenTruncated *bool   `json:"screen_truncated"`
				}
			}
			s.call("session.blocks", obj{"session": created.Session, "raw": keep, "screen_text": keep}, &r)
			b := r.Blocks[0]
			if !keep {
				check(t, "native", "output", b.Output, plain)
				if b.ScreenText != nil || b.ScreenTruncated != nil {
					t.Errorf("nobody asked for %v", *b.ScreenText)
				}
				continue
			}
			check(t, "native", "raw", b.Output, raw)
			check(t, "native", "screen_text", *b.ScreenText, screen)
			if *b.ScreenTruncated || strings.Contains(b.Output, "133;") {
				t.Errorf("a mark is in %q, or the text was cut", b.Output)
			}
		}
	})
	t.Run("mcp", func(t *testing.T) {
		s := goClient(t, nil)
		out, _ := tool(t, s, "run", obj{"command": line, "shell": "bash", "env": env, "keep": true})
		check(t, "mcp", "output", out["output"].(string), plain)
		out, r := tool(t, s, "run", obj{"command": line, "session": out["session"], "escapes": true, "screen_text": true})
		check(t, "mcp", "with escapes", out["output"].(string), raw)
		check(t, "mcp", "screen_text", out["screen_text"].(string), screen)
		if !strings.Contains(textOf(r), screen) || strings.Contains(textOf(r), "\x1b") {
			t.Errorf("the words show %q", textOf(r))
		}
	})
	t.Run("unterm", func(t *testing.T) {
		c := startUnterm(t).client(t)
		r := c.call("exec.run_wait", obj{"id": 0, "command": line})
		check(t, "unterm", "output", r["output"].(string), plain)
		r = c.call("exec.run_wait", obj{"id": 0, "command": line, "raw": true, "screen_text": true})
		check(t, "unterm", "raw", r["output"].(string), raw)
		check(t, "unterm", "screen_text", r["screen_text"].(string), screen)
	})
}
