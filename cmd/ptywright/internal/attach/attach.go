// Package attach shows a server's session live in a person's terminal and lets the person type into
// it. [Run] is the entry point. It is a client of the native wire like any other: frames report
// what changed on the screen, a lease gives the right to type, and input is sent as actions.
//
// One goroutine, that of [Run], owns all state: the window, the outbox, the terminal. Others wait
// for it: one reads the terminal, one asks for frames, one sends the items of the outbox, one at a
// time; each hands over one thing and waits until it is taken. So a terminal that is slow to read
// gets fewer frames. When a session does not read, the outbox fills up and reading from the
// terminal stops. Input that arrives while the server is asked for the session is held, up to a
// bound, and the terminal is still read: the detach key works whatever the server does.
package attach

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// Options say what is attached to, and how.
type Options struct {
	In, Out *os.File // the person's terminal
	Client  *client.Client
	Session string // its id
	Name    string // "": none
	Title   string // what the status line shows beside the id
	Write   bool   // acquire the session, so that the person can type
	Take    bool   // even if someone else holds it
	Look    bool   // only watch: this connection gives up the right to anything else
	Resize  bool   // as a writer, give the session the terminal's size
	Leave   bool   // leave when the program ends
	As      string // name of the holder, shown to others
	Key     Key    // the detach key
	Raw     bool   // show what would be redacted
}

// Label is how messages name the session: by its name, if it has one.
func (o *Options) Label() string {
	if o.Name == "" {
		return o.Session
	}
	return o.Name + " (" + o.Session + ")"
}

// A Result is how an attachment ended without an error.
type Result struct {
	Exit   *client.Exit // the program has ended; nil: detached
	Signal os.Signal    // the signal that ended the attachment
}

// ErrLost is returned by Run when the connection to the server ends.
var ErrLost = errors.New("the connection to the server is lost")

// errNoShell: no shell would resume a stopped process.
var errNoShell = errors.New("not suspended: no shell is there that could go on with it")

const (
	// frameWait is how long the server waits for something new to show. The value does not matter:
	// on timeout the client asks again.
	frameWait = 10 * time.Minute
	// escapeWait is how long an Escape is held for the rest of a sequence, over a slow line too. It
	// delays a press of the Escape key itself by as much.
	escapeWait = 25 * time.Millisecond
	// messageTime is how long a message is shown where it covers something.
	messageTime = 4 * time.Second
	// partBound is how long the end waits for the server to take back the size and the lease, and
	// for the terminal to answer our questions. The server does its part anyway, and the rest is
	// not worth waiting longer for.
	partBound = time.Second
	// stuckBound is how long a terminal that does not read may delay our end after a signal.
	stuckBound = 2 * time.Second
)

// Run attaches until the person detaches, the program has exited and a key was pressed, ctx ends,
// or a signal arrives. The terminal is restored when it returns, even after a panic. Errors:
// [ErrLost], a *[client.Error] of the server (unknown_session, session_leased, owned_by_adapter and
// so on), or the terminal's.
func Run(ctx context.Context, o Options) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := newViewer(ctx, o)
	if err := v.begin(); err != nil {
		return Result{}, err
	}
	defer v.part()
	v.signals = watchSignals()
	defer v.signals.stop()
	defer v.signals.unstick(func() { v.tty.leave(true) })()
	defer v.tty.leave(false)
	if err := v.tty.enter(); err != nil {
		return Result{}, err
	}
	v.window.resize(v.tty.size)
	v.fit()
	for _, work := range []func(){v.read, v.follow, v.send} {
		v.start(work)
	}
	r, err := v.loop()
	if err == nil {
		err = v.settle()
	}
	if lerr := v.tty.leave(false); err == nil {
		err = lerr
	}
	return r, err
}

// A viewer is one attachment.
type viewer struct {
	Options
	ctx      context.Context
	tty      terminal
	decoder  decoder
	window   window
	out      outbox
	last     *client.Frame
	writing  bool        // we hold the lease
	sure     bool        // a frame confirmed it: one made before our lease does not
	since    time.Time   // when we acquired it, by the server's clock
	asking   bool        // a request to acquire or release it is in flight
	held     hold        // input since then
	sending  bool        // an item of the outbox is in flight
	hung     bool        // that item had no answer for hungBound
	skip     bool        // drop the rest of a paste, a part of which was dropped
	wanted   client.Size // the size last requested for the session; zero: none
	choosing bool        // the menu is shown: the next key is one of it
	inPaste  bool        // the session got the start of a paste
	message  []string    // the first of these that fits is shown
	ring     bool        // ring the bell once
	done     bool

	expire, escape, late *time.Timer

	mayStop, stopSelf func() error // of this process; tests replace them

	input    chan []byte
	frames   chan *client.Frame
	outgoing chan item
	sent     chan error
	calls    chan func() error
	failed   chan error
	panics   chan string
	signals  *signals
}

