// Package cmdline (no stability promise) runs one command line in the shell of a session, as a
// person types it, and reports how it ended: what it printed and its exit code. See [Run].
//
// There are two ways. A shell that marks its commands (OSC 133, OSC 633; see
// [engine.Config].ShellIntegration) gets the line as it is, and its marks say the rest. Any other
// shell, including one at the other end of ssh, gets a line that runs the command and then prints a
// marker with the exit code. The text of that line does not contain the marker, whose parts are
// joined only when it runs: so the terminal's echo, the history, a trace (set -x, set -v) or a list
// of processes cannot be mistaken for it. Each line has a new marker.
//
// Nothing here interrupts a command, except an incomplete line that is to be abandoned, see
// [Options].
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
	Timeout    Reason = "timeout"    // it still runs, or the shell wants more of its line
	NotRun     Reason = "not_run"    // the shell did not run it: only a comment, or a syntax error
	Incomplete Reason = "incomplete" // the shell wanted more of it, and it was abandoned
	Ended      Reason = "ended"      // the shell itself has ended
	Cancelled  Reason = "cancelled"  // the caller's context ended; the command still runs
)

// A Way is how the end of a command is detected.
type Way string

const (
	Marks    Way = "marks"
	Sentinel Way = "sentinel"
)

// Options say how a command line is run. The zero value checks once.
type Options struct {
	// Timeout bounds the wait for the end, from Enter on; negative: no limit. The wait for a prompt
	// before it has its own bound of 10 seconds.
	Timeout time.Duration
	// Way is how to detect the end; "" is by marks if the session's own shell writes them: any
	// command could write another shell's marks, which would end it early.
	Way Way
	// Shell is the shell whose syntax is typed; "" is found from the program that has the terminal.
	// It matters only for a sentinel.
	Shell Shell
	// Marker is a sentinel's, from [NewMarker]; "": a new one.
	Marker string
	// GiveUp interrupts a line that a shell with marks does not run because it wants more of it,
	// after 2 seconds: the reason is then [Incomplete]. Without it the line stays where it is, and
	// the reason is [Timeout].
	GiveUp bool
	// Lease is the caller's right to type into the session; nil: it is not leased.
	Lease  *engine.Lease
	By     engine.By // who runs it, for the session's events
	Parked func()    // called right before Run first blocks, and perhaps again; may be nil
}

// A Result is what became of a command line. Its texts are the program's, not redacted.
type Result struct {
	Reason Reason
	By     Way
	// ExitCode is the command's, with [Ended] the shell's; nil when it is not known: the command
	// still runs, was interrupted, or was ended by a signal.
	ExitCode *int
	// Output is what the command has printed so far, exactly: see [engine.Block]. Of more than
	// [engine.MaxBlockOutput] bytes of Raw it is the end, which begins with a line if there is one.
	Output string
	Raw    string // Output with its escape sequences
	Cut    bool   // Output is not all: its beginning is no longer kept
	// Above is, if Cut, what came right before Raw, up to 64 KiB: redacting Output needs it, to
	// find a secret that began there, such as a private key. It may itself begin within a line.
	Above  string
	Marker string // of a sentinel
	// Block is the shell's block of the command; nil when there is none: with a sentinel, and for a
	// line that was not run.
	Block    *engine.Block
	Other    string        // with [NotRun]: the command line that the shell ran instead, if known
	Since    uint64        // the session's sequence right before the line was typed
	Began    time.Time     // when Enter was typed
	Duration time.Duration // from then, or from the shell's mark that it runs, to the end
	View     *engine.View  // the last view
}

// Printed is Output as an [engine.Block], even where the shell reported none.
func (r *Result) Printed() *engine.Block {
	return &engine.Block{Output: r.Output, Raw: r.Raw, Above: r.Above, Whole: !r.Cut}
}

// A BusyError says that nothing was typed, because the session runs something. None of these errors
// names the session in its text: the caller may have another name for it.
type BusyError struct {
	Session engine.ID
	Program string // what has the terminal; "" for the shell itself, or unknown
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
	return "nothing was typed, because the session is running " + what +
		": wait for its end, or interrupt it"
}

