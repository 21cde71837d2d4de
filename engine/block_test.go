package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

func blocksOf(t *testing.T, f func(print func(string), s *engine.Session)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		defer e.Close(t.Context())
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Scrollback: 50})
		if err != nil {
			t.Fatal(err)
		}
		f(func(out string) {
			p.Print(out)
			synctest.Wait()
		}, s)
	})
}

const (
	markA, markB, markC = "\x1b]133;A\a", "\x1b]133;B\a", "\x1b]133;C\a"
)

func markD(code int) string { return fmt.Sprintf("\x1b]133;D;%d\a", code) }

func TestBlocks(t *testing.T) {
	blocksOf(t, func(print func(string), s *engine.Session) {
		if b, how := s.Blocks(0); len(b) != 0 || how != engine.IntegrationNone {
			t.Errorf("without marks: %v, %s", b, how)
		}
		print("\x1b]7;file://h/tmp\a" + markA + "$ " + markB + "make all\r\n" + markC)
		print("one\r\n\x1b[31mtwo\x1b[m  \r\n")
		b, how := s.Blocks(0)
		if len(b) != 1 || how != engine.IntegrationOSC133 || b[0].Output != "one\ntwo  \n" || b[0].Raw != "one\n\x1b[31mtwo\x1b[m  \n" || b[0].ScreenText != "one\ntwo" || !b[0].Ended.IsZero() || b[0].Command != "make all" || b[0].Dir != "/tmp" || b[0].Number != 1 {
			t.Errorf("while it runs: %+v, %s", b, how)
		}
		time.Sleep(3 * time.Second)
		print("no newline" + markD(2) + "\r\n" + markA + "$ " + markB)
		b, _ = s.Blocks(0)
		if len(b) != 1 || b[0].Output != "one\ntwo  \nno newline" || b[0].ScreenText != "one\ntwo\nno newline" || b[0].ExitCode != 2 || !b[0].Exited || b[0].Ended.Sub(b[0].Started) != 3*time.Second || !b[0].Whole {
			t.Errorf("after its end: %+v", b)
		}
		if sh := s.View().Reports.Shell; sh.Commands != 1 || sh.Finished == 0 || sh.Phase != engine.ShellInput {
			t.Errorf("the shell: %+v", sh)
		}
		print("^C\r\n" + markD(130) + markA + "$ " + markB) // given up: no command
		print("echo " + strings.Repeat("x", 100) + "\r\n" + markC + strings.Repeat("y", 200) + "\r\n" + markD(0) + markA + "$ " + markB)
		b, _ = s.Blocks(1)
		if len(b) != 1 || b[0].Number != 2 || b[0].Command != "echo "+strings.Repeat("x", 100) || b[0].Output != strings.Repeat("y", 200)+"\n" || b[0].ScreenText != strings.Repeat("y", 200) {
			t.Errorf("lines that wrap: %+v", b)
		}
	})
}

func TestBlocksOfVSCodeMarks(t *testing.T) {
	blocksOf(t, func(print func(string), s *engine.Session) {
		print("\x1b]633;P;Cwd=/work\a\x1b]633;A\a~> \x1b]633;B\aprint\\\r\n> hi\r\n\x1b]633;E;print\\x0ahi\a\x1b]633;C\ahi\r\n\x1b]633;D;0\a")
		b, how := s.Blocks(0)
		if len(b) != 1 || how != engine.IntegrationOSC633 || b[0].Command != "print\nhi" || b[0].Output != "hi\n" || b[0].Dir != "/work" {
			t.Errorf("%+v, %s", b, how)
		}
	})
}

func TestBlocksAreBounded(t *testing.T) {
	blocksOf(t, func(print func(string), s *engine.Session) {
		var long strings.Builder
		for i := range 200 {
			fmt.Fprintf(&long, "line %d\r\n", i)
		}
		print(markA + "$ " + markB + "seq\r\n" + markC + long.String() + markD(0))
		b, _ := s.Blocks(0)
		if len(b) != 1 || b[0].ScreenWhole || !strings.HasSuffix(b[0].ScreenText, "line 198\nline 199") || strings.Contains(b[0].ScreenText, "line 10\n") {
			t.Errorf("a text that has left the scrollback: %+v", b)
		}
		if !b[0].Whole || b[0].Output != strings.ReplaceAll(long.String(), "\r\n", "\n") {
			t.Errorf("its output is all there: %t, %q", b[0].Whole, b[0].Output)
		}
		print(markA + "$ " + markB + "yes\r\n" + markC + strings.Repeat("y\r\n", engine.MaxBlockOutput) + "end" + markD(0))
		b, _ = s.Blocks(1)
		if len(b) != 1 || b[0].Whole || len(b[0].Output) != engine.MaxBlockOutput-1 || !strings.HasSuffix(b[0].Output, "y\nend") || !strings.HasSuffix(b[0].Above, "y\n") {
			t.Errorf("output over the bound: whole %t, %d bytes", b[0].Whole, len(b[0].Output))
		}
		for range 1500 {
			print(markA + "$ " + markB + "true\r\n" + markC + markD(0))
		}
		b, _ = s.Blocks(0)
		if len(b) != 1000 || b[999].Number != 1502 {
			t.Errorf("%d blocks, the last is %d", len(b), b[len(b)-1].Number)
		}
		print("\x1b[?1049h" + markA + markB + markC + markD(1) + "\x1b[?1049l")
		if b, _ = s.Blocks(1502); len(b) != 0 {
			t.Errorf("marks of the alternate screen made %+v", b)
		}
	})
}

// TestBlockEndsWhereItsMarkIs: what follows its end in the same write does not touch its output,
// wherever the write is cut.
func TestBlockEndsWhereItsMarkIs(t *testing.T) {
	session := markA + "$ " + markB + "make\r\n" + markC + "one\r\ntwo\r\n" + markD(3) + "\x1b[H\x1b[2J\x1b[3J" + markA + "$ " + markB + "next\r\n" + markC + "three\x1b]133;D;4\x1b\\\x1bc" +
		markA + "$ " + markB + "last\r\n" + markC + "four" + markA + "\x1b[2K\r$ " + markB
	for cut := range len(session) {
		blocksOf(t, func(print func(string), s *engine.Session) {
			if cut > 0 {
				print(session[:cut])
			}
			print(session[cut:])
			b, _ := s.Blocks(0)
			if len(b) != 3 || b[0].Command != "make" || b[0].Output != "one\ntwo\n" || b[0].ExitCode != 3 || b[1].Command != "next" || b[1].Output != "three" || b[1].ExitCode != 4 ||
				b[2].Command != "last" || b[2].Output != "four" || b[2].Exited {
				t.Fatalf("cut at %d: %+v", cut, b)
			}
		})
	}
}

// TestMarksWithoutEnd: a batch full of marks is taken like any other, and tells the last state of
// all.
func TestMarksWithoutEnd(t *testing.T) {
	blocksOf(t, func(print func(string), s *engine.Session) {
		const n = 5000
		print(strings.Repeat(markA+markB+markC+"x"+markD(1)+"\x1b[5n", n) + markA + "$ " + markB + "end")
		b, _ := s.Blocks(0)
		if len(b) == 0 || len(b) > 1000 || !b[0].Exited || b[0].Output != "x" {
			t.Errorf("%d blocks, the first %+v", len(b), b[0])
		}
		if sh := s.View().Reports.Shell; sh.Phase != engine.ShellInput {
			t.Errorf("%+v", sh)
		}
	})
}
