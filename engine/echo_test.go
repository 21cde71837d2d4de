package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

var (
	echoOn  = pty.LineMode{Canonical: true, Echo: true, CRToNL: true}
	echoOff = pty.LineMode{Canonical: true, CRToNL: true}
	rawMode = pty.LineMode{}
)

// A typist types into a terminal without a program, and knows what was told of each line last.
type typist struct {
	input  engine.SecretInput
	screen *vt.Terminal
	mode   pty.LineMode
	told   map[string]string
}

func newTypist(kind engine.EchoOff) *typist {
	y := &typist{screen: vt.New(24, 80, vt.Options{}), mode: echoOn, told: map[string]string{}}
	y.input = engine.SecretInput{EchoOff: kind, Asks: asks, Tell: func(line string, is engine.Standing) { y.told[line] = standings[is] }}
	return y
}

// do takes a step: "on", "off" and "raw" are the terminal's modes, "> text" is output, anything
// else a line that is typed. It reports whether the line was kept from those who look on.
func (y *typist) do(step string) (hidden bool) {
	modes := map[string]pty.LineMode{"on": echoOn, "off": echoOff, "raw": rawMode}
	if mode, ok := modes[step]; ok {
		y.mode = mode
	} else if text, ok := strings.CutPrefix(step, "> "); ok {
		y.screen.Feed([]byte(text))
		y.input.Look(y.mode, true)
	} else {
		y.input.Look(y.mode, false)
		hidden = y.input.Type([]byte(step+"\n"), y.mode, y.screen.Snapshot)
	}
	return hidden
}

func TestEchoOff(t *testing.T) {
	for _, c := range []struct {
		name  string
		kind  engine.EchoOff
		steps []string
		want  string // what was told last of each line, in alphabetical order
	}{
		{"nothing is known of the first line", "", []string{"off", "one"}, "one?"},
		{"echo comes back", "", []string{"off", "> Code: ", "one", "on", "> \r\nok\r\n"}, "one!"},
		{"a habit", "", []string{"off", "one", "> got-one\r\n", "two", "> got-two\r\n", "three"}, "one-"},
		{"a habit that was begun in one piece", "", []string{"off", "one", "two", "> got-one\r\n", "three"}, "one- two-"},
		{"the habit's end", "", []string{"off", "one", "> 1\r\n", "two", "on", "> $ ", "off", "> Code: ", "three", "on", "> ok"}, "one- three!"},
		{"a question in a habit", "", []string{"off", "one", "> 1\r\n", "two", "> Password: ", "three", "> \r\n# ", "four", "> 4\r\n", "five"},
			"one- three!"},
		{"the same word, asked for and in a habit", "", []string{"off", "> Password: ", "one", "> \r\n\n# ", "one", "> \r\n# ", "two"}, "one-"},
		{"the question is on the line above", "", []string{"off", "> Password:\r\n", "one"}, "one!"},
		{"the question was two lines above", "", []string{"off", "> Password:\r\n\n", "one"}, "one?"},
		{"a question that wraps", "", []string{"off", "> Password for " + strings.Repeat("x", 100) + ": ", "one"}, "one!"},
		{"asked twice", "", []string{"off", "> Password: ", "one", "> \r\nPassword again: ", "two", "> \r\n# ", "three", "> \r\n# ", "four"},
			"one! three- two!"},
		{"a question is answered once", "", []string{"off", "> Password:\r\n", "one", "> # ", "two", "> \r\n# ", "three"}, "one! two-"},
		{"an editor is started", "", []string{"off", "> Code: ", "one", "raw", "> prompt"}, "one!"},
		{"an editor in a habit", "", []string{"off", "one", "> 1\r\n", "two", "raw", "> x", "off", "> # ", "three"}, "one-"},
		{"empty lines", "", []string{"off", "", "> # ", "", "> # ", "one", "on", "> x"}, "one!"},
		{"secret: all", engine.EchoSecret, []string{"off", "one", "> 1\r\n", "two", "> 2\r\n", "three"}, "one! three! two!"},
		{"plain: none", engine.EchoPlain, []string{"off", "> Password: ", "one", "on", "> x"}, ""},
	} {
		for _, size := range [][2]int{{24, 80}, {1, 80}, {2, 20}} { // on a small screen most of a question has left
			y := newTypist(c.kind)
			y.screen = vt.New(size[0], size[1], vt.Options{})
			for _, s := range c.steps {
				y.do(s)
			}
			var got []string
			for line, is := range y.told {
				got = append(got, line+is)
			}
			if slices.Sort(got); strings.Join(got, " ") != c.want {
				t.Errorf("%s, on %d rows of %d: %q, want %q", c.name, size[0], size[1], got, c.want)
			}
		}
	}
}