func newViewer(ctx context.Context, o Options) *viewer {
	return &viewer{
		Options: o, ctx: ctx, tty: terminal{in: o.In, out: o.Out}, decoder: decoder{prefix: byte(o.Key)},
		mayStop: mayStop, stopSelf: stopSelf,
		input: make(chan []byte), frames: make(chan *client.Frame), outgoing: make(chan item), sent: make(chan error),
		calls: make(chan func() error), failed: make(chan error, 1), panics: make(chan string, 1),
	}
}

// begin acquires the session if requested, and its first frame: a refusal comes before the terminal
// is touched.
func (v *viewer) begin() error {
	if v.Look {
		if err := v.Client.Call(v.ctx, "server.set_access", map[string]string{"access": "read"}, nil); err != nil {
			return v.lost(err)
		}
	}
	if err := v.Client.Call(v.ctx, "server.set_ordering", map[string]string{"ordering": "concurrent"}, nil); err != nil {
		return v.lost(err)
	}
	if v.Write {
		since, err := v.lease(v.Take)
		if err != nil {
			return v.lost(err)
		}
		v.writing, v.since = true, since
	}
	f, err := v.frame(nil)
	if err != nil {
		return v.lost(err)
	}
	v.last = f
	v.window.take(f)
	v.expire, v.escape, v.late = idleTimer(), idleTimer(), idleTimer()
	if v.Look {
		v.say("you can only look on, " + v.keyName() + " for keys")
	} else if !v.writing {
		v.say("read-only, " + v.keyName() + " for keys")
	} else {
		v.say("you write, " + v.keyName() + " for keys")
	}
	return nil
}

// idleTimer returns a timer that is not set.
func idleTimer() *time.Timer {
	t := time.NewTimer(0)
	t.Stop()
	return t
}

func (v *viewer) session() *client.Session { return v.Client.Session(v.Session) }

// lease acquires the session, and returns since when it is ours.
func (v *viewer) lease(take bool) (time.Time, error) {
	var r struct {
		Since time.Time `json:"since"`
	}
	err := v.Client.Call(v.ctx, "session.lease", map[string]any{"session": v.Session, "holder": v.As, "take": take}, &r)
	return r.Since, err
}

// frame asks for what changed since the frame that we have.
func (v *viewer) frame(since *uint64) (*client.Frame, error) {
	wait := frameWait.Milliseconds()
	o := client.FrameOptions{Since: since, TimeoutMS: &wait}
	if v.Raw {
		o.Redact = new(bool)
	}
	return v.session().Frame(v.ctx, o)
}

// lost turns the end of the connection into [ErrLost].
func (v *viewer) lost(err error) error {
	if !disconnected(err) {
		return err
	}
	return fmt.Errorf("session %s: %w: the server was ended or killed", v.Label(), ErrLost)
}

// disconnected reports whether err is the connection's: a failed write comes before its end is
// noticed.
func disconnected(err error) bool {
	var op *net.OpError
	return errors.Is(err, client.ErrClosed) || errors.As(err, &op)
}

// start runs work in its own goroutine. A panic there is passed on to [Run], which restores the
// terminal.
func (v *viewer) start(work func()) {
	go func() {
		defer func() {
			if r := recover(); r != nil {
				v.panics <- fmt.Sprintf("%v\n%s", r, debug.Stack())
			}
		}()
		work()
	}()
}

// read reads the terminal. It ends with the process: a terminal read cannot be cancelled.
func (v *viewer) read() {
	for {
		b := make([]byte, 16<<10)
		n, err := v.In.Read(b)
		if n > 0 {
			select {
			case v.input <- b[:n]:
			case <-v.ctx.Done():
				return
			}
		}
		if err != nil {
			v.fail(fmt.Errorf("read the terminal: %w", err))
			return
		}
	}
}

