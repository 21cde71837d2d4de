package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/pty"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/internal/nearest"
)

// A verb is one row of the table.
type verb struct {
	name, usage string
	kind        Kind
	not         bool   // a ! may stand before it
	whyNot      string // what to say instead of a !
	parse       func(a *args) (action, error)
}

// verbs is the one table of what a script can say.
var verbs = sync.OnceValue(func() (t struct {
	names []string
	by    map[string]*verb
}) {
	t.by = map[string]*verb{}
	for _, v := range []verb{
		{name: "size", usage: "ROWSxCOLS...", kind: Setting, parse: parseSizes},
		{name: "env", usage: "NAME=VALUE...", kind: Setting, parse: parseEnv},
		{name: "timeout", usage: "DURATION", kind: Setting, parse: parseTimeout},
		{name: "mask", usage: "NAME /PATTERN/ [to end] [in row N | in rows N-M]", kind: Setting, parse: parseMask},
		{name: "unmask", usage: "NAME...", kind: Setting, parse: parseUnmask},
		{name: "allow", usage: "resize", kind: Setting, parse: parseAllow},
		{name: "skip", usage: "['WHY']", kind: Setting, parse: parseSkip},
		{name: "exec", usage: "PROGRAM [ARGUMENT...]", kind: Host, not: true, parse: parseExec},
		{name: "shot", usage: "FILE.png|.svg|.html|.ansi", kind: Host, parse: parseShot},
		{name: "spawn", usage: "PROGRAM [ARGUMENT...]", kind: Start, parse: parseSpawn},
		{name: "type", usage: "'TEXT' [enter]", kind: Input, parse: parseType},
		{name: "type-secret", usage: "VARIABLE [enter]", kind: Input, parse: parseTypeSecret},
		{name: "press", usage: "KEY[*TIMES]...", kind: Input, parse: parsePress},
		{name: "paste", usage: "'TEXT'", kind: Input, parse: parsePaste},
		{name: "click", usage: "PLACE [button left|middle|right] [times N] [within DURATION]", kind: Input, parse: parseClick},
		{name: "drag", usage: "PLACE to PLACE [within DURATION]", kind: Input, parse: parseDrag},
		{name: "scroll", usage: "up|down [N] [at PLACE] [within DURATION]", kind: Input, parse: parseScroll},
		{name: "resize", usage: "ROWSxCOLS", kind: Input, parse: parseResize},
		{name: "signal", usage: "int|term|hup|quit|kill|user1|user2", kind: Input, parse: parseSignal},
		{name: "stop", kind: Input, parse: parseStop},
		{name: "wait", usage: "LOOK [within DURATION]", kind: Event, parse: parseWait,
			whyNot: "what does not come cannot be waited for; ! expect says that the screen does not show it"},
		{name: "exit", usage: "[CODE | SIGNAL]", kind: Event, not: true, parse: parseExit},
		{name: "expect", usage: "LOOK [count N] [for DURATION] [within DURATION]", kind: State, not: true, parse: parseExpect},
		{name: "screen", usage: "NAME [text] [no-styles] [no-cursor] [no-title] [no-modes] [region ROW,COL ROWSxCOLS] [for DURATION] [within DURATION]",
			kind: State, parse: parseScreen, whyNot: "say what the screen does not show, with ! expect"},
	} {
		t.names = append(t.names, v.name)
		t.by[v.name] = &v
	}
	return t
})

// A Usage is how one verb is written.
type Usage struct{ Verb, Arguments string }

// Verbs lists the verbs in the order of the documentation.
func Verbs() []Usage {
	var out []Usage
	for _, name := range verbs().names {
		out = append(out, Usage{name, verbs().by[name].usage})
	}
	return out
}

// args are the arguments of a verb while they are read.
type args struct {
	script *Script
	step   *Step
	verb   *verb
	line   string
	at     int // behind the verb
}

// usage is the error of arguments that are not what the verb wants.
func (a *args) usage() error {
	return &wordError{a.step.Col - 1, "usage: " + strings.TrimSpace(a.verb.name+" "+a.verb.usage)}
}

func (a *args) fail(col int, format string, args ...any) error {
	return &wordError{col, fmt.Sprintf(format, args...)}
}

// words returns the arguments, at least and at most so many; most 0: any number.
func (a *args) words(least, most int) ([]word, error) {
	w, err := wordsOf(a.line, a.at)
	if err == nil && (len(w) < least || most > 0 && len(w) > most) {
		err = a.usage()
	}
	return w, err
}

