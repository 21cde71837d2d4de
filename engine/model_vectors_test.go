package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"testing"
	"testing/synctest"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/matchers"
)

// A waitVector is a line of sdk/waits.json: what a program writes on a terminal of 4x20, and what
// waits that look once say of it when all of that was read. Each SDK asks a real server the same.
type waitVector struct {
	Name   string
	Pieces []string
	Asks   []struct {
		Matcher json.RawMessage
		Since   *int // how many pieces came before what counts
		Behind  *int // a piece: goes on from the next of a wait for its title
		From    *int // an earlier one, whose next this goes on from
		Latched bool
		Holds   bool
		Text    *string // that matched
		Screen  *string // of the answer
	}
}

// title is what a piece ends with, so that it is known to have been read.
func pieceTitle(n int) string { return fmt.Sprintf("\x1b]2;piece %d\a", n) }

// TestWaitVectors: what sdk/waits.json says is what sessions answer, however what was written is cut,
// and, where it can be asked, what the model does.
func TestWaitVectors(t *testing.T) {
	text, err := os.ReadFile("../sdk/waits.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []waitVector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	modelled := 0
	for _, v := range vectors {
		for _, most := range []int{1, 3, 1 << 10} {
			t.Run(fmt.Sprint(v.Name, "/", most), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { v.ask(t, most) })
			})
		}
		var batches []batch
		for i, p := range v.Pieces {
			batches = append(batches, batch{4, p + pieceTitle(i+1)})
		}
		all := sights(batches)
		for i, a := range v.Asks {
			q, ok := questionOf(t, decoded(t, a.Matcher))
			if !ok || a.Since == nil || all[len(all)-1].screen.History().Len() > 0 {
				continue
			}
			k := asking{Question: q, Since: *a.Since, Latched: a.Latched, Began: 4*len(batches) + 1}
			if got := k.outcome(all) != ""; got != a.Holds {
				t.Errorf("%s, %d: the model says that it holds: %t", v.Name, i, got)
			}
			modelled++
		}
	}
	if modelled < 25 {
		t.Errorf("the model was asked only %d times", modelled)
	}
}

// ask prints the pieces, at most so many bytes at once, and asks.
func (v *waitVector) ask(t *testing.T, most int) {
	p := enginetest.New()
	e := enginetest.Engine(p)
	defer e.Close(context.Background())
	s, err := e.Spawn(t.Context(), engine.Config{Program: "fake", Size: pty.Size{Rows: 4, Cols: 20}})
	if err != nil {
		t.Fatal(err)
	}
	after, behind := []uint64{0}, []*engine.Position{nil}
	for i, piece := range v.Pieces {
		for rest := piece + pieceTitle(i+1); rest != ""; {
			n := min(most, len(rest))
			p.Print(rest[:n])
			rest = rest[n:]
			synctest.Wait()
		}
		after = append(after, s.Sequence())
		out, err := s.Wait(t.Context(), matchers.Title(regexp.MustCompile(fmt.Sprintf("^piece %d$", i+1))), engine.Within(0))
		if err != nil {
			t.Fatal(err)
		}
		behind = append(behind, out.Next)
	}
	var next []*engine.Position
	for i, a := range v.Asks {
		var since *engine.Position
		switch {
		case a.From != nil:
			since = next[*a.From]
		case a.Behind != nil:
			since = behind[*a.Behind]
		default:
			since = engine.After(after[*a.Since])
		}
		m, err := matchers.Parse(decoded(t, a.Matcher), matchers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Wait(t.Context(), m, since, engine.Latched(a.Latched), engine.Within(0))
		next = append(next, out.Next)
		switch {
		case (err == nil) != a.Holds || err != nil && !errors.Is(err, engine.ErrTimeout) || out.Missed:
			t.Errorf("%d, %s: %v, missed: %t", i, a.Matcher, err, out.Missed)
			continue
		case err != nil:
			continue
		}
		if got := matchedText(out.Match); a.Text != nil && got != *a.Text {
			t.Errorf("%d, %s matched %q, want %q", i, a.Matcher, got, *a.Text)
		}
		if got := out.View.Screen.Text(); a.Screen != nil && got != *a.Screen {
			t.Errorf("%d, %s held when the screen was %q, want %q", i, a.Matcher, got, *a.Screen)
		}
	}
}

// matchedText is the first text that matched, as SDKs tell it.
func matchedText(m *engine.Match) string {
	if m.Pattern != "" {
		return m.Capture
	}
	if m.Text != "" {
		return m.Text
	}
	for _, part := range m.Parts {
		if text := matchedText(part); text != "" {
			return text
		}
	}
	return ""
}

func decoded(t *testing.T, text json.RawMessage) (v any) {
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// questionOf is a matcher as a question of the model; false when the model cannot be asked.
func questionOf(t *testing.T, tree any) (q question, ok bool) {
	m := tree.(map[string]any)
	q.Kind = map[string]string{"contains_text": "text", "not": "not", "any": "any", "all": "all"}[m["type"].(string)]
	var parts []any
	switch v := m["value"].(type) {
	case string:
		q.Text = v
	case []any:
		parts = v
	case map[string]any:
		parts = []any{v}
	}
	ok = q.Kind != ""
	for _, part := range parts {
		if !ok {
			break
		}
		var p question
		p, ok = questionOf(t, part)
		q.Parts = append(q.Parts, p)
	}
	return q, ok
}