// follow asks for frames until the program exits.
func (v *viewer) follow() {
	f := v.last
	for !f.Over() {
		next, err := v.frame(&f.Sequence)
		if err != nil {
			v.fail(err)
			return
		}
		select {
		case v.frames <- next:
		case <-v.ctx.Done():
			return
		}
		f = next
	}
}

// send sends the items it is given and reports each result.
func (v *viewer) send() {
	for {
		var i item
		select {
		case i = <-v.outgoing:
		case <-v.ctx.Done():
			return
		}
		err := v.act(i)
		select {
		case v.sent <- err:
		case <-v.ctx.Done():
			return
		}
	}
}

// act performs one item.
func (v *viewer) act(i item) error {
	s := v.session()
	var err error
	switch {
	case i.resize != nil:
		err = s.Hold(v.ctx, i.resize.Rows, i.resize.Cols)
	case i.mouse != nil:
		_, err = s.Do(v.ctx, client.Action{Type: "mouse", Value: i.mouse.value()})
	default:
		_, err = s.Do(v.ctx, client.Action{Type: "text", Value: i.text})
	}
	return err
}

// call makes a call while the loop runs; then runs in the loop with its result.
func (v *viewer) call(f func() error, then func(error) error) {
	v.start(func() {
		err := f()
		select {
		case v.calls <- func() error { return then(err) }:
		case <-v.ctx.Done():
		}
	})
}

func (v *viewer) fail(err error) {
	select {
	case v.failed <- err:
	default: // the first is reported
	}
}

// loop shows frames and sends input until the end.
func (v *viewer) loop() (Result, error) {
	for {
		if err := v.show(); err != nil {
			return Result{}, err
		}
		switch {
		case v.done:
			return v.result(), nil
		case v.last.Over() && v.Leave:
			return v.result(), nil
		}
		input, outgoing, next := v.input, v.outgoing, item{}
		if v.out.full() && !v.hung {
			input = nil
		}
		if v.sending || len(v.out.items) == 0 {
			outgoing = nil
		} else {
			next = v.out.items[0]
		}
		var err error
		select {
		case p := <-input:
			err = v.typed(v.decoder.feed(p))
			if v.escape.Stop(); v.decoder.waiting() {
				v.escape.Reset(escapeWait)
			}
		case <-v.escape.C:
			err = v.typed(v.decoder.flush())
		case f := <-v.frames:
			v.news(f)
		case outgoing <- next:
			v.out.take()
			v.sending = true
			v.late.Reset(hungBound)
		case <-v.late.C:
			v.hung = true
		case e := <-v.sent:
			v.sending, v.hung = false, false
			v.late.Stop()
			err = v.refused(e)
		case then := <-v.calls:
			err = then()
		case <-v.expire.C:
			v.message = nil
		case e := <-v.failed:
			err = v.gone(e)
		case p := <-v.panics:
			panic(p)
		case <-v.signals.resized:
			v.resized()
		case <-v.signals.stopped:
			if v.asking { // it may be ours to release then
				v.wait(event{kind: eventChoice, data: "z"})
			} else {
				err = v.suspend()
			}
		case s := <-v.signals.ending:
			return Result{Signal: s}, nil
		case <-v.ctx.Done():
			return v.result(), nil
		}
		if err != nil {
			return Result{}, err
		}
	}
}

// result is how the attachment ended, if it ended now.
func (v *viewer) result() Result {
	if v.last.Over() {
		return Result{Exit: v.last.Exit}
	}
	return Result{}
}

// gone handles a failure to read or follow.
func (v *viewer) gone(err error) error {
	if v.last.Over() && disconnected(err) { // nothing more will come from it
		v.done = true
		return nil
	}
	return v.lost(err)
}

// news takes in a frame.
func (v *viewer) news(f *client.Frame) {
	was := v.last
	v.last = f
	v.window.take(f)
	v.ring = v.ring || f.Bell > was.Bell
	mine := f.Lease != nil && f.Lease.Yours && !f.Lease.Since.Before(v.since) // not an earlier lease
	switch {
	case f.Over() && !was.Over():
		v.out.drop()
	case v.writing && mine:
		v.sure = true
	case v.writing && (v.sure || f.Lease != nil && f.Lease.Since.After(v.since)): // else the frame was made before
		v.taken()
	}
}

