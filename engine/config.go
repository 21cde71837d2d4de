package engine

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
)

// Config says how a session is started.
type Config struct {
	Program          string
	Args             []string
	Dir              string            // working directory; "": the server's
	Env              map[string]string // set in the child's environment
	ClearEnv         bool              // begin with nothing instead of the server's environment
	Size             pty.Size          // zero rows or columns: 24 and 80
	TranscriptChars  int               // retained characters; 0: DefaultTranscriptChars; negative: none
	Scrollback       int               // retained lines; 0: vt.DefaultScrollback; negative: none
	Taps             []Tap
	ShellIntegration bool    // Program, an interactive bash, zsh or fish, is made to mark its commands: see [Session.Blocks]
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

// foreign are variables of the server's environment that describe the terminal the server was started in, not the one
// the child gets. COLUMNS and LINES override a program's own look at its size; the others make programs talk to a
// terminal or multiplexer that is not there.
var foreign = []string{
	"COLUMNS", "LINES", "TERM", "TERMCAP", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_SESSION_ID", "TMUX", "TMUX_PANE", "STY",
	"WINDOWID", "VTE_VERSION", "KITTY_WINDOW_ID", "KITTY_PID", "KITTY_LISTEN_ON", "GHOSTTY_RESOURCES_DIR", "WEZTERM_PANE",
	"ITERM_SESSION_ID", "WT_SESSION", "KONSOLE_VERSION", "ALACRITTY_WINDOW_ID",
}

// environ returns the child's whole environment: the server's without ptywright's own variables and what describes
// another terminal, TERM, and what the caller sets.
func (c *Config) environ() ([]string, error) {
	set := map[string]string{"TERM": "xterm-256color"}
	if !c.ClearEnv {
		for _, kv := range os.Environ() {
			name, value, ok := strings.Cut(kv, "=")
			if ok && name != "" && !strings.HasPrefix(name, "PTYWRIGHT_") && !slices.Contains(foreign, name) {
				set[name] = value
			}
		}
		set["COLORTERM"] = "truecolor" // the terminal shows 24-bit colours, whatever the server's own does
		if c.Dir != "" {
			set["PWD"] = c.Dir
		}
	}
	for name, value := range c.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return nil, &EnvError{Name: name}
		}
		set[name] = value
	}
	env := make([]string, 0, len(set))
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env, nil
}
