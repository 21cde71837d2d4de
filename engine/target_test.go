package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
)

// frames are two, with the same in both.
const frames = "+- One -+ +- Two -+\r\n| [ Go ] | [ Go ] |\r\n+-------+ +-------+\r\n"

func at(t *testing.T, words string) engine.Target {
	t.Helper()
	l, err := locate.Parse(words)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Target{Locator: l}
}

// target starts a fake program whose screen shows what is given, and runs f with it.
func target(t *testing.T, shows string, f func(t *testing.T, p *enginetest.PTY, s *engine.Session)) {
	synctest.Test(t, func(t *testing.T) {
		p := enginetest.New()
		e := enginetest.Engine(p)
		defer e.Close(context.Background())
		s, err := e.Spawn(t.Context(), engine.Config{Program: "fake"})
		if err != nil {
			t.Fatal(err)
		}
		p.Print(shows)
		synctest.Wait()
		f(t, p, s)
	})
}

// TestClick: what is named is pressed and released where it is, and a receipt says what came of it.
func TestClick(t *testing.T) {
	const mouse = "\x1b[?1000;1006h"
	for name, c := range map[string]struct {
		shows  string
		action engine.Action
		typed  string
		reacts string
		want   engine.Press
	}{
		"in the middle": {mouse + "a [ Go ] b", engine.Click{Target: at(t, "'[ Go ]'"), Button: vt.MouseLeft}, "\x1b[<0;5;1M\x1b[<0;5;1m", "",
			engine.Press{Row: 0, Col: 4, StillThere: true}},
		"at its start, twice": {mouse + "a Go", engine.Click{Target: engine.Target{Locator: at(t, "'Go'").Locator, At: engine.Start}, Button: vt.MouseRight, Count: 2, Mods: vt.Ctrl},
			"\x1b[<18;3;1M\x1b[<18;3;1m\x1b[<18;3;1M\x1b[<18;3;1m", "", engine.Press{Row: 0, Col: 2, StillThere: true}},
		"at the end of a wide text": {mouse + "你好", engine.Click{Target: engine.Target{Locator: at(t, "'你好'").Locator, At: engine.End}, Button: vt.MouseLeft},
			"\x1b[<0;3;1M\x1b[<0;3;1m", "", engine.Press{Row: 0, Col: 2, StillThere: true}},
		"a cell": {mouse + "abc", engine.Click{Target: engine.Target{Row: 0, Col: 1}, Button: vt.MouseLeft}, "\x1b[<0;2;1M\x1b[<0;2;1m", "",
			engine.Press{Row: 0, Col: 1, StillThere: true}},
		"it stays, and something else changes": {mouse + "Go", engine.Click{Target: at(t, "'Go'"), Button: vt.MouseLeft}, "\x1b[<0;1;1M\x1b[<0;1;1m", "\r\nclicked",
			engine.Press{StillThere: true, Reacted: true}},
		"it goes": {mouse + "Go", engine.Click{Target: at(t, "'Go'"), Button: vt.MouseLeft}, "\x1b[<0;1;1M\x1b[<0;1;1m", "\x1b[2J",
			engine.Press{Reacted: true}},
		"presses alone, as of mode 9": {"\x1b[?9hGo", engine.Click{Target: at(t, "'Go'"), Button: vt.MouseLeft}, "\x1b[M !!", "",
			engine.Press{StillThere: true}},
		"the wheel": {mouse + "Go", engine.Scroll{In: at(t, "'Go'"), Button: vt.MouseWheelDown, By: 2}, "\x1b[<65;1;1M\x1b[<65;1;1M", "",
			engine.Press{StillThere: true}},
	} {
		t.Run(name, func(t *testing.T) {
			target(t, c.shows, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
				if c.reacts != "" {
					p.WhenTaken(func([]byte) {
						p.WhenTaken(nil)
						time.AfterFunc(time.Millisecond, func() { p.Print(c.reacts) })
					})
				}
				was := s.Sequence()
				r, err := s.Do(t.Context(), c.action)
				if err != nil || p.Input() != c.typed || len(r.Presses) != 1 || r.Sequence != was {
					t.Fatalf("typed %q, %+v, %v", p.Input(), r, err)
				}
				c.want.Sequence = was
				if r.Presses[0] != c.want {
					t.Errorf("%+v, want %+v", r.Presses[0], c.want)
				}
			})
		})
	}
}

