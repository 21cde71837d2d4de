// Package pty (no stability promise, except for [Size], [Signal] and [Exit], which package engine
// uses) runs one program on its own pseudo-terminal, and ends it together with everything it has
// started.
//
// [Start] opens the terminal and starts the program; [PTY.Next] and [PTY.Write] move bytes;
// [PTY.Wait] reports how the program ended; [PTY.Kill] and [KillAll] end the whole tree;
// [PTY.Close] releases the terminal. A server calls three more once: [DefaultSignals] before its
// first child, [AdoptOrphans] so that descendants that have left their session can still be found,
// and [StartWatcher] so that children do not outlive a server that is killed outright.
//
// The end of the program and the end of its output are two events: Wait returns when the program is
// reaped, Next returns io.EOF when the last process has closed the terminal. Either may come first,
// and the second may come much later, or never while a background job holds the terminal.
//
// The package never interprets what it carries, never changes the terminal's modes, and never
// signals a process unless it can show that it belongs to the program.
//
// On Unix the master is non-blocking, so that deadlines fire and Close wakes a reader, and is only
// accessed through [os.File] and its SyscallConn. On Linux a parked session costs two descriptors
// (master and pidfd), two goroutines and no thread; in a flood one more goroutine reads ahead.
// Differences on macOS and Windows are documented where they occur.
package pty

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Size is the size of a terminal. Rows and Cols count character cells, PixelWidth and PixelHeight
// the whole text area in pixels; zero pixels mean "unknown". Windows has no place for pixels and
// ignores them.
type Size struct{ Rows, Cols, PixelWidth, PixelHeight uint16 }

// Command says what [Start] runs.
type Command struct {
	// Path is the program: a path when it contains a separator (a relative one is resolved against
	// Dir), else a name that is looked up in the PATH of Env. It is also argv[0].
	Path string
	// Args are the arguments without the program's name.
	Args []string
	// Dir is the working directory and must exist; "" is the directory of this process.
	Dir string
	// Env is the whole environment, as "K=V"; only Mark is added to it. Of two entries with the
	// same key the last wins.
	Env []string
	// Size is the terminal's size before the program starts; zero Rows and Cols mean
	// 24 rows of 80 columns.
	Size Size
	// Mark, "K=V", is added to the environment. Descendants inherit it, so that Kill recognizes
	// those that have left the process tree, the session and the terminal. It must be unique to
	// this Command; "" means no mark.
	Mark string
	// MaxMemory is how many bytes of memory the program and everything it starts may use together,
	// not counting what is swapped out; 0: any amount. When they need more, the kernel ends them
	// all with SIGKILL, or [PTY.WhenOverMemory] notifies the caller, who then has to. It needs
	// Linux with cgroup v2 and permission to create a group; elsewhere Start's error is a
	// [*MemoryLimitError].
	MaxMemory int64
	// NullInput gives the program the null device for standard input, and a terminal that is not
	// its controlling one: programs that ask a person, on standard input or /dev/tty (sudo, ssh,
	// git), learn at once that there is none. Output still goes to a terminal. No process gets
	// SIGINT, SIGHUP or SIGWINCH from that terminal; Signal and Kill work as usual. It has no
	// effect on Windows.
	NullInput bool
}

// Exit is how a program ended.
type Exit struct {
	// Code is the exit status, 0-255 (0-4294967295 on Windows); -1 when a signal ended
	// the program, or when its status was lost because something else in this process
	// reaped it.
	Code int
	// Signal names the signal that ended the program ("SIGKILL"; real-time signals as
	// "SIGRTMIN+3"), "" when it exited by itself. Always "" on Windows.
	Signal string
}

// String returns the signal, or "exit" and the code.
func (e Exit) String() string {
	if e.Signal != "" {
		return e.Signal
	}
	return fmt.Sprintf("exit %d", e.Code)
}

// Process is one process of a program's tree, as of when it was read. Path, Name and Dir may
// contain any byte but NUL: users name files and programs as they like.
type Process struct {
	PID int
	// Path is the executable's absolute path; "" when the system does not reveal it, as for a
	// program that runs with another user's rights (sudo, passwd).
	Path string
	// Name is the process's name in the system's process table: on Linux and macOS the first 15
	// bytes of the executed file's name, for a script the script's, unless the program has changed
	// it; on Windows the executable's file name.
	Name string
	// Dir is its working directory, "" when that is hidden or gone; always "" on macOS and Windows.
	Dir    string
	Leader bool // whether it is the program that [Start] started
}

