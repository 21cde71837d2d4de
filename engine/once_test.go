package engine_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/enginetest"
)

// once is the option for a text with an id.
func once(id, text string) engine.Once {
	return engine.Once{ID: id, Of: sha256.Sum256([]byte(text))}
}

// TestInputWithAnIDIsTypedOnce: what is sent again is not typed again, and answered as the first
// time; another text under the id is refused; without an id, and with another, it is typed.
func TestInputWithAnIDIsTypedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		p.Print("x")
		synctest.Wait()
		do := func(id, text string) (engine.Receipt, error) {
			return s.Do(t.Context(), engine.Text(text), once(id, text))
		}
		first, err := do("a", "one ")
		if err != nil || first.Again || first.Sequence != 1 || first.Written != 4 {
			t.Fatalf("%+v, %v", first, err)
		}
		p.Print("y")
		synctest.Wait()
		again, err := do("a", "one ")
		if err != nil || !again.Again || again.Sequence != 1 || again.Written != 4 {
			t.Errorf("again: %+v, %v", again, err)
		}
		var other *engine.OnceError
		if _, err := do("a", "two "); !errors.As(err, &other) || other.ID != "a" || other.Session != "s1" {
			t.Errorf("another text: %v", err)
		}
		do("b", "one ")
		s.Do(t.Context(), engine.Text("one "))
		if got := p.Input(); got != "one one one " {
			t.Errorf("typed %q", got)
		}
		p.End(0) // what was typed was typed, whatever became of the program
		synctest.Wait()
		time.Sleep(time.Second)
		if r, err := do("a", "one "); err != nil || !r.Again {
			t.Errorf("after the end: %+v, %v", r, err)
		}
		if _, err := do("c", "late"); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("after the end, for the first time: %v", err)
		}
	})
}

// TestInputWithAnIDUnderWay: one that is sent again while it is still being typed waits for that,
// and has its outcome.
func TestInputWithAnIDUnderWay(t *testing.T) {
	for name, c := range map[string]struct {
		take    int // bytes that the program reads
		cancel  bool
		then    int // that it reads later
		want    string
		again   bool // the second one has typed nothing
		written int
	}{
		"it is typed":                       {take: 2, then: -1, want: "hello", again: true, written: 5},
		"it was typed in part":              {take: 2, cancel: true, then: -1, want: "he", again: true, written: 2},
		"nothing of it was typed: the next": {take: 0, cancel: true, then: -1, want: "hello", again: false, written: 5},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
				p.Take(c.take)
				stop := errors.New("the connection is gone")
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				type did struct {
					engine.Receipt
					err error
				}
				first, second := make(chan did, 1), make(chan did, 1)
				go func() {
					r, err := s.Do(ctx, engine.Text("hello"), once("a", "hello"), engine.Within(time.Minute))
					first <- did{r, err}
				}()
				synctest.Wait()
				go func() {
					r, err := s.Do(t.Context(), engine.Text("hello"), once("a", "hello"), engine.Within(time.Minute))
					second <- did{r, err}
				}()
				synctest.Wait()
				if len(second) > 0 {
					t.Fatal("it did not wait for the first")
				}
				if c.cancel {
					cancel(stop)
					<-first
					synctest.Wait()
				}
				p.Take(c.then)
				r := <-second
				if !c.cancel {
					<-first
				}
				if p.Input() != c.want || r.Again != c.again || r.Written != c.written || (r.err != nil) != (c.want != "hello") {
					t.Errorf("%q, %+v, %v", p.Input(), r.Receipt, r.err)
				}
			})
		})
	}
}

// TestInputIDsAreBounded: a session remembers 256 of them, the newest.
func TestInputIDsAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, p *enginetest.PTY, s *engine.Session) {
		do := func(n int) bool {
			r, err := s.Do(t.Context(), engine.Text("."), once(fmt.Sprint("id ", n), "."))
			if err != nil {
				t.Fatal(err)
			}
			return r.Again
		}
		for n := range 300 {
			do(n)
		}
		if p.Input() != strings.Repeat(".", 300) {
			t.Errorf("typed %d", len(p.Input()))
		}
		if !do(44) || !do(299) || do(43) { // 300 - 256
			t.Error("not the newest 256 are known")
		}
	})
}

// TestTags: a session has the tags that it was created with, and only good ones.
func TestTags(t *testing.T) {
	inBarn(t, engine.Options{}, func(t *testing.T, x *barn) {
		given := []string{"build", "a.b_c-9", strings.Repeat("x", engine.MaxTag)}
		s, _ := x.spawn(engine.Config{Tags: given})
		given[0] = "changed"
		if tags := s.Config().Tags; len(tags) != 3 || tags[0] != "build" {
			t.Errorf("%q", tags)
		}
		for _, tags := range [][]string{{""}, {"ok", "Build"}, {"a b"}, {"é"}, {"a\n"}, {strings.Repeat("x", engine.MaxTag+1)}, make([]string, engine.MaxTags+1)} {
			var wrong *engine.TagError
			_, err := x.Spawn(t.Context(), engine.Config{Program: "fake", Tags: tags})
			if !errors.As(err, &wrong) || len(tags) > engine.MaxTags != (wrong.Index < 0) {
				t.Errorf("%q: %v", tags, err)
			}
		}
	})
}
