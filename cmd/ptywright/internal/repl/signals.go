package repl

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
)

const (
	// interruptBound is how long an evaluation may run after a Ctrl-C before another Ctrl-C leaves
	// the REPL. Code that checks its context ends within a millisecond; a person who presses the
	// key three times does not mean to lose all variables. More makes people wait.
	interruptBound = 500 * time.Millisecond
	// leaveBound is how long Lua, a program that has the terminal, or a write to a terminal that
	// does not read may delay a REPL that should end. It is longer than attach's two seconds, so
	// that an attach inside the REPL can restore the terminal first.
	leaveBound = 2500 * time.Millisecond
	// lentAfter is how long after a program had the terminal a key's signal may still be meant for
	// that program: it may have ended because of the signal before the signal was handled here.
	// With less, a busy machine would leave the REPL.
	lentAfter = 100 * time.Millisecond
)

// An Ended is the cause of everything that a signal ended.
type Ended struct{ Signal os.Signal }

// Error names the signal.
func (e *Ended) Error() string { return fmt.Sprintf("ended by %s", e.Signal) }

// An evaluation is what runs now.
type evaluation struct {
	cancel func(error)
	over   chan struct{}
}

// heed handles signals while the REPL runs: Ctrl-C ends the evaluation, and the others the REPL. If
// the evaluation does not return, heed restores the terminal and ends the process itself.
func (c *console) heed(told <-chan os.Signal, over <-chan struct{}) {
	var stuck evaluation       // interrupted, and still running
	var bound <-chan time.Time // for stuck to end
	var again, warned bool     // Ctrl-C came meanwhile; the person has been warned
	var late <-chan time.Time  // the requested end does not come
	heard := func(s os.Signal) {
		switch e := c.evaluating.Load(); {
		case c.ended.Load() != nil:
			c.exit(s)
		case time.Now().UnixNano() < c.lent.Load() && (s == os.Interrupt || s == syscall.SIGQUIT): // the program's key
		case s != os.Interrupt, e == nil && (!c.tty || c.cooked.Load() == nil): // Ctrl-C ends scripts, starts and ends, too
			c.ended.Store(&Ended{s})
			c.cancel(&Ended{s})
			late = time.After(leaveBound)
			if e == nil && !c.tty && c.reading.Load() { // reads cannot be cancelled
				c.exit(s)
			}
		case e == nil: // pressed after a line whose evaluation may have begun
			c.early.Store(true)
			if e := c.evaluating.Load(); e != nil && c.early.Swap(false) {
				e.cancel(errInterrupted)
			}
		case stuck.over != e.over:
			e.cancel(errInterrupted)
			stuck, again, warned, bound = *e, false, false, time.After(interruptBound)
		case warned:
			c.exit(s)
		default:
			again = true
		}
	}
	for {
		select {
		case s := <-told:
			heard(s)
		case handled := <-c.back:
			for len(told) > 0 {
				heard(<-told)
			}
			close(handled)
		case <-stuck.over:
			stuck, bound = evaluation{}, nil
		case <-bound:
			if again {
				c.exit(os.Interrupt)
			}
			warned = true
			fmt.Fprintln(c.Err,
				"ptywright: what runs does not look up: Ctrl-C again leaves the REPL")
		case <-late:
			c.exit(c.ended.Load().Signal)
		case <-over:
			return
		}
	}
}

// exit ends the process and restores the terminal. A server that was started stays.
func (c *console) exit(s os.Signal) {
	c.restore()
	os.Exit(ending.Code(s))
}

// restore gives the terminal the mode it had before.
func (c *console) restore() {
	if state := c.cooked.Swap(nil); state != nil {
		_ = term.Restore(int(c.In.Fd()), state)
	}
}