// LineMode is what the terminal does with input before the program reads it: the termios flags and
// characters that decide whether typed text is held until the end of a line, echoed, and turned
// into signals. A character that is switched off is 0.
type LineMode struct {
	Canonical bool // ICANON: input is delivered line by line, and a line over 4,095 bytes is cut
	Echo      bool // ECHO: input is echoed; off at a password prompt
	Signals   bool // ISIG: Interrupt, Quit and Suspend send signals
	CRToNL    bool // ICRNL: a carriage return arrives as a line feed, so it ends a line

	EOF, EOL, EOL2           byte // VEOF, VEOL, VEOL2: each ends a line, as line feed does
	Interrupt, Quit, Suspend byte // VINTR, VQUIT, VSUSP
	Erase, WordErase, Kill   byte // VERASE, VWERASE, VKILL: delete a character, a word, the line
}

// Secret reports whether a secret is being read, as by sudo, ssh, getpass and read -s: a line
// without echo.
func (m LineMode) Secret() bool { return m.Canonical && !m.Echo }

// Signal is a signal by a name that is the same on every system.
type Signal string

// The signals that [PTY.Signal] can send. Windows has only SignalTerm and SignalKill,
// which both end the tree, and SignalInt, which types Ctrl+C.
const (
	SignalTerm  Signal = "term"  // SIGTERM
	SignalHup   Signal = "hup"   // SIGHUP
	SignalQuit  Signal = "quit"  // SIGQUIT
	SignalInt   Signal = "int"   // SIGINT
	SignalKill  Signal = "kill"  // SIGKILL
	SignalUser1 Signal = "user1" // SIGUSR1
	SignalUser2 Signal = "user2" // SIGUSR2
)

// signals is ParseSignal's closed list, in the order of its error message.
var signals = []Signal{SignalTerm, SignalHup, SignalQuit, SignalInt, SignalKill, SignalUser1,
	SignalUser2}

// Signals returns every [Signal].
func Signals() []Signal { return slices.Clone(signals) }

// ParseSignal returns the signal with the given name: term, hup, quit, int, kill, user1
// or user2. The error for any other name lists them.
func ParseSignal(name string) (Signal, error) {
	if s := Signal(name); slices.Contains(signals, s) {
		return s, nil
	}
	return "", fmt.Errorf("unknown signal %q: use term, hup, quit, int, kill, user1 or user2",
		clip(name, 32))
}

var (
	// ErrExited is returned by operations that need the program after it has ended.
	ErrExited = errors.New("the program has ended")

	// ErrHungUp is returned by Write when no process has the terminal open any more.
	ErrHungUp = errors.New("no process has the terminal open any more")
)

// UnreadError says that the system does not tell how much of the typed input is unread: it is not
// Linux, or a kernel before 4.13.
type UnreadError struct{ Err error } // Err is the system's error; nil: the system has no such call

// Error says why.
func (e *UnreadError) Error() string {
	if e.Err == nil {
		return "whether a program has read its input cannot be known on this system"
	}
	return "whether a program has read its input cannot be known: " + e.Err.Error()
}

// Unwrap returns the system's error.
func (e *UnreadError) Unwrap() error { return e.Err }

// StartError is the error of [Start]. It wraps the cause, so errors.Is finds
// [fs.ErrNotExist], [fs.ErrPermission] and system errors.
type StartError struct {
	// Op is the part that failed: "command" (the Command itself is not valid), "lookup"
	// (the program), "dir" (the working directory), "open" (the terminal), "start".
	Op string
	// Path is the program or directory that Op was about; "" for the terminal.
	Path string
	Err  error
}

// A MemoryLimitError says why [Command.MaxMemory] cannot be enforced here. Nothing was started.
type MemoryLimitError struct {
	Why string // what is missing
	Err error  // the system's error; may be nil
}

// Error says why, and what to do.
func (e *MemoryLimitError) Error() string {
	cause := ""
	if e.Err != nil {
		cause = ": " + e.Err.Error()
	}
	return fmt.Sprintf("the memory of a session cannot be limited here: %s%s; start it without the limit, or the server where it may "+
		"make groups of cgroup v2 with the memory controller, such as systemd-run --user --scope -p Delegate=yes", e.Why, cause)
}

