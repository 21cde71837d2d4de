package attach

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
)

// A desk is a server of one session which answers who may type only when it is told to, and a
// viewer of it.
type desk struct {
	*viewer
	t       *testing.T
	conn    net.Conn
	waiting []request // for an answer
	heard   []string  // what has reached the server: methods, and what was typed
	polls   []request // for frames
	prompt  bool      // answers at once who may type
	mute    bool      // answers nothing at all
	ended   chan error
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Take   bool
		Since  *uint64
		Action struct{ Value string }
	} `json:"params"`
}

// sit starts both. It is called in a bubble, in which [synctest.Wait] returns when nobody has
// anything to do.
func sit(t *testing.T, write bool) *desk {
	ours, theirs := net.Pipe()
	d := &desk{t: t, conn: theirs, ended: make(chan error, 1)}
	go d.serve()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(ours)
	d.viewer = newViewer(t.Context(), Options{In: null, Out: null, Client: c, Session: "s1", Write: write, As: "me", Key: 0x1c})
	d.viewer.signals = &signals{ending: make(chan os.Signal, 1), resized: make(chan os.Signal, 1), stopped: make(chan os.Signal, 1)}
	d.viewer.mayStop = func() error { return nil }
	d.prompt = true // begin waits for it
	if err := d.begin(); err != nil {
		t.Fatal(err)
	}
	d.prompt = false
	d.tty.measure()
	d.window.resize(d.tty.size)
	d.start(d.follow)
	d.start(d.viewer.send)
	go func() {
		_, err := d.loop()
		d.ended <- err
	}()
	synctest.Wait()
	d.heard = nil
	t.Cleanup(func() {
		theirs.Close()
		c.Close()
		null.Close()
	})
	return d
}

func (d *desk) serve() {
	r := protocol.Lines.NewReader(d.conn, 1<<20)
	for {
		line, err := r.Next()
		if err != nil {
			return
		}
		var q request
		if err := json.Unmarshal(line, &q); err != nil {
			d.t.Error(err)
		}
		switch {
		case q.Method == "session.frame" && q.Params.Since == nil:
			d.reply(q, `"result":{"sequence":1,"full":true,"size":{"rows":24,"cols":80},"modes":{"bracketed_paste":true},"lease":null,"exit":null}`)
			continue
		case q.Method == "session.frame":
			d.polls = append(d.polls, q)
			continue
		case q.ID == nil: // a notification
			continue
		case q.Method == "session.lease" && q.Params.Take:
			d.heard = append(d.heard, "take")
		case q.Method == "session.input":
			d.heard = append(d.heard, q.Params.Action.Value)
		case q.Method != "server.set_ordering":
			d.heard = append(d.heard, strings.TrimPrefix(q.Method, "session."))
		}
		switch {
		case !d.prompt && (q.Method == "session.lease" || q.Method == "session.release") || d.mute:
			d.waiting = append(d.waiting, q)
		default:
			d.reply(q, `"result":{"sent":true,"sequence":2}`)
		}
	}
}

