package engine

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/lazy"
)

// A ShellError says why a program cannot be made to mark its commands; see Config.ShellIntegration.
type ShellError struct {
	Program string // its name
	Why     string
}

// Error quotes at most 32 characters of the name.
func (e *ShellError) Error() string {
	return fmt.Sprintf("shell integration of %s: %s; supported are interactive bash (4.4 or newer), zsh and fish", pty.QuotePath(e.Program), e.Why)
}

var (
	//go:embed shell/bash
	bashScript string
	//go:embed shell/zsh
	zshScript string
	//go:embed shell/fish
	fishScript string
)

// shellName is a shell's file name, perhaps with a version.
var shellName = lazy.Regexp(`^(bash|zsh|fish)[-.0-9]*(\.exe)?$`)

// Reasons of a ShellError.
var (
	errNoShell     = errors.New("it is none of the shells that can be asked for marks")
	errScript      = errors.New("it is given a command or a script, and shows no prompt")
	errNoStartFile = errors.New("with -p it reads no start-up file")
)

// A shellStart is how a shell is started so that it writes marks. No file of the user is changed.
type shellStart struct {
	args []string
	env  []string // sorted, as the child gets it
	dir  string   // the file that the shell reads, in our own folder with mode 0700; "": none
	// word is in the marks of a command's beginning and end; "": any output may hold such marks.
	word string
}

// ownMarks are a script's marks of a command's beginning and end. A beginning says which shell it
// is, see [printed].
var ownMarks = lazy.Regexp(`133;[CD];[^\\]*\\a`)

// marking returns a script whose marks hold a word that nobody else knows: a command's output, such
// as a file, may hold marks too, and would otherwise end the command with an exit code of its own.
func (s *shellStart) marking(script string) string {
	s.word = rand.Text()
	return ownMarks().ReplaceAllStringFunc(script, func(mark string) string {
		return strings.TrimSuffix(mark, `\a`) + ";t=" + s.word + `\a`
	})
}

// forged reports whether a mark is not the shell's own, which has the word. Marks that begin a
// prompt have none: while a command runs there is no prompt.
func (s *shellStart) forged(e *vt.Event, told *Shell) bool {
	if s == nil || s.word == "" {
		return false
	}
	switch e.Mark {
	case 'C', 'D':
		return e.Text != "t="+s.word && !strings.HasSuffix(e.Text, ";t="+s.word)
	case 'A', 'B', 'E':
		return told != nil && told.Phase == ShellRunning
	}
	return false
}

// nextMark returns where the first of the shell's own marks ends in output; its length when there
// is none.
func (s *shellStart) nextMark(p []byte) int {
	if s.word != "" {
		if i := bytes.Index(p, []byte(";t="+s.word+"\a")); i >= 0 {
			return i + len(";t=\a") + len(s.word)
		}
	}
	return len(p)
}