// TestDrag: both ends are found before anything is pressed.
func TestDrag(t *testing.T) {
	target(t, "\x1b[?1002;1006hfrom here\r\nto there", func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		r, err := s.Do(t.Context(), engine.Drag{From: at(t, "'from'"), To: at(t, "'there'"), Button: vt.MouseLeft})
		if err != nil || p.Input() != "\x1b[<0;2;1M\x1b[<32;6;2M\x1b[<0;6;2m" || len(r.Presses) != 2 || r.Presses[1].Row != 1 || r.Presses[1].Col != 5 {
			t.Errorf("%q, %+v, %v", p.Input(), r, err)
		}
	})
}

// TestClickWaits: a click waits until its target is there, and until it is the only one; others can
// type meanwhile.
func TestClickWaits(t *testing.T) {
	target(t, "\x1b[?1000;1006hGo Go", func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		done := make(chan error, 1)
		go func() {
			_, err := s.Do(t.Context(), engine.Click{Target: at(t, "'Go'"), Button: vt.MouseLeft})
			done <- err
		}()
		synctest.Wait()
		began := time.Now()
		if _, err := s.Do(t.Context(), engine.Text("x")); err != nil || time.Since(began) > 0 || p.Input() != "x" {
			t.Errorf("%v after %v, %q", err, time.Since(began), p.Input())
		}
		p.Print("\x1b[2K\rGone? No: Go")
		synctest.Wait()
		p.Print("\x1b[2K\r- Go")
		if err := <-done; err != nil || p.Input() != "x\x1b[<0;3;1M\x1b[<0;3;1m" {
			t.Errorf("%v, %q", err, p.Input())
		}
	})
}

// TestClickFrames: within a synchronized update the last whole frame counts.
func TestClickFrames(t *testing.T) {
	target(t, "\x1b[?1000;1006hGo\x1b[?2026h\r    Go", func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		r, err := s.Do(t.Context(), engine.Click{Target: at(t, "'Go'"), Button: vt.MouseLeft})
		if err != nil || len(r.Presses) != 1 || r.Presses[0].Col != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestClickMoved: what is drawn elsewhere while the click is on its way is told.
func TestClickMoved(t *testing.T) {
	target(t, "\x1b[?1000;1006hGo", func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.WhenTaken(func([]byte) {
			p.WhenTaken(nil)
			changed := s.Changed()
			p.Print("\x1b[2K\r\nGo")
			<-changed
		})
		r, err := s.Do(t.Context(), engine.Click{Target: at(t, "'Go'"), Button: vt.MouseLeft})
		if err != nil || len(r.Presses) != 1 || !r.Presses[0].Moved || r.Presses[0].StillThere || r.Presses[0].Row != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestClickRefused: nothing is pressed where nothing, or too much, is meant, where it has scrolled
// off, and where the program takes no mouse.
func TestClickRefused(t *testing.T) {
	const mouse = "\x1b[?1000;1006h"
	scrolled := mouse + "Start\r\n" + strings.Repeat("line\r\n", 40)
	for name, c := range map[string]struct{ shows, words, want string }{
		"nothing":    {mouse + "Go", "'Stop'", "the locator means nothing on the screen"},
		"several":    {mouse + frames, "'[ Go ]'", "the locator means 2 places of the screen, expected one"},
		"off screen": {scrolled, "'Start'", "what the locator means has left the screen, in line 0: scroll back first"},
		"no mouse":   {"Go", "'Go'", engine.ErrNoMouse.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			target(t, c.shows, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
				began := time.Now()
				_, err := s.Do(t.Context(), engine.Click{Target: at(t, c.words), Button: vt.MouseLeft}, engine.Within(time.Second))
				if err == nil || err.Error() != c.want || p.Input() != "" {
					t.Errorf("%v, %q", err, p.Input())
				}
				var bad *engine.TargetError
				if took := time.Since(began); errors.As(err, &bad) && took != time.Second || name != "no mouse" && (bad == nil || bad.View == nil) {
					t.Errorf("%+v after %v", bad, took)
				}
			})
		})
	}
}

// TestClickInTyping: among other input each target is found when its turn has come.
func TestClickInTyping(t *testing.T) {
	target(t, "\x1b[?1000;1006hMenu", func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.WhenTaken(func(taken []byte) {
			if strings.HasSuffix(string(taken), "m") {
				p.Print("\r\nOpen")
			}
		})
		r, err := s.Do(t.Context(), engine.Typing{Actions: []engine.Action{
			engine.Click{Target: at(t, "'Menu'"), Button: vt.MouseLeft}, engine.Click{Target: at(t, "'Open'"), Button: vt.MouseLeft}, engine.Text("x"),
		}})
		if err != nil || p.Input() != "\x1b[<0;2;1M\x1b[<0;2;1m\x1b[<0;2;2M\x1b[<0;2;2mx" || len(r.Presses) != 2 || !r.Presses[0].Reacted {
			t.Errorf("%q, %+v, %v", p.Input(), r, err)
		}
	})
}
