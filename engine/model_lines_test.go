package engine_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/matchers"
)

// The model of lines: a program prints words and line ends, and nothing else moves the cursor, so
// what is on the screen after a step are the last lines that fit it, and the others have scrolled
// off. The model knows of no terminal at all. It answers for texts on the screen and those that
// scrolled off, bells, changes of the height, and positions just behind a match.

// A lineStep is what happens at once, so long after what came before.
type lineStep struct {
	After int    // ms
	Text  string // words of two letters, blanks, line ends and bells
	Rows  int    // that the terminal gets; 0: the program prints
}

const linesCols = 200 // no line of these tests is as long

// lineModel is what is known of each step: 0 is the beginning.
type lineModel struct {
	lines []string
	by    [][]int // by which step each byte of a line was printed
	step  []struct {
		at    int // ms since the session began
		count int // lines there are, that of the cursor included
		top   int // the first that is on the screen
		bell  int // the step that rang last; 0: none
	}
}

func linesOf(steps []lineStep) *lineModel {
	m := &lineModel{lines: []string{""}, by: [][]int{nil}}
	m.step = append(m.step, struct{ at, count, top, bell int }{count: 1})
	now, rows := m.step[0], 4
	for i, s := range steps {
		now.at += s.After
		if s.Rows > 0 {
			rows = s.Rows
		}
		for _, c := range s.Text {
			last := len(m.lines) - 1
			switch c {
			case '\r':
			case '\n':
				m.lines, m.by = append(m.lines, ""), append(m.by, nil)
			case '\a':
				now.bell = i + 1
			default:
				m.lines[last] += string(c)
				m.by[last] = append(m.by[last], i+1)
			}
		}
		now.count = len(m.lines)
		now.top = max(0, now.count-rows)
		m.step = append(m.step, now)
	}
	return m
}

// after reports whether a word, or "\a", came after step k and up to step i, in a line from first
// on.
func (m *lineModel) after(word string, k, i, first int) bool {
	if word == "\a" {
		return m.step[i].bell > k
	}
	for n := first; n < m.step[i].count; n++ {
		for x := range m.lines[n] {
			end := x + len(word)
			if strings.HasPrefix(m.lines[n][x:], word) && m.by[n][end-1] > k && m.by[n][end-1] <= i {
				return true
			}
		}
	}
	return false
}

// A lineAsking is a wait of the model, for a word or "\a", which begins after step Step.
type lineAsking struct {
	Word    string
	Seen    bool // lines that scrolled off count
	Since   int  // a step; -1: none
	Latched bool
	Step    int
	Within  int // ms
}

// outcome is when the wait held; "" when it never did.
func (k *lineAsking) outcome(m *lineModel) string {
	began := m.step[k.Step].at + 1
	since := k.Since
	if since < 0 && k.Word == "\a" {
		since = k.Step // it counts from the wait's beginning on
	}
	highest := m.step[k.Step].top // since the wait began
	for i := range m.step {
		at := m.step[i].at
		switch {
		case i < k.Step && !(k.Latched && k.Since >= 0 && i > k.Since):
			continue
		case i == k.Step && !(k.Latched && k.Since >= 0 && i > k.Since):
			at = began
		}
		if at > began+k.Within {
			break
		}
		first := m.step[i].top
		if i >= k.Step {
			highest = min(highest, first)
		}
		if k.Latched && i > 0 && (i != k.Step || k.Since >= 0 && i > k.Since) { // each moment of the step
			first = min(first, m.step[i-1].top)
		}
		if k.Seen && k.Since >= 0 {
			first = 0
		} else if k.Seen && i >= k.Step {
			first = min(first, highest)
		}
		if m.after(k.Word, since, i, first) {
			return fmt.Sprintf("step %d at %d ms", i, at)
		}
	}
	return ""
}

// chain is every match of an expression after a step, in order.
func (m *lineModel) chain(re *regexp.Regexp, since int) (all []string) {
	for n, line := range m.lines {
		for _, at := range re.FindAllStringIndex(line, -1) {
			if m.by[n][at[1]-1] > since {
				all = append(all, line[at[0]:at[1]])
			}
		}
	}
	return all
}