// integrate returns how to start a shell with marks. The caller removes the folder when the shell
// has ended.
// Errors: *[ShellError], *[FileError].
func integrate(program string, args, env []string) (*shellStart, error) {
	s := &shellStart{args: args, env: env}
	var err error
	switch name := shellName().FindStringSubmatch(filepath.Base(program)); {
	case name == nil:
		err = errNoShell
	case name[1] == "bash":
		err = s.bash()
	case name[1] == "zsh":
		err = s.zsh()
	default:
		err = s.fish()
	}
	var file *FileError
	if err != nil && !errors.As(err, &file) {
		err = &ShellError{Program: filepath.Base(program), Why: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(s.env)
	return s, nil
}

// write makes the folder with the one file that the shell reads.
func (s *shellStart) write(name, script string) (path string, err error) {
	dir, err := os.MkdirTemp("", "ptywright-shell-")
	if err != nil {
		return "", &FileError{Op: "make a folder for shell integration in", Path: os.TempDir(),
			Err: err}
	}
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		os.RemoveAll(dir)
		return "", &FileError{Op: "write shell integration to", Path: path, Err: err}
	}
	s.dir = dir
	return path, nil
}

// end removes the folder. It is in the system's folder for temporary files, which cleans up after
// failures.
func (s *shellStart) end() {
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

func (s *shellStart) get(name string) (value string, ok bool) {
	for _, kv := range s.env {
		if value, ok = strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

func (s *shellStart) set(name, value string) {
	s.env = slices.DeleteFunc(slices.Clone(s.env),
		func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	s.env = append(s.env, name+"="+value)
}

// keep lets the script restore a variable that is used to make the shell read it: unset differs
// from empty.
func (s *shellStart) keep(name, as string) {
	if value, ok := s.get(name); ok {
		s.set(as, value)
	}
}

// bash parses the options as bash does: long ones come first, with one hyphen or two.
//
// An interactive shell gets our file instead of ~/.bashrc. A login shell, and one without start-up
// files, reads no file that we choose, except in POSIX mode, where it reads the file in ENV; ours
// then leaves POSIX mode, unless it was asked for, and does what bash would have done. So a login
// shell stays one.
func (s *shellStart) bash() error {
	var login, noRC, noProfile, stdin, privileged bool
	rc := "" // ~/.bashrc
	_, posix := s.get("POSIXLY_CORRECT")
	if options, ok := s.get("SHELLOPTS"); ok &&
		slices.Contains(strings.Split(options, ":"), "posix") {
		posix = true
	}
	i := 0
long:
	for ; i < len(s.args); i++ {
		a := s.args[i]
		switch strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-") {
		case a: // no hyphen
			break long
		case "login":
			login = true
		case "norc":
			noRC = true
		case "noprofile":
			noProfile = true
		case "posix":
			posix = true
		case "rcfile", "init-file":
			if i++; i < len(s.args) {
				rc = s.args[i]
			}
		case "debug", "debugger", "noediting", "restricted", "verbose":
		case "dump-po-strings", "dump-strings", "help", "pretty-print", "rpm-requires", "version":
			return errScript
		default:
			break long
		}
	}
	words, short := s.args[:min(i, len(s.args))], s.args[min(i, len(s.args)):]
	for i = 0; i < len(short); i++ {
		a := short[i]
		if len(a) < 2 || a[0] != '-' && a[0] != '+' {
			break
		}
		if a == "--" {
			i++
			break
		}
		for _, c := range a[1:] {
			switch c {
			case 'c':
				return errScript
			case 'l':
				login = true
			case 's':
				stdin = true
			case 'p':
				privileged = true
			case 'o', 'O': // with its value in the next argument
				if i++; i < len(short) && short[i] == "posix" && c == 'o' {
					posix = a[0] == '-'
				}
			}
		}
	}
	if i < len(short) && short[i] == "-" {
		i++
	}
	if i < len(short) && !stdin {
		return errScript
	}
	plain := !login && !noRC && !posix
	if privileged && !plain {
		return errNoStartFile
	}
	file, err := s.write("bash", s.marking(bashScript))
	if err != nil {
		return err
	}
	if plain {
		s.set("PTYWRIGHT_START", "rc")
		s.set("PTYWRIGHT_FILE", rc)
		s.args = slices.Concat(words, []string{"--init-file", file}, short) // the last one counts
		return nil
	}
	s.keep("ENV", "PTYWRIGHT_ENV")
	s.set("ENV", file)
	start := "bare"
	switch {
	case posix:
		start = "posix"
	case login && !noProfile:
		start = "login"
	}
	s.set("PTYWRIGHT_START", start)
	s.args = slices.Concat([]string{"--posix"}, words, short)
	return nil
}

// zsh reads its first start-up file from our folder; it reads all others from the user's.
func (s *shellStart) zsh() error {
	var noRCs, stdin bool
	i := 0
	for ; i < len(s.args); i++ {
		a := s.args[i]
		if len(a) < 2 || a[0] != '-' && a[0] != '+' || a == "--" {
			break
		}
		on := a[0] == '-'
		if name, long := strings.CutPrefix(a, "--"); long {
			if name == "help" || name == "version" {
				return errScript
			}
			noRCs = withoutRCs(name, on, noRCs)
			continue
		}
		for j := 1; j < len(a); j++ {
			switch a[j] {
			case 'c':
				return errScript
			case 'f':
				noRCs = on
			case 's':
				stdin = true
			case 'o': // its value follows, or is the next argument
				name := a[j+1:]
				if j = len(a); name == "" && i+1 < len(s.args) {
					i++
					name = s.args[i]
				}
				noRCs = withoutRCs(name, on, noRCs)
			}
		}
	}
	options := min(i, len(s.args))
	for i < len(s.args) && (s.args[i] == "--" || s.args[i] == "-") {
		i++
	}
	if i < len(s.args) && !stdin {
		return errScript
	}
	file, err := s.write(".zshenv", s.marking(zshScript))
	if err != nil {
		return err
	}
	s.keep("ZDOTDIR", "PTYWRIGHT_ZDOTDIR")
	s.set("ZDOTDIR", filepath.Dir(file))
	if noRCs { // our file, and then no other: it sets the option again
		s.set("PTYWRIGHT_NO_RCS", "1")
		s.args = slices.Insert(slices.Clone(s.args), options, "-o", "rcs")
	}
	return nil
}

// withoutRCs reports whether zsh reads no start-up files once an option is set, or unset if on is
// false; before is the state until then. Zsh ignores case, hyphens and underscores in an option's
// name, and a leading "no" negates it.
func withoutRCs(option string, on, before bool) bool {
	switch strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(option)) {
	case "rcs":
		return !on
	case "norcs":
		return on
	}
	return before
}

// fish runs our text after its start-up files, from a variable that the text removes.
func (s *shellStart) fish() error {
	i := 0
	for ; i < len(s.args); i++ {
		a := s.args[i]
		if len(a) < 2 || a[0] != '-' || a == "--" {
			break
		}
		if name, long := strings.CutPrefix(a, "--"); long {
			switch name, _, value := strings.Cut(name, "="); {
			case name == "command", name == "no-execute", name == "help", name == "version":
				return errScript
			case !value && slices.Contains(fishValues, name):
				i++
			}
			continue
		}
		for j := 1; j < len(a); j++ {
			switch a[j] {
			case 'c', 'n', 'h', 'v':
				return errScript
			case 'C', 'p', 'd', 'f', 'D', 'o': // its value follows, or is the next argument
				if j == len(a)-1 {
					i++
				}
				j = len(a)
			}
		}
	}
	options := min(i, len(s.args))
	if i < len(s.args) && s.args[i] == "--" {
		i++
	}
	if i < len(s.args) {
		return errScript
	}
	s.set("PTYWRIGHT_FISH", s.marking(fishScript))
	s.args = slices.Insert(slices.Clone(s.args), options,
		"--init-command", "set -l script $PTYWRIGHT_FISH; set -e PTYWRIGHT_FISH; eval $script")
	return nil
}

// fishValues are fish's long options whose value may be the next argument.
var fishValues = []string{"init-command", "profile", "profile-startup", "features", "debug",
	"debug-output", "debug-stack-frames"}
