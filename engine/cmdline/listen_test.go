package cmdline

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
)

// sentinelWords are the words of a typed line of which what tells its end is made.
var sentinelWords = regexp.MustCompile(`DONE_%s%s\S+' (\w+) (\w+) (\w+) (\w+)`)

// TestKeyAnsweredBeforeItsWriteReturns: a key that the command has read, and ended with, does not
// stand on the command line, also when the command's end is heard before the writer of the key
// goes on.
func TestKeyAnsweredBeforeItsWriteReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		p.SetLineMode(pty.LineMode{Canonical: true, Echo: true, CRToNL: true})
		p.SetForeground(pty.Process{PID: 7, Name: "sh", Leader: true})
		e := enginetest.Engine(p)
		s, err := e.Spawn(t.Context(), engine.Config{Program: "sh", Size: pty.Size{Rows: 24, Cols: 80}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { // the program ends with its terminal
			p.End(0)
			if err := e.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		p.Print("$ ")
		synctest.Wait()

		end := "" // of the command under way
		begin := func(line []byte, output string) {
			w := sentinelWords.FindSubmatch(line)
			if w == nil {
				t.Fatalf("no sentinel in %q", line)
			}
			end = fmt.Sprintf("\r\n__UNTERM_DONE_%s%s__:%s%s:0\r\n$ ", w[1], w[2], w[3], w[4])
			p.Print(fmt.Sprintf("\x1b]7770;%s%s\a%s", w[3], w[4], output))
		}
		p.WhenTaken(func(taken []byte) {
			switch {
			case bytes.Contains(taken, []byte("head -c 1")):
				begin(taken, "")
			case string(taken) == "q":
				p.Print("q" + end)
			case bytes.Contains(taken, []byte("echo again")):
				begin(taken, "again\r\n")
				p.Print(end)
			}
			synctest.Wait() // all of it is heard
		})
		o := Options{Timeout: time.Second}
		if r, err := Run(t.Context(), s, "head -c 1 >/dev/null", o); err != nil || r.Reason != Timeout {
			t.Fatalf("%+v, %v", r, err)
		}
		if _, err := s.Do(t.Context(), engine.Text("q")); err != nil {
			t.Fatal(err)
		}
		if r, err := Run(t.Context(), s, "echo again", o); err != nil || r.Output != "again\n" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
