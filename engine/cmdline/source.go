package cmdline

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ptywright/ptywright/internal/lazy"
)

// A Shell is the syntax of a sentinel's line.
type Shell string

const (
	Sh         Shell = "sh" // dash, busybox, ksh and others that follow POSIX
	Bash       Shell = "bash"
	Zsh        Shell = "zsh"
	Fish       Shell = "fish"
	PowerShell Shell = "powershell"
	Cmd        Shell = "cmd"
	// Unknown is a shell at the other end of something, which is only assumed to follow POSIX. It
	// differs from Sh in that zsh accepts it too: there command runs no builtin. In dash a syntax
	// error ends its line, including the marker.
	Unknown Shell = "unknown"
)

// shells are the shells by their program's name.
var shells = sync.OnceValue(func() map[string]Shell {
	return map[string]Shell{
		"sh": Sh, "dash": Sh, "ash": Sh, "busybox": Sh, "ksh": Sh, "ksh93": Sh, "mksh": Sh, "lksh": Sh,
		"oksh": Sh, "yash": Sh, "posh": Sh, "rbash": Bash, "bash": Bash, "rzsh": Zsh, "zsh": Zsh,
		"fish": Fish, "pwsh": PowerShell, "powershell": PowerShell,
		"cmd": Cmd,
	}
})

// carriers are programs that have the terminal while input goes to a shell behind them.
var carriers = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"ssh": true, "autossh": true, "mosh-client": true, "et": true, "telnet": true, "docker": true,
		"podman": true, "nerdctl": true, "kubectl": true, "oc": true, "lxc": true, "incus": true,
		"machinectl": true, "nsenter": true, "unshare": true, "adb": true, "sudo": true, "doas": true,
		"su": true, "login": true, "script": true, "tmux: client": true, "tmux": true, "screen": true,
		"systemd-run": true, "run0": true, "vagrant": true, "flatpak-spawn": true, "wsl": true,
		"abduco": true, "dtach": true, "zellij": true, "picocom": true, "minicom": true,
	}
})

// version is what may follow a shell's name: bash-5.2, zsh-5.9.
var version = lazy.Regexp(`-[0-9][0-9.]*$`)

// shellOf is the shell of a program's name; "" when it is not a shell.
func shellOf(name string) Shell {
	name = strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(name), ".exe"), "-")
	return shells()[version().ReplaceAllString(name, "")]
}

// leadsToShell reports whether a program of this name is a shell, or passes input to one.
func leadsToShell(name string) bool { return shellOf(name) != "" || carriers()[name] }

// editsLines reports whether a shell reads its command line with its own editor, so that its
// terminal passes on every key.
func editsLines(sh Shell) bool { return sh == Bash || sh == Zsh || sh == Fish || sh == PowerShell }

// markerHead and markerTail enclose a marker's 32 digits.
const markerHead, markerTail = "__UNTERM_DONE_", "__"

// NewMarker returns an unguessable marker: __UNTERM_DONE_, 32 lower-case hexadecimal digits and __.
func NewMarker() string { return markerHead + random(16) + markerTail }

// random returns n bytes in hexadecimal digits.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// digits extracts a marker's digits, in two halves.
func digits(marker string) (left, right string, err error) {
	d := strings.TrimSuffix(strings.TrimPrefix(marker, markerHead), markerTail)
	if len(marker) != len(markerHead)+32+len(markerTail) || len(d) != 32 ||
		strings.Trim(d, "0123456789abcdef") != "" {
		return "", "",
			fmt.Errorf("the marker of a command line is %s, 32 lower-case hexadecimal digits and %s: NewMarker makes one", markerHead, markerTail)
	}
	return d[:16], d[16:], nil
}

// A sentinel makes a line report its beginning and its end. Its parts are joined when the line
// runs.
type sentinel struct {
	left, right string // the marker's digits
	one, two    string // a secret of this one line, unknown even to a caller that chose its marker
}