// literal returns the arguments as they stand, without variables.
func (a *args) literal(least, most int) ([]string, []word, error) {
	w, err := a.words(least, most)
	out := make([]string, len(w))
	for i, x := range w {
		var ok bool
		if out[i], ok = x.plain(); !ok && err == nil {
			err = a.fail(x.col, "a variable cannot stand here: quote the $")
		}
	}
	return out, w, err
}

// oneOf refuses a word that is none of some.
func (a *args) oneOf(col int, name string, known ...string) error {
	if slices.Contains(known, name) {
		return nil
	}
	return &likelyError{wordError{col, fmt.Sprintf("unknown word %s: have %s", quote(name),
		strings.Join(known, ", "))}, nearest.Of(name, known)}
}

// mostPatience bounds what a step may wait.
const mostPatience = time.Hour

func (a *args) duration(col int, s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > mostPatience {
		return 0, a.fail(col, "%s is not a duration from 1ms to 1h, such as 500ms or 5s", quote(s))
	}
	return d, nil
}

func parseSizes(a *args) (action, error) {
	names, words, err := a.literal(1, maxSizes)
	if err != nil {
		return nil, err
	}
	if a.script.Sizes != nil {
		return nil, a.fail(words[0].col, "a second size: one line names all of them")
	}
	for _, st := range a.script.Steps {
		if st.Kind != Setting {
			return nil, a.fail(words[0].col, "a size stands before the first %s, since each size is a run "+
				"of its own; resize changes it later", st.Verb)
		}
	}
	if len(a.step.conditions) > 0 {
		return nil, a.fail(words[0].col, "a size cannot have a condition")
	}
	for i, name := range names {
		size, ok := parseSize(name)
		switch {
		case !ok:
			return nil, a.fail(words[i].col, "%s is not a size: rows x columns, such as 24x80, up to %d each",
				quote(name), vt.MaxSide)
		case slices.Contains(a.script.Sizes, size):
			return nil, a.fail(words[i].col, "the size %v twice", size)
		}
		a.script.Sizes = append(a.script.Sizes, size)
	}
	return setSizes{}, nil
}

func parseEnv(a *args) (action, error) {
	words, err := a.given()
	for _, w := range words {
		if first := w.pieces[0]; err == nil &&
			(first.variable || strings.IndexByte(first.text, '=') < 1) {
			err = a.fail(w.col, "env wants NAME=VALUE")
		}
	}
	return setEnv(words), err
}

func parseTimeout(a *args) (action, error) {
	names, words, err := a.literal(1, 1)
	if err != nil {
		return nil, err
	}
	d, err := a.duration(words[0].col, names[0])
	return setTimeout(d), err
}

func parseMask(a *args) (action, error) {
	text, col := uncommented(a.line, a.at)
	if text == "" {
		return nil, a.usage()
	}
	m, err := golden.ParseMask(text)
	if err != nil {
		return nil, &wordError{col, err.Error()}
	}
	return setMask(m), nil
}

func parseUnmask(a *args) (action, error) {
	names, _, err := a.literal(1, 0)
	return unmask(names), err
}

func parseAllow(a *args) (action, error) {
	names, words, err := a.literal(1, 1)
	if err == nil {
		err = a.oneOf(words[0].col, names[0], "resize")
	}
	return allowResize{}, err
}

func parseSkip(a *args) (action, error) {
	names, _, err := a.literal(0, 1)
	return skip(strings.Join(names, "")), err
}

func parseExec(a *args) (action, error) {
	words, err := a.given()
	return &execute{words, a.step.Not}, err
}

func parseSpawn(a *args) (action, error) {
	words, err := a.given()
	return spawn(words), err
}

// given reads words that a program gets, none of which may hold a NUL byte.
func (a *args) given() ([]word, error) {
	words, err := a.words(1, 0)
	for _, w := range words {
		if text, _ := w.plain(); err == nil && strings.IndexByte(text, 0) >= 0 {
			err = a.fail(w.col, "a NUL byte cannot be given to a program")
		}
	}
	return words, err
}

func parseShot(a *args) (action, error) {
	names, words, err := a.literal(1, 1)
	if err != nil {
		return nil, err
	}
	format, err := pictureFormat(names[0])
	if err != nil {
		return nil, a.fail(words[0].col, "%v", err)
	}
	return &shot{names[0], format}, nil
}

