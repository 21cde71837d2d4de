// Package cmdline (no stability promise) runs one command line in the shell of a session, as a
// person types it, and tells how it ended: what it printed and with which exit code.
//
// There are two ways. A shell that marks its commands (OSC 133, OSC 633; see [engine.Config].ShellIntegration) is typed the line
// as it is, and its marks tell the rest. Any other shell, one at the other end of ssh too, is typed a line that runs the command
// and then prints a marker with the exit code. The text of that line does not hold the marker, its parts are put together when it
// is run: so neither the terminal's echo, nor the history, nor a trace (set -x, set -v), nor a list of processes can be taken for
// it, and it is another one each time.
//
// Nothing here interrupts a command, but for a line that is to be given up when it is not complete, see [Options].
package cmdline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
)

// A Reason is why [Run] returned.
type Reason string

const (
	Finished   Reason = "finished"   // the command has ended
	Timeout    Reason = "timeout"    // it goes on, or the shell wants more of its line
	NotRun     Reason = "not_run"    // the shell did not take it as a command: nothing but a comment, or a syntax error
	Incomplete Reason = "incomplete" // the shell wanted more of it, and it was given up
	Ended      Reason = "ended"      // the shell itself has ended
	Cancelled  Reason = "cancelled"  // the caller's context has; the command goes on
)

// A Way is how the end of a command is told.
type Way string

const (
	Marks    Way = "marks"
	Sentinel Way = "sentinel"
)

// Options say how a command line is run. The zero value looks once.
type Options struct {
	// Timeout bounds the wait for the end, from Enter on; negative: no limit. What comes before, until the shell is at a
	// prompt, has a bound of its own, of 10 seconds.
	Timeout time.Duration
	// Way is how to tell the end; "" is by marks where the shell has them of its session: another's could be written by any
	// command, and would end it early.
	Way Way
	// Shell is whose words are typed; "" is told by the program that has the terminal. It matters for a sentinel alone.
	Shell Shell
	// Marker is a sentinel's, of [NewMarker]; "": a new one.
	Marker string
	// GiveUp has a line that a shell with marks does not begin with, since it wants more of it, interrupted after 2 seconds:
	// the reason is then [Incomplete]. Without it the line stays where it is, and the reason is [Timeout].
	GiveUp bool
	// Lease is the right to type that the caller has of the session; nil: nobody has it.
	Lease  *engine.Lease
	Parked func() // called right before Run first blocks, and perhaps again; may be nil
}

// A Result is what became of a command line. All its texts are the program's, as they are: whoever shows them redacts them.
type Result struct {
	Reason Reason
	By     Way
	// ExitCode is the command's, with [Ended] the shell's; nil when it is not known: of a command that goes on or was
	// interrupted, and of what a signal ended.
	ExitCode *int
	// Output is what the command has printed so far, exactly: see [engine.Block]. Of more than
	// [engine.MaxBlockOutput] bytes of Raw it is the end, which begins with a line unless no line does.
	Output string
	Raw    string // Output with its escape sequences
	Cut    bool   // Output is not all: its beginning is no longer kept
	// Above is, of what was Cut, what came right before Raw, up to 64 KiB: whoever redacts Output has to
	// see it, since a secret at its beginning, as the rest of a private key, is known by that. It may
	// itself begin within a line.
	Above  string
	Marker string // of a sentinel
	// Block is the shell's word for the command; nil when there is none: by a sentinel, and of a line that was not run.
	Block    *engine.Block
	Other    string        // with [NotRun]: the command line that the shell ran in its place, as far as it told
	Since    uint64        // the session's sequence right before the line was typed
	Began    time.Time     // when Enter was typed
	Duration time.Duration // from there, by marks from the shell's word that it runs, to the end
	View     *engine.View  // the last look
}

// Printed is Output as [engine.Session.Blocks] has it, also where the shell has told of no block.
func (r *Result) Printed() *engine.Block {
	return &engine.Block{Output: r.Output, Raw: r.Raw, Above: r.Above, Whole: !r.Cut}
}

// A BusyError says that nothing was typed, because the session runs something. None of these errors names the session in its text:
// who tells it on may have another name for it.
type BusyError struct {
	Session engine.ID
	Program string // what has the terminal; "" when that is the shell itself, or not known
	Secret  bool   // it asks for a secret
}

func (e *BusyError) Error() string {
	what := "a command"
	if e.Program != "" {
		what = engine.Quote(e.Program)
	}
	if e.Secret {
		what += ", which asks for a secret"
	}
	return "nothing was typed, because the session is running " + what + ": wait for its end, or interrupt it"
}

// An OccupiedError says that nothing was typed, because something stands on the command line already.
type OccupiedError struct {
	Session engine.ID
	Line    string       // the row of the cursor, as it is
	View    *engine.View // the look at which it was seen
}

func (e *OccupiedError) Error() string {
	return "nothing was typed, because something stands on the command line already: run it with Enter, or clear it with Ctrl+C"
}

// A PromptError says that nothing was typed, because a shell does not come to a prompt.
type PromptError struct {
	Session engine.ID
	View    *engine.View // what was seen last
	Err     error        // how the wait ended
}

