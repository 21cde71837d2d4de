package engine

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// Config says how a session is started.
type Config struct {
	// Name is an alternative to the id, unique among running sessions; "": none. See [NameRule].
	Name string
	// Tags say what the session is for, so that sessions can be selected by them. See [TagRule].
	Tags    []string
	Program string
	Args    []string
	Dir     string            // working directory; "": the server's
	Env     map[string]string // set in the child's environment
	// BaseEnv is used instead of the server's environment, without what [Inherited] leaves out;
	// nil: the server's.
	BaseEnv         map[string]string
	ClearEnv        bool     // start from an empty environment instead of either
	Size            pty.Size // zero rows or columns: 24 and 80
	TranscriptChars int      // retained characters; 0: DefaultTranscriptChars; negative: none
	// HistoryBytes bounds what [Session.At] needs besides the transcript, in bytes; 0: that of
	// [Options], or else as many as TranscriptChars, at least 128 KiB; negative: nothing of the past
	// is kept.
	HistoryBytes int
	Scrollback   int // retained lines; 0: vt.DefaultScrollback; negative: none
	// Taps get the output as it comes, as the Cast of package record does, and are closed with the
	// session.
	Taps []Tap
	// ShellIntegration makes Program, an interactive bash, zsh or fish, mark its commands: see
	// [Session.Blocks].
	ShellIntegration bool
	// MarksOptional: with ShellIntegration, a Program that cannot be made to mark is started as it
	// is, without a [ShellError].
	MarksOptional bool
	// Attended: a person's own terminal shows the output too and answers the program's queries, so
	// this one stays silent.
	Attended bool
	EchoOff  EchoOff // how to treat lines typed while echo is off; "": EchoAsk
	// NullInput: Program cannot ask a person, and nothing reads the input; see [pty.Command].
	NullInput bool
	Kept      bool // it is not forgotten when it has ended: its starter closes it
	// Limits for the program and everything it starts. A session over any of them is ended as by
	// [Session.Kill], and its [Exit] names the limit. 0: none. MaxIdle is the longest time without
	// output or typing, MaxMemory is in bytes.
	MaxTime, MaxIdle time.Duration
	MaxMemory        int64
	Owned            bool     // it belongs to a client, which ends it with [LimitOwner]
	ProgramStatus    bool     // answer OSC 7501 ; ? with support: see ProgramStatus
	Theme            vt.Theme // the first answer to a program that asks for colours: see [Theme]
}

// An EnvError says which variable cannot be set.
type EnvError struct {
	Name string
}

func (e *EnvError) Error() string {
	return fmt.Sprintf("environment variable %s: a name is not empty and holds neither = nor NUL, a value no NUL", Quote(e.Name))
}

// markName is the variable that identifies a session's processes when they have left its process
// group and its terminal.
const markName = "PTYWRIGHT_SESSION"

// foreign and foreignPrefixes are variables that describe the terminal in which an environment was
// made, not the child's. COLUMNS and LINES override a program's own reading of its size; the others
// make programs talk to a terminal or multiplexer that is not there. PTYWRIGHT_ variables are
// ptywright's own settings, including its tokens.
var (
	foreign         = []string{"COLORTERM", "COLUMNS", "LINES", "STY", "SSH_TTY", "WINDOWID"}
	foreignPrefixes = []string{
		"PTYWRIGHT_", "TERM", "TMUX", "KITTY_", "VTE_", "WT_", "ITERM_", "GHOSTTY_", "WEZTERM_",
		"KONSOLE_", "ALACRITTY_",
	}
)

// inherits reports whether a program on its own terminal inherits a variable from its starter: all
// except those that describe another terminal, and ptywright's own.
func inherits(name string) bool {
	return name != "" && !slices.Contains(foreign, name) &&
		!slices.ContainsFunc(foreignPrefixes,
			func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// Inherited returns the part of an environment ("NAME=value", as in [os.Environ]) that a program on
// its own terminal inherits.
func Inherited(environ []string) map[string]string {
	all := make(map[string]string, len(environ))
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && inherits(name) {
			all[name] = value
		}
	}
	return all
}

// environ returns the child's whole environment: the inherited base, TERM, and what the caller
// sets.
func (c *Config) environ() ([]string, error) {
	set := map[string]string{}
	if !c.ClearEnv {
		base := c.BaseEnv
		if base == nil {
			base = Inherited(os.Environ())
		}
		for name, value := range base {
			if inherits(name) {
				set[name] = value
			}
		}
		set["COLORTERM"] = "truecolor" // the terminal shows 24-bit colours, whatever the base says
		if c.Dir != "" {
			set["PWD"] = c.Dir
		}
	}
	set["TERM"] = "xterm-256color"
	maps.Copy(set, c.Env)
	env := make([]string, 0, len(set))
	for name, value := range set {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return nil, &EnvError{Name: name}
		}
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env, nil
}