// source returns the line to type, without Enter, and what the shell then writes before the command
// runs, some shells twice, and after it, in front of its status. Neither can be read in the line:
// the digits are in two halves, the rest is escaped.
//
// The shell's eval runs the command, in one line with the rest. So whatever ends it, including a
// syntax error, the marker follows; a comment, a here-document or a & at its end ends there; the
// shell has read all of the line before the command runs, which could otherwise read it; and
// history expansion, completion and other keys of a line editor find nothing: all but printable
// characters are escaped.
//
// If broken is set, the line is broken at a length that any terminal and any line editor takes,
// within the quotes of the command, so that the shell reads it as one.
func source(sh Shell, line, marker string,
	broken bool) (text string, begin, end []byte, err error) {
	left, right, err := digits(marker)
	if err != nil {
		return "", nil, nil, err
	}
	w := sentinel{left, right, random(4), random(4)}
	begin = []byte("\x1b]" + beginCode + ";" + w.one + w.two + "\a")
	end = []byte("\n" + marker + ":" + w.one + w.two + ":")
	switch sh {
	case Fish:
		text = w.fish(line)
	case PowerShell:
		text = w.powerShell(line)
	case Cmd:
		if strings.Contains(line, "\n") {
			return "", nil, nil,
				fmt.Errorf("cmd takes no command of several lines: join them with &")
		}
		text = w.cmd(line)
		begin = []byte(beginText + w.one + w.two + "\r\n") // it cannot write an escape
	default:
		text = w.posix(sh, line, broken)
	}
	return text, begin, end, nil
}

// beginCode is the number of the control string (OSC) that reports a command's beginning: no
// terminal knows it, so it is not shown.
const beginCode = "7770"