// An OccupiedError says that nothing was typed, because the command line is not empty.
type OccupiedError struct {
	Session engine.ID
	Line    string       // the row of the cursor, unchanged
	View    *engine.View // the view that shows it
}

func (e *OccupiedError) Error() string {
	return "nothing was typed, because something stands on the command line already: run it with Enter, or clear it with Ctrl+C"
}

// A PromptError says that nothing was typed, because the shell did not come to a prompt.
type PromptError struct {
	Session engine.ID
	View    *engine.View // the last view
	Err     error        // how the wait ended
}

func (e *PromptError) Error() string {
	return fmt.Sprintf("nothing was typed, because the shell does not come to a prompt: %v", e.Err)
}

// Unwrap returns Err.
func (e *PromptError) Unwrap() error { return e.Err }

// A NoShellError says that nothing was typed, because the program is not a shell for which the end
// of a command can be detected.
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
	// promptBound is how long a shell may take from its start to its first prompt, and from a
	// command to the next prompt: the user's start-up files and prompt decide that.
	promptBound = 10 * time.Second
	// readyBound is how long a program that leads to a shell elsewhere may take to read keys, and a
	// shell whose line was abandoned to its next prompt.
	readyBound = 2 * time.Second
	// pasteBound is how long a shell at its prompt may take to enable bracketed paste.
	pasteBound = time.Second
	// settled is how long a shell must be quiet at a prompt before it is taken to be idle. A shell
	// that redraws its prompt, or takes what was typed ahead, begins within milliseconds.
	settled = 300 * time.Millisecond
)

// Run types a command line into the shell of a session and waits for its end. The command may have
// several lines. The error is nil once it was typed: the result reports a timeout, a cancelled ctx
// and a shell that ended. One command line runs in a session at a time.
//
// It decides by what is known at that time. A shell with marks must be at its prompt, with an empty
// command line. Otherwise the program that has the terminal must be a shell, or one that leads to a
// shell elsewhere (ssh, docker, sudo, tmux); where the system does not report that program, the
// session's own.
//
// Errors, with nothing typed: *[BusyError], *[OccupiedError], *[PromptError], *[NoShellError],
// [ErrNUL], [engine.ErrEnded], [engine.ErrClosed], the cause of ctx's end, and those of
// [engine.Session.Do], including *[engine.LineTooLongError].
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

// choose decides how to detect the end of a line, once a shell that should have marks has come to
// its first prompt. With marks it returns the view of the prompt where the line is to be typed.
func choose(ctx context.Context, s *engine.Session, line string,
	o *Options) (Way, *engine.View, error) {
	v := s.View()
	// There may be marks, but any program may have written them.
	if o.Way == "" && !s.Config().ShellIntegration {
		o.Way = Sentinel
	}
	if left := promptBound - v.At.Sub(s.Started()); unmarked(v) && left > 0 && o.Way != Sentinel &&
		!s.Replaced() {
		out, err := s.Wait(ctx, marked(s), engine.Within(left), engine.Parked(o.Parked))
		if ctx.Err() != nil {
			return "", nil, err
		}
		v = out.View
	}
	switch {
	case v.Exit != nil || v.Ended:
		return "", nil, engine.ErrEnded
	// A shell's marks on the alternate screen make no blocks.
	case o.Way == Sentinel, unmarked(v), s.Replaced(), v.Screen.Modes.AltScreen:
		return Sentinel, nil, nil
	case v.Reports.Shell.Phase == engine.ShellRunning:
		// A shell within the shell.
		if who, err := s.Foreground(); err == nil &&
			(!who.Leader && leadsToShell(who.Name) || carriers()[who.Name]) {
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

// marked matches a shell that has come to a prompt, has ended, or was replaced by another program,
// whose marks are not known.
func marked(s *engine.Session) engine.Func {
	return func(v *engine.View) bool { return v.Exit != nil || s.Replaced() || atPrompt(v) }
}
