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
	// interruptBound is how long what runs may go on after a Ctrl-C before another leaves the REPL with it. What looks at its context
	// has ended in a millisecond; who presses the key three times does not mean to lose all variables. More makes people wait.
	interruptBound = 500 * time.Millisecond
	// leaveBound is how long Lua, a program that has the terminal, or a write to one that takes nothing may keep a REPL that was told to
	// end. It is that of attach, which has two seconds, so that an attach within the REPL may give the terminal back first.
	leaveBound = 2500 * time.Millisecond
	// lentAfter is how long after a program had the terminal a key's signal may still be one that was typed at it: the program may have
	// ended of it, and been waited for, before it was seen here. Less would have a busy machine leave the REPL for it.
	lentAfter = 100 * time.Millisecond
)

// An Ended is the cause of everything that ends because a signal came.
type Ended struct{ Signal os.Signal }

// Error names the signal.
func (e *Ended) Error() string { return fmt.Sprintf("ended by %s", e.Signal) }

// An evaluation is what runs now.
type evaluation struct {
	cancel func(error)
	over   chan struct{}
}

// heed does what signals say, for as long as the REPL runs: Ctrl-C ends what runs, and the others the REPL. It is the only one to do
// so when what runs does not come back: then it restores the terminal and ends the process.
func (c *console) heed(told <-chan os.Signal, over <-chan struct{}) {
	var stuck evaluation       // was interrupted, and runs
	var bound <-chan time.Time // of stuck's end
	var again, warned bool     // Ctrl-C came meanwhile; the person has been told
	var late <-chan time.Time  // the end that was asked for does not come
	for {
		select {
		case s := <-told:
			switch e := c.evaluating.Load(); {
			case c.ended.Load() != nil:
				c.exit(s)
			case time.Now().UnixNano() < c.lent.Load() && (s == os.Interrupt || s == syscall.SIGQUIT): // a key of the program that has the terminal
			case s != os.Interrupt, e == nil && (!c.tty || c.cooked.Load() == nil): // a script, and the way in and out, are ended by Ctrl-C, too
				c.ended.Store(&Ended{s})
				c.cancel(&Ended{s})
				late = time.After(leaveBound)
				if e == nil && !c.tty && c.reading.Load() { // of standard input, which nothing ends
					c.exit(s)
				}
			case e == nil: // a key at the prompt arrives as such: this one came behind a line, which may have begun by now
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
		case <-stuck.over:
			stuck, bound = evaluation{}, nil
		case <-bound:
			if again {
				c.exit(os.Interrupt)
			}
			warned = true
			fmt.Fprintln(c.Err, "ptywright: what runs does not look up: Ctrl-C again leaves the REPL")
		case <-late:
			c.exit(c.ended.Load().Signal)
		case <-over:
			return
		}
	}
}

// exit ends the process, with the terminal as it was. A server that was started stays.
func (c *console) exit(s os.Signal) {
	c.restore()
	os.Exit(ending.Code(s))
}

// restore gives the terminal the mode that it had before.
func (c *console) restore() {
	if state := c.cooked.Swap(nil); state != nil {
		_ = term.Restore(int(c.In.Fd()), state)
	}
}