// posix writes a line for the shells that follow POSIX.
//
// command or builtin in front of eval, in dash, keeps an error from ending the whole line; in front
// of printf it bypasses the user's functions. The shell reports the command's beginning before
// eval, and again in eval's text: some shells read all of that before they run any, and only then
// report errors in it. The command finds the previous exit code in $?, and the next one finds the
// command's, also under set -e: there a failure in front of && does not count. A variable takes the
// exit code out of eval, whose own is 0 then: set -e would otherwise end the shell where the
// command by itself would not. It is empty again at the end. When eval could not run the command at
// all, its own exit code counts. Standard error is redirected where nothing of the command runs, so
// that a trace (set -x) is not in its output. In zsh an error may still end the line, so there the
// marker is in an always block.
func (w sentinel) posix(sh Shell, line string, broken bool) string {
	p := map[Shell]string{Sh: "command ", Bash: "builtin ", Zsh: "builtin "}[sh]
	if p == "" {
		p = `\`
	}
	tell := p + `printf '\033]` + beginCode + `;%s%s\007' ` + w.one + ` ` + w.two
	begin := `{ (__pw=$?;` + tell + `;exit $__pw)&&:;} 2>/dev/null`
	body := posixEscaped(begin + "\n" + line + "\n{ __pw=$?;} 2>/dev/null")
	if broken {
		for i := len(body) - len(body)%lineMost; i > 0; i -= lineMost {
			body = body[:i] + "'\\\n'" + body[i:]
		}
	}
	run := p + `eval "$(__pw=$?;` + p + `printf %b '` + body + `';` + tell + ` >&2;exit $__pw)"`
	end := `{ __pw=$(__pw=${__pw:-$?};` + p +
		`printf '\n\137\137UNTERM_DONE_%s%s\137\137:%s%s:%s\n' ` + w.words() +
		` $__pw >&3;exit $__pw)&&:;} 3>&1 2>/dev/null`
	if sh == Zsh { // where what follows always has the exit code of what is in front of it
		return ` { ` + run + `;} always { ` + end + `;__pws=$?;};(exit $__pws)&&:`
	}
	return ` ` + run + `;` + end
}

// lineMost is how much of a command one broken line has, in bytes. The shortest limit of a line is
// 1,023 bytes, in busybox's editor, which silently cuts the rest; a terminal in canonical mode
// keeps 4,095. That leaves room for the rest of a line and a prompt.
const lineMost = 700

// words are the four parts, as arguments.
func (w sentinel) words() string {
	return strings.Join([]string{w.left, w.right, w.one, w.two}, " ")
}

// escaped escapes what a shell or a line editor might interpret, between single quotes.
func escaped(text string, escape func(b *strings.Builder, c byte)) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n == 1 || r < ' ' || r == 0x7f || strings.ContainsRune(`\'!`, r) {
			escape(&b, text[0])
		} else {
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

// posixEscaped is escaped for printf's %b. It also escapes all but ASCII: in another locale a line
// editor takes the bytes for keys.
func posixEscaped(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c >= 0x7f || strings.IndexByte(`\'!`, c) >= 0 {
			fmt.Fprintf(&b, `\0%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// fish writes a line for fish, where eval takes its text unchanged and a function sets the status.
func (w sentinel) fish(line string) string {
	text := escaped(line, func(b *strings.Builder, c byte) {
		if c == '!' {
			b.WriteByte(c)
			return
		}
		fmt.Fprintf(b, `'\x%02x'`, c) // outside of quotes it is the character
	})
	return ` set -l __pw $status;function __ptywright_status;return $argv[1];end;printf '\e]` +
		beginCode + `;%s%s\a' ` + w.one + ` ` + w.two +
		`;__ptywright_status $__pw;eval '` + text +
		`';set __pw $status;printf '\n\137\137UNTERM_DONE_%s%s\137\137:%s%s:%s\n' ` + w.words() +
		` $__pw;__ptywright_status $__pw`
}

// powerShell writes a line for PowerShell: a native program's exit code, else 0 or 1.
func (w sentinel) powerShell(line string) string {
	text := "'" + escaped(line, func(b *strings.Builder, c byte) {
		switch c {
		case '\'':
			b.WriteString("''")
		case '\\', '!':
			b.WriteByte(c)
		default:
			fmt.Fprintf(b, `'+[char]%d+'`, c)
		}
	}) + "'"
	return ` [Console]::Write([char]27+']` + beginCode + `;'+'` + w.one + `'+'` + w.two +
		`'+[char]7);$__pw=1;try{$global:LASTEXITCODE=$null;Invoke-Expression (` + text +
		`+[char]10+'$__pw=if($?){0}elseif($LASTEXITCODE){$LASTEXITCODE}else{1}')}finally{[Console]::Write([char]10+'__UNTERM'+'_DONE_'+'` + w.left + `'+'` + w.right +
		`'+'__:'+'` + w.one + `'+'` + w.two + `'+':'+$__pw+[char]10)}`
}

// beginText precedes the digits with which cmd reports a command's beginning.
const beginText = "__UNTERM_RUN_"

// cmd writes a line for the Windows command processor. It removes carets when it reads the line,
// and call makes it expand variables once more, so that the exit code is the command's.
func (w sentinel) cmd(line string) string {
	return `echo ` + beginText + w.one + `^` + w.two + `&` + line +
		`&call echo.&call echo __UNTERM^_DONE_` + w.left + `^` + w.right + `__:` + w.one + `^` +
		w.two + `:%^ERRORLEVEL%`
}

// open reports whether a line is certainly incomplete: it ends within quotes, or in a backslash.
// Only the shell can know this for a line with substitutions or here-documents, or an open keyword;
// and a complete line must never be taken for an incomplete one. The shell continues such a line;
// eval would make it an error.
func open(line string) bool {
	if strings.Contains(line, "`") || strings.Contains(line, "$(") ||
		strings.Contains(line, "${") || strings.Contains(line, "<<") ||
		strings.Contains(line, "$'") {
		return false
	}
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote == '\'':
			if c == '\'' {
				quote = 0
			}
		case c == '\\':
			if i++; i == len(line) {
				return true
			}
		case quote == '"':
			if c == '"' {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		// To the line's end, where comments are enabled.
		case c == '#' && (i == 0 || strings.IndexByte(" \t\n;&|()", line[i-1]) >= 0):
			return false
		}
	}
	return quote != 0
}