// taken handles the loss of the session to someone else.
func (v *viewer) taken() {
	v.look()
	if l := v.last.Lease; l != nil && !l.Yours {
		v.say(clean(l.Holder)+" has taken the session: read-only now; "+v.keyName()+" t takes it back", v.naming("%s took it: "+v.keyName()+" t takes it back", l.Holder))
		return
	}
	v.say("the session is not yours any more: read-only now; "+v.keyName()+" w takes it", "read-only now: "+v.keyName()+" w takes it back")
}

// look switches to watching only.
func (v *viewer) look() {
	v.writing, v.sure, v.inPaste, v.out, v.wanted = false, false, false, outbox{}, client.Size{}
}

// refused handles the result of sent input.
func (v *viewer) refused(err error) error {
	if err == nil {
		return nil
	}
	e := serverError(err)
	if e == nil {
		return v.lost(err)
	}
	switch e.Reason {
	case "mouse_not_requested", "position_out_of_range", "session_ended", "session_closed": // the next frame shows it
	case "session_leased":
		if v.writing {
			v.taken()
		}
	case "input_blocked", "input_full":
		n := v.out.drop()
		v.say(fmt.Sprintf("the program does not read what is typed; %d bytes were dropped", n), fmt.Sprintf("not read, so dropped: %d bytes", n))
	default:
		v.out.drop()
		v.say("not sent: " + clean(e.Message))
	}
	return nil
}

// serverError returns the server's answer in err, or nil when err is something else.
func serverError(err error) *client.Error {
	var e *client.Error
	errors.As(err, &e)
	return e
}

// resized handles a change of the terminal's size.
func (v *viewer) resized() {
	v.tty.measure()
	v.window.resize(v.tty.size)
	v.fit()
}

// fit gives the session the terminal's size, less the status line, if it should have it.
func (v *viewer) fit() {
	if !v.writing || !v.Resize || v.last.Over() {
		return
	}
	if s := (client.Size{Rows: max(v.tty.size.Rows-1, 1), Cols: v.tty.size.Cols}); s != v.wanted {
		v.wanted = s
		v.out.resize(s)
	}
}

// suspend restores the terminal and stops the process, as a shell's job does, until it is
// continued. Nobody should have to wait for a person who is away: the session is released, and
// acquired again afterwards if nobody else holds it by then.
func (v *viewer) suspend() error {
	if err := v.mayStop(); err != nil {
		v.say(err.Error(), "not suspended: no shell")
		return nil
	}
	had := v.writing
	if had {
		v.look()
		err := v.bounded(v.session().Release)
		if errors.Is(err, context.DeadlineExceeded) { // the person is away
			v.say("not suspended: the server does not answer")
			return nil
		}
		if err != nil {
			return err
		}
	}
	if err := v.tty.leave(false); err != nil {
		return err
	}
	if had {
		fmt.Fprintf(v.Out, "[%s is given back until attach goes on]\n", v.Label())
	}
	if err := v.stopSelf(); err != nil {
		return err
	}
	if err := v.tty.enter(); err != nil {
		return err
	}
	v.window.resize(v.tty.size)
	if had && !v.last.Over() {
		v.acquire(false)
	}
	return nil
}

// bounded makes a call that the loop waits for. A refusal by the server is not an error.
func (v *viewer) bounded(call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(v.ctx, partBound)
	defer cancel()
	return v.broken(call(ctx))
}

// settle waits until the terminal has answered our questions: the answers would otherwise be typed
// into the shell.
func (v *viewer) settle() error {
	bound := time.NewTimer(partBound - time.Since(v.tty.askedAt))
	defer bound.Stop()
	for v.tty.asked {
		select {
		case p := <-v.input:
			for _, e := range v.decoder.feed(p) {
				if e.kind == eventReply && e.data != "" {
					v.tty.reply(e.data)
				}
			}
		case <-bound.C:
			return nil
		}
	}
	return nil
}

// part releases what was acquired. The terminal is already the person's again.
func (v *viewer) part() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.ctx), partBound)
	defer cancel()
	if v.held = (hold{}); v.asking {
		select {
		case then := <-v.calls: // perhaps we have it now
			_ = then()
		case <-v.ctx.Done():
			return
		case <-ctx.Done():
			return
		}
	}
	if !v.writing {
		return
	}
	_ = v.session().Release(ctx) // it may have ended, or be gone: there is nobody left to report to
}