func (e *PromptError) Error() string {
	return fmt.Sprintf("nothing was typed, because the shell does not come to a prompt: %v", e.Err)
}

// Unwrap returns Err.
func (e *PromptError) Unwrap() error { return e.Err }

// A NoShellError says that nothing was typed, because the program is no shell whose commands' ends can be told.
type NoShellError struct {
	Session engine.ID
	Program string
}

func (e *NoShellError) Error() string {
	return fmt.Sprintf("nothing was typed, because the session runs %s, which is not a shell known to tell when a command has ended: type into it instead, and wait for what it prints", engine.Quote(e.Program))
}

// ErrNUL: a command line cannot hold a NUL.
var ErrNUL = errors.New("a command line cannot hold a NUL: no shell takes one")

const (
	// promptBound is how long a shell may take from its start to its first prompt, and from a command to the next: its start-up
	// files, and what its prompt tells of, are the user's.
	promptBound = 10 * time.Second
	// readyBound is how long what leads to a shell elsewhere may take to read keys, and a shell whose line was given up to its
	// next prompt.
	readyBound = 2 * time.Second
	// pasteBound is how long a shell at its prompt may take to say that it takes a paste.
	pasteBound = time.Second
	// settled is how long a shell stands still at a prompt that is said not to be about to run anything. A shell that draws
	// its prompt anew, or takes what was typed ahead, begins within milliseconds.
	settled = 300 * time.Millisecond
)

// Run types a command line into the shell of a session and waits for its end. The line may have several lines. The error is nil
// once it was typed: a timeout, a cancelled ctx and a shell that ends are told in the result. One line is run in a session at a
// time.
//
// It decides by what is known at that time. A shell with marks is to be at its prompt, with nothing on the command line. With any
// other the program that has the terminal is to be a shell, or one that leads to a shell elsewhere (ssh, docker, sudo, tmux); where
// the system does not tell that, the session's own program.
//
// Errors, with nothing typed: *[BusyError], *[OccupiedError], *[PromptError], *[NoShellError], [ErrNUL], [engine.ErrEnded],
// [engine.ErrClosed], the cause of ctx's end, and those of [engine.Session.Do]: *[engine.LineTooLongError] among them.
func Run(ctx context.Context, s *engine.Session, line string, o Options) (*Result, error) {
	line = strings.TrimRight(unixLines.Replace(line), "\n")
	if strings.Contains(line, "\x00") {
		return nil, ErrNUL
	}
	t, err := takeTurn(s)
	if err != nil {
		return nil, err
	}
	defer t.release()
	for {
		way, v, err := choose(ctx, s, line, &o)
		if err != nil {
			return nil, err
		}
		var r *Result
		if way == Marks {
			r, err = byMarks(ctx, s, line, &o, v)
		} else {
			r, err = bySentinel(ctx, s, line, &o, t)
		}
		if !errors.Is(err, errMoved) {
			return r, err
		}
	}
}

// unixLines makes every line end a line feed.
var unixLines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// choose decides how the end of a line is to be told, once a shell that is to have marks has come to its first prompt. By marks it
// returns the look at the prompt at which it is to be typed.
func choose(ctx context.Context, s *engine.Session, line string, o *Options) (Way, *engine.View, error) {
	v := s.View()
	if o.Way == "" && !s.Config().ShellIntegration { // marks may be there, but then they may be anybody's
		o.Way = Sentinel
	}
	if left := promptBound - v.At.Sub(s.Started()); unmarked(v) && left > 0 && o.Way != Sentinel && !s.Replaced() {
		out, err := s.Wait(ctx, marked(s), engine.Within(left), engine.Parked(o.Parked))
		if ctx.Err() != nil {
			return "", nil, err
		}
		v = out.View
	}
	switch {
	case v.Exit != nil || v.Ended:
		return "", nil, engine.ErrEnded
	case o.Way == Sentinel, unmarked(v), s.Replaced(), v.Screen.Modes.AltScreen: // a shell's marks on the alternate screen are no blocks
		return Sentinel, nil, nil
	case v.Reports.Shell.Phase == engine.ShellRunning:
		if who, err := s.Foreground(); err == nil && (!who.Leader && leadsToShell(who.Name) || carriers[who.Name]) { // a shell within the shell
			return Sentinel, nil, nil
		}
		return "", nil, &BusyError{Session: s.ID()}
	}
	if v, err := prompt(ctx, s, promptBound, o.Parked); err != nil {
		return "", nil, err
	} else if v == nil {
		return Sentinel, nil, nil
	} else if asIs, err := typeable(ctx, s, line, o); err == nil && asIs {
		return Marks, v, nil
	} else {
		return Sentinel, nil, err
	}
}

// unmarked reports whether a session's shell has not marked a prompt yet.
func unmarked(v *engine.View) bool { return v.Reports.Shell == nil || v.Reports.Shell.Phase == "" }

// marked matches a shell that has come to a prompt, has ended, or has made way for another program, whose marks are not known.
func marked(s *engine.Session) engine.Func {
	return func(v *engine.View) bool { return v.Exit != nil || s.Replaced() || atPrompt(v) }
}