func (d *desk) reply(q request, text string) {
	_, _ = io.WriteString(d.conn, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", q.ID, text))
}

// answer answers the oldest question.
func (d *desk) answer(yes bool) {
	d.t.Helper()
	if len(d.waiting) == 0 {
		d.t.Fatalf("nothing was asked; heard %q", d.heard)
	}
	q := d.waiting[0]
	d.waiting = d.waiting[1:]
	if yes {
		d.reply(q, `"result":{"since":"2026-01-02T03:04:05Z"}`)
	} else {
		d.reply(q, `"error":{"code":-32007,"message":"taken","data":{"reason":"session_leased","holder":"Ada","since":"2026-01-02T03:04:05Z"}}`)
	}
	synctest.Wait()
}

// types is one read of the terminal.
func (d *desk) types(text string) {
	d.t.Helper()
	select {
	case d.input <- []byte(text):
	case <-time.After(time.Hour):
		d.t.Fatalf("the terminal is not read: %q", text)
	}
	synctest.Wait()
}

// hears checks what has reached the server since the last look.
func (d *desk) hears(want ...string) {
	d.t.Helper()
	if !slices.Equal(d.heard, want) {
		d.t.Errorf("the server has heard %q, not %q", d.heard, want)
	}
	d.heard = nil
}

// says checks the message that stands on the screen.
func (d *desk) says(want string) {
	d.t.Helper()
	if all := strings.Join(d.message, "\n"); !strings.Contains(all, want) {
		d.t.Errorf("the message is %q, not %q", all, want)
	}
}

// detaches checks that the detach key works.
func (d *desk) detaches() {
	d.t.Helper()
	d.types("\x1cd")
	if err := <-d.ended; err != nil {
		d.t.Errorf("detached with %v", err)
	}
}

// TestTypedWhileAsking: what comes behind the key that asks for the session is done when the answer
// is there, and in its order.
func TestTypedWhileAsking(t *testing.T) {
	for name, c := range map[string]struct {
		typed   string
		yes     bool
		before  []string // what the server has heard before its answer
		after   []string
		says    string
		writing bool
	}{
		"text behind w":               {"\x1cwls\r", true, []string{"lease"}, []string{"ls\r"}, "you write", true},
		"text behind w, refused":      {"\x1cwls\r", false, []string{"lease"}, nil, "Ada has the session", false},
		"t behind w":                  {"\x1cw\x1ct", true, []string{"lease"}, nil, "you write", true},
		"t behind w, refused":         {"\x1cw\x1ct", false, []string{"lease"}, []string{"take"}, "Ada has the session", false},
		"text behind t behind w":      {"\x1cw\x1cthello", false, []string{"lease"}, []string{"take"}, "Ada has the session", false},
		"w twice":                     {"\x1cw\x1cw", true, []string{"lease"}, []string{"release"}, "", false},
		"the detach key itself":       {"\x1cw\x1cs", true, []string{"lease"}, []string{"\x1c"}, "you write", true},
		"a paste":                     {"\x1cw\x1b[200~one\ntwo\x1b[201~", true, []string{"lease"}, []string{"\x1b[200~one\ntwo\x1b[201~"}, "you write", true},
		"a key":                       {"\x1cw\x1b[A", true, []string{"lease"}, []string{"\x1b[A"}, "you write", true},
		"redraw, which asks for none": {"\x1cw\x1clx", true, []string{"lease"}, []string{"x"}, "you write", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := sit(t, false)
				d.types(c.typed)
				d.hears(c.before...)
				d.answer(c.yes)
				d.hears(c.after...)
				d.says(c.says)
				if d.writing != c.writing {
					t.Errorf("writing is %t", d.writing)
				}
				if d.asking { // the second question
					d.answer(true)
					d.hears(strings.Fields(c.typed[min(len(c.typed), len("\x1cw\x1ct")):])...)
				}
				d.detaches()
			})
		})
	}
}

// TestTypedWhileGivingBack: what is typed behind the key that gives the session back is not sent
// any more.
func TestTypedWhileGivingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, true)
		d.types("a\x1cwb")
		d.hears("release") // a was not under way yet, and may not be sent once it is another's
		d.answer(true)
		d.hears()
		d.says("given back")
		d.detaches()
	})
}