// run asks a real session, under a schedule of virtual time, and then goes through all matches of an
// expression since the same position, each wait from where the last one ended.
func (k *lineAsking) run(t *testing.T, steps []lineStep, re *regexp.Regexp) (got string, chain []string) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	defer e.Close(context.Background())
	s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Size: pty.Size{Rows: 4, Cols: linesCols}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	began, step := time.Now(), make(chan error, len(steps))
	go func() {
		for _, x := range steps {
			time.Sleep(ms(x.After))
			if x.Rows > 0 {
				step <- s.Resize(pty.Size{Rows: uint16(x.Rows), Cols: linesCols})
			} else {
				p.Print(x.Text)
				step <- nil
			}
		}
	}()
	for range k.Step {
		if err := <-step; err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(ms(1))
	synctest.Wait()
	var m matchers.Matcher = matchers.Bell()
	if k.Word != "\a" {
		scope := matchers.OnScreen
		if k.Seen {
			scope = matchers.Seen
		}
		m = matchers.Text(k.Word).In(scope)
	}
	options := []engine.WaitOption{engine.Latched(k.Latched), engine.Within(ms(k.Within))}
	if k.Since >= 0 {
		options = append(options, engine.After(uint64(k.Since)))
	}
	out, err := s.Wait(t.Context(), m, options...)
	switch {
	case err == nil:
		got = fmt.Sprintf("step %d at %d ms", out.View.Sequence, out.View.At.Sub(began).Milliseconds())
	case !errors.Is(err, engine.ErrTimeout):
		t.Error(err)
	}
	if out.Missed {
		got += ", missed"
	}
	time.Sleep(time.Minute)
	// As the next of an answer: a wait after a sequence looks at the screen first.
	after := uint64(max(k.Since, 0))
	next := &engine.Position{Point: vt.Point{Seq: after}, Offset: s.OffsetAt(after), Exact: true}
	for ; len(chain) < 1000; next = out.Next {
		out, err = s.Wait(t.Context(), matchers.Regexp(re), next, engine.Latched(k.Latched), engine.Within(0))
		if err != nil {
			break
		}
		chain = append(chain, out.Match.Capture)
	}
	return got, chain
}

// TestWaitsOfLinesAreTheModels: waits for what is on the screen and what scrolled off it, for bells,
// latched and not, with a position and without, hold when a model of lines says so; and waits that go
// on from each other find each word once, in order.
func TestWaitsOfLinesAreTheModels(t *testing.T) {
	re := regexp.MustCompile("ab|cd")
	rapid.Check(t, func(r *rapid.T) {
		// A line that comes back from the scrollback counts as written whole by its last step, so
		// with changes of the height each line is printed at once.
		sizes := rapid.Bool().Draw(r, "sizes")
		pieces := []string{"ab ", "cd ", "\r\n", "\r\n", "a", "b ", "\a", "x"}
		steps := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) lineStep {
			s := lineStep{After: 4 * rapid.IntRange(1, 8).Draw(r, "after")}
			if sizes && rapid.IntRange(0, 3).Draw(r, "sort") == 0 {
				s.Rows = rapid.IntRange(1, 7).Draw(r, "rows")
				return s
			}
			s.Text = strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(r, "text"), "")
			if sizes {
				s.Text += "\r\n"
			}
			return s
		}), 1, 10).Draw(r, "steps")
		for i := 2; i < len(steps); i += 3 { // a row tells four writes apart
			if steps[i].Rows == 0 {
				steps[i].Text += "\r\n"
			}
		}
		k := lineAsking{Word: rapid.SampledFrom([]string{"ab", "cd", "\a"}).Draw(r, "word"),
			Seen: rapid.Bool().Draw(r, "seen"), Since: -1, Latched: rapid.Bool().Draw(r, "latched"),
			Step: rapid.IntRange(0, len(steps)).Draw(r, "step"), Within: 2 + 4*rapid.IntRange(0, 20).Draw(r, "within")}
		if rapid.Bool().Draw(r, "positioned") {
			k.Since = rapid.IntRange(0, k.Step).Draw(r, "since")
		}
		model := linesOf(steps)
		want, wantChain := k.outcome(model), model.chain(re, max(k.Since, 0))
		var got string
		var chain []string
		synctest.Test(t, func(t *testing.T) { got, chain = k.run(t, steps, re) })
		if got != want {
			r.Fatalf("%+v of %+v: %q, want %q", k, steps, got, want)
		}
		if !reflect.DeepEqual(chain, wantChain) {
			r.Fatalf("since %d of %+v, latched: %t: %q one after another, want %q", k.Since, steps, k.Latched, chain, wantChain)
		}
	})
}
