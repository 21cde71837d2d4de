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
	Name             string // by which the session is found beside its id, unique among those that run; "": none. See [NameRule]
	Program          string
	Args             []string
	Dir              string            // working directory; "": the server's
	Env              map[string]string // set in the child's environment
	BaseEnv          map[string]string // begin with this instead of the server's environment, less what [Inherited] leaves out; nil: the server's
	ClearEnv         bool              // begin with nothing instead of either
	Size             pty.Size          // zero rows or columns: 24 and 80
	TranscriptChars  int               // retained characters; 0: DefaultTranscriptChars; negative: none
	Scrollback       int               // retained lines; 0: vt.DefaultScrollback; negative: none
	Taps             []Tap
	ShellIntegration bool    // Program, an interactive bash, zsh or fish, is made to mark its commands: see [Session.Blocks]
	MarksOptional    bool    // with ShellIntegration: a Program that cannot be made to is started as it is, and no [ShellError] returned
	Attended         bool    // a person's own terminal shows the output as well and answers what the program asks it: this one is silent
	EchoOff          EchoOff // what is typed while the terminal does not echo; "": EchoAsk
	NullInput        bool    // Program cannot ask a person: see [pty.Command]. Input is typed to nobody
	Kept             bool    // it is not forgotten when it has ended: whoever started it closes it
	// Limits, each for the program and all that it starts. One that goes over any is ended as by [Session.Kill], and its [Exit] says
	// which. 0: none. MaxIdle is the time in which the program writes nothing and nobody types, MaxMemory is in bytes.
	MaxTime, MaxIdle time.Duration
	MaxMemory        int64
	Owned            bool     // it belongs to a client, who ends it with [LimitOwner]; the engine does nothing about it
	ProgramStatus    bool     // asked by OSC 7501 ; ?, the terminal says that it takes reports: see ProgramStatus
	Theme            vt.Theme // what a program that asks for colours is told at first: see [Theme]
}

// An EnvError says which variable cannot be set.
type EnvError struct {
	Name string
}

func (e *EnvError) Error() string {
	return fmt.Sprintf("environment variable %s: a name is not empty and holds neither = nor NUL, a value no NUL", Quote(e.Name))
}

// markName is the variable by which the processes of a session are told from others when they have left its process
// group and its terminal.
const markName = "PTYWRIGHT_SESSION"

// foreign and foreignPrefixes are variables that describe the terminal in which an environment was made, not the one that the child
// gets. COLUMNS and LINES override a program's own look at its size; the others make programs talk to a terminal or multiplexer that
// is not there. PTYWRIGHT_ variables are ptywright's own settings, its tokens among them.
var (
	foreign         = []string{"COLORTERM", "COLUMNS", "LINES", "STY", "SSH_TTY", "WINDOWID"}
	foreignPrefixes = []string{
		"PTYWRIGHT_", "TERM", "TMUX", "KITTY_", "VTE_", "WT_", "ITERM_", "GHOSTTY_", "WEZTERM_", "KONSOLE_", "ALACRITTY_",
	}
)

// inherits reports whether a program on a terminal of its own inherits a variable from whoever starts it: all but what describes
// another terminal, and ptywright's own.
func inherits(name string) bool {
	return name != "" && !slices.Contains(foreign, name) &&
		!slices.ContainsFunc(foreignPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// Inherited returns what of an environment ("NAME=value", as [os.Environ] has it) a program on a terminal of its own inherits.
func Inherited(environ []string) map[string]string {
	all := make(map[string]string, len(environ))
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && inherits(name) {
			all[name] = value
		}
	}
	return all
}

// environ returns the child's whole environment: the base without what is not inherited, TERM, and what the caller sets.
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
		set["COLORTERM"] = "truecolor" // the terminal shows 24-bit colours, whatever the base says of another
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