// Whatever comes in whatever order: what a question asked for is never shown, a habit's lines are,
// and a line after which echo came back is a secret.
func TestEchoOffInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := newTypist("")
		echo, question := "on", false
		var spell []string // lines that nothing asked for, since echo was on or a program read keys
		answered, habit := false, false
		secrets, shown := map[string]bool{}, map[string]bool{}
		for n := range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch step := rapid.SampledFrom([]string{"on", "off", "off", "raw", "question", "output", "output", "line", "line", "line"}).Draw(t, "step"); step {
			case "on", "off", "raw":
				y.do(step)
				echo = step
			case "question":
				y.do("> \r\nPassword: ")
				question = true
			case "output":
				y.do("> \r\n\n$ ")
				question = false
			case "line":
				line := fmt.Sprintf("line-%d", n)
				hidden := y.do(line)
				switch {
				case echo != "off":
					if hidden || y.told[line] != "" {
						t.Fatalf("%s was typed in sight, and told as %q", line, y.told[line])
					}
				case question:
					secrets[line] = true
				case habit:
					shown[line] = true
				case answered:
					habit, shown[line] = true, true
				default:
					spell = append(spell, line)
				}
				if echo == "off" && hidden != (question || !habit) {
					t.Fatalf("hidden is %v: a question %v, a habit %v", hidden, question, habit)
				}
			}
			// What the terminal is found to be: whenever something is written or typed.
			if last := y.mode; last.Echo || !last.Canonical && !habit {
				if len(spell) > 0 && stepLooks(t, y) {
					for _, l := range spell {
						secrets[l] = true
					}
					spell, answered = nil, false
				}
				if last.Echo && stepLooks(t, y) {
					habit, spell, answered = false, nil, false
				}
			} else if last.Canonical && len(spell) > 0 {
				stepLooks(t, y)
				answered = true
			}
			if answered && (habit || len(spell) > 1) {
				for _, l := range spell {
					shown[l] = true
				}
				habit, spell, answered = true, nil, false
			}
			for l := range secrets {
				if y.told[l] != "!" {
					t.Fatalf("%s is a secret, and was told as %q", l, y.told[l])
				}
			}
			for l := range shown {
				if is := y.told[l]; is != "-" && is != "" {
					t.Fatalf("%s is of a habit, and was told as %q", l, is)
				}
			}
		}
	})
}

// stepLooks has the terminal looked at after output, so that the model knows when.
func stepLooks(_ *rapid.T, y *typist) bool {
	y.input.Look(y.mode, true)
	return true
}

// A recording has what is typed in a habit, once it is one, and what is plain; never what may be a
// secret.
func TestEchoOffAndInputTaps(t *testing.T) {
	for kind, want := range map[engine.EchoOff]string{
		engine.EchoAsk: "two\nthree\nfour\n", engine.EchoSecret: "", engine.EchoPlain: "one\ntwo\nthree\npw\nfour\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			p, rec := enginetest.New(), &inputTap{}
			p.SetLineMode(echoOff)
			e := engine.New(engine.Options{
				Start: func(pty.Command) (engine.PTY, error) { return p, nil },
				Asks:  asks, Typed: func(*engine.Session, string, engine.Standing) {},
			})
			s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Taps: []engine.Tap{rec}, EchoOff: kind})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close(t.Context())
			for _, line := range []string{"one", "two", "three", "pw", "four"} {
				if line == "pw" {
					p.Print("Password: ")
				}
				synctest.Wait()
				if _, err := s.Do(t.Context(), engine.Text(line+"\n")); err != nil {
					t.Fatal(err)
				}
				p.Print("\r\n\n# ")
				synctest.Wait()
			}
			if rec.typed != want {
				t.Errorf("%s: %q, want %q", kind, rec.typed, want)
			}
		})
	}
}