// withEnter reads one argument, and perhaps the word enter behind it.
func (a *args) withEnter() (w word, enter bool, err error) {
	words, err := a.words(1, 0)
	if err != nil {
		return w, false, err
	}
	if len(words) > 1 {
		last, _ := words[len(words)-1].plain()
		if len(words) > 2 || last != "enter" {
			return w, false, a.fail(words[1].col, "%s wants one text: quote it when it holds blanks", a.verb.name)
		}
	}
	return words[0], len(words) == 2, nil
}

func parseType(a *args) (action, error) {
	w, enter, err := a.withEnter()
	if text, _ := w.plain(); err == nil && w.bare && utf8.RuneCountInString(text) > 1 {
		if _, kerr := vt.ParseKey(text); kerr == nil {
			err = a.fail(w.col, "%s is the name of a key: say press %s, or type '%[1]s' for the word", text, text)
		}
	}
	return &typeText{w, enter}, err
}

func parseTypeSecret(a *args) (action, error) {
	w, enter, err := a.withEnter()
	if err != nil {
		return nil, err
	}
	name, ok := w.plain()
	if !ok || !variableName(name) {
		return nil, a.fail(w.col, "type-secret wants the name of a variable of the environment that "+
			"ptywright runs in, without a $")
	}
	return &typeSecret{name, enter}, nil
}

func variableName(s string) bool {
	name, n := variable("$" + s)
	return n == len(s)+1 && name == s
}

func parsePaste(a *args) (action, error) {
	words, err := a.words(1, 0)
	if err == nil && len(words) > 1 {
		err = a.fail(words[1].col, "paste wants one text: quote it when it holds blanks")
	}
	if err != nil {
		return nil, err
	}
	return &paste{words[0]}, nil
}

// maxPresses bounds how often one key is pressed by one word.
const maxPresses = 1000

func parsePress(a *args) (action, error) {
	names, words, err := a.literal(1, 0)
	if err != nil {
		return nil, err
	}
	var keys []vt.Key
	for i, name := range names {
		times := 1
		if base, n, ok := cutLast(name, "*"); ok && base != "" {
			if times, err = strconv.Atoi(n); err != nil || times < 1 || times > maxPresses {
				return nil, a.fail(words[i].col, "%s: the number of times is 1 to %d, such as down*5",
					quote(name), maxPresses)
			}
			name = base
		}
		key, err := vt.ParseKey(name)
		if err != nil {
			return nil, a.fail(words[i].col, "%v", err)
		}
		for range times {
			keys = append(keys, key)
		}
	}
	if len(keys) > maxPresses {
		return nil, a.fail(words[0].col, "%d keys in one line: at most %d", len(keys), maxPresses)
	}
	return press(keys), nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func parseResize(a *args) (action, error) {
	names, words, err := a.literal(1, 1)
	if err != nil {
		return nil, err
	}
	size, ok := parseSize(names[0])
	if !ok {
		err = a.fail(words[0].col, "%s is not a size: rows x columns, such as 24x80", quote(names[0]))
	}
	return resize(size), err
}

func parseSignal(a *args) (action, error) {
	names, words, err := a.literal(1, 1)
	if err != nil {
		return nil, err
	}
	name := strings.TrimPrefix(strings.ToLower(names[0]), "sig")
	return sendSignal(name), a.oneOf(words[0].col, name, string(pty.SignalInt), string(pty.SignalTerm),
		string(pty.SignalHup), string(pty.SignalQuit), string(pty.SignalKill), string(pty.SignalUser1),
		string(pty.SignalUser2))
}

func parseStop(a *args) (action, error) {
	words, err := a.words(0, 0)
	if err == nil && len(words) > 0 {
		err = a.fail(words[0].col, "stop takes nothing behind it")
	}
	return stop{}, err
}

func parseExit(a *args) (action, error) {
	names, words, err := a.literal(0, 1)
	if err != nil {
		return nil, err
	}
	e := &exit{not: a.step.Not}
	switch {
	case len(names) == 0 && a.step.Not:
		return nil, a.fail(a.step.Col-1, "! exit wants the code that it must not be")
	case len(names) == 0:
		e.any = true
	case isSignal(names[0]):
		e.signal = names[0]
	default:
		if e.code, err = strconv.Atoi(names[0]); err != nil || e.code < 0 || e.code > 255 {
			return nil, a.fail(words[0].col, "%s is neither a code from 0 to 255 nor a signal such as SIGTERM",
				quote(names[0]))
		}
	}
	return e, nil
}

var signalName = lazy.Regexp(`^SIG[A-Z0-9+]{2,12}$`)

func isSignal(s string) bool { return signalName().MatchString(s) }