// TestSuspendWhileAsking: a suspended viewer does not hold the session, whichever of the two keys
// comes first.
func TestSuspendWhileAsking(t *testing.T) {
	away := errors.New("away")
	for name, stop := range map[string]func(d *desk){
		"one read":  func(d *desk) { d.types("\x1cw\x1cz") },
		"two reads": func(d *desk) { d.types("\x1cw"); d.types("\x1cz") },
		"a signal": func(d *desk) {
			d.types("\x1cw")
			d.viewer.signals.stopped <- os.Interrupt // whichever
			synctest.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := sit(t, false)
				d.stopSelf = func() error { return away }
				stop(d)
				d.hears("lease")
				select {
				case <-d.ended:
					t.Fatal("it is stopped, and may have the session")
				default:
				}
				d.answer(true)
				d.hears("release")
				d.answer(true)
				if err := <-d.ended; err != away {
					t.Errorf("ended with %v", err)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // a server that does not answer keeps nobody
		d := sit(t, true)
		d.types("\x1cz")
		time.Sleep(2 * partBound)
		synctest.Wait()
		d.says("not suspended")
		d.detaches()
	})
}

// TestDetachFromAHungServer, however much was typed before.
func TestDetachFromAHungServer(t *testing.T) {
	const much = 8 * holdMax / (16 << 10)
	t.Run("while asking", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := sit(t, false)
			d.types("\x1cw")
			for range much {
				d.types(strings.Repeat("x", 16<<10))
			}
			if d.held.bytes > holdMax {
				t.Errorf("%d bytes are held", d.held.bytes)
			}
			d.says("the server does not answer")
			d.detaches()
		})
	})
	t.Run("while writing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := sit(t, true)
			d.mute = true
			for range much {
				d.types(strings.Repeat("x", 16<<10)) // from some point on only after hungBound
			}
			if d.out.bytes > outboxMax+16<<10 {
				t.Errorf("%d bytes wait to be sent", d.out.bytes)
			}
			d.says("bytes were dropped")
			d.detaches()
		})
	})
}

// TestPasteThatIsTooLong loses its rest, up to its end and no further, and its end is told.
func TestPasteThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, false)
		d.types("\x1cw" + pasteOn)
		for range 2 * holdMax / (16 << 10) {
			d.types(strings.Repeat("x", 16<<10))
		}
		d.answer(true)
		d.says("bytes were dropped")
		d.types("rest of it\nrm -rf\n")
		d.types("rest" + pasteOff + "typed")
		all := strings.Join(d.heard, "")
		if d.heard = nil; !strings.HasPrefix(all, "lease"+pasteOn+"xxx") || !strings.HasSuffix(all, "xxx"+pasteOff+"typed") || strings.Contains(all, "rest") {
			t.Errorf("the server has heard %d bytes: %.20q to %q", len(all), all, all[max(0, len(all)-40):])
		}
		d.detaches()
	})
}

// TestTakenBeforeItWasSeen: a session that somebody takes before a frame has told that it was ours
// is not ours any more, whichever comes first, that frame or the answer; and a frame that was made
// before it was ours takes nothing away.
func TestTakenBeforeItWasSeen(t *testing.T) {
	lease := func(d *desk, lease string) {
		q := d.polls[0]
		d.polls = d.polls[1:]
		d.reply(q, `"result":{"sequence":2,"size":{"rows":24,"cols":80},"lease":`+lease+`,"exit":null}`)
		synctest.Wait()
	}
	frame := func(d *desk, since string) { lease(d, `{"holder":"Ada","since":"`+since+`","yours":false}`) }
	for name, c := range map[string]struct {
		do      func(d *desk)
		writing bool
	}{
		"the answer, then the frame": {func(d *desk) { d.answer(true); frame(d, "2026-01-02T03:04:06Z") }, false},
		"the frame, then the answer": {func(d *desk) { frame(d, "2026-01-02T03:04:06Z"); d.answer(true) }, false},
		"an older frame":             {func(d *desk) { d.answer(true); frame(d, "2026-01-02T03:04:04Z") }, true},
		"what we had before": {func(d *desk) {
			lease(d, `{"holder":"me","since":"2026-01-02T03:04:03Z","yours":true}`)
			d.answer(true)
			lease(d, "null") // we had given it back
		}, true},
		"an older frame before": {func(d *desk) { frame(d, "2026-01-02T03:04:04Z"); d.answer(true) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := sit(t, false)
				d.types("\x1ct")
				c.do(d)
				if d.writing != c.writing {
					t.Errorf("writing is %t", d.writing)
				}
				if !c.writing {
					d.says("Ada has taken the session")
				}
				d.detaches()
			})
		})
	}
}

// TestPartGivesBackWhatItAskedFor: an answer that comes while it detaches is not lost.
func TestPartGivesBackWhatItAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := sit(t, false)
		d.types("\x1cw")
		d.detaches()
		parted := make(chan struct{})
		go func() {
			d.part()
			close(parted)
		}()
		synctest.Wait()
		d.hears("lease")
		d.answer(true)
		d.hears("release")
		d.answer(true)
		<-parted
	})
}