// Unwrap returns the system's error.
func (e *MemoryLimitError) Unwrap() error { return e.Err }

// maxShown is how much of a program's path is shown inside another message, in bytes: enough to
// recognize it.
const maxShown = 32

// Error says what was being done, why it failed and what to do.
func (e *StartError) Error() string {
	path := QuotePath(e.Path)
	switch e.Op {
	case "command":
		return fmt.Sprintf("start %s: %v", path, e.Err)
	case "lookup":
		switch {
		case errors.Is(e.Err, fs.ErrPermission):
			return fmt.Sprintf("start %s: %v: give a program that may be executed", path, e.Err)
		case strings.ContainsAny(e.Path, separators):
			return fmt.Sprintf("start %s: %v: give the path of a program", path, e.Err)
		}
		return fmt.Sprintf("start %s: %v: install it, give its full path, or set PATH in the program's environment", path, e.Err)
	case "dir":
		return fmt.Sprintf("start in directory %s: %v: give an existing directory", path, e.Err)
	case "open":
		return fmt.Sprintf("open a pseudo-terminal: %v: close sessions, or raise the limits on open files and terminals", e.Err)
	}
	return fmt.Sprintf("start %s: %v", path, e.Err)
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// A searchError says where a program was looked for. What it wraps says no more than that.
type searchError struct {
	text string
	err  error
}

func (e *searchError) Error() string { return e.text }
func (e *searchError) Unwrap() error { return e.err }

// SurvivorsError is the error of [PTY.Kill] and [KillAll] when processes are still alive at the
// deadline: they are in an uninterruptible system call, or belong to a user that this process may
// not signal.
type SurvivorsError struct {
	PIDs []int // in ascending order
}

// Error names at most eight of the processes.
func (e *SurvivorsError) Error() string {
	shown := e.PIDs[:min(len(e.PIDs), 8)]
	more := ""
	if n := len(e.PIDs) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("processes %v%s did not end: they hang in the kernel or belong to another user; see their state and owner with ps", shown, more)
}

// maxPath is how much of a path an error shows, in characters: two folders and a name of common
// length. A secret passed in its place is shown from its beginning, which is how redaction
// recognizes it.
const maxPath = 64

// QuotePath quotes a path that came from a caller for a message: at most 64 characters, with
// everything unprintable escaped. Of a longer path the last names are shown, after "...": people
// look for a file's name. Of a name that is too long by itself the beginning is shown, before
// another "...".
func QuotePath(path string) string {
	if utf8.RuneCountInString(path) <= maxPath {
		return strconv.Quote(path)
	}
	from := len(path)
	for i, n := len(path), 0; i > 0 && n < maxPath; n++ {
		_, size := utf8.DecodeLastRuneInString(path[:i])
		if i -= size; strings.IndexByte(separators, path[i]) >= 0 && i < len(path)-1 {
			from = i
		}
	}
	if from < len(path) {
		return strconv.Quote("..." + path[from:])
	}
	mark := ""
	if i := strings.LastIndexAny(strings.TrimRight(path, separators), separators); i >= 0 {
		mark, path = "...", path[i:]
	}
	n := 0
	for i := range path {
		if n++; n > maxPath {
			path = path[:i]
			break
		}
	}
	return strconv.Quote(mark + path + "...")
}

// maxSearched is how much of a PATH an error shows, in bytes: all of an ordinary one, and of a
// longer one the folders searched first, such as those of a virtual environment.
const maxSearched = 400

// searched quotes a list of folders for a message: of a long list the first ones, and how many more
// there are.
func searched(list string) string {
	folders := strings.Split(list, string(os.PathListSeparator))
	n, size := 0, 0
	for n < len(folders) && (n == 0 || size+len(folders[n]) < maxSearched) {
		size += len(folders[n]) + 1
		n++
	}
	shown := strconv.Quote(clip(strings.Join(folders[:n], string(os.PathListSeparator)),
		maxSearched))
	if more := len(folders) - n; more > 0 {
		shown += fmt.Sprintf(" and %d more folders", more)
	}
	return shown
}

// clip bounds text that came from a caller before it becomes part of a message.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}
