package tape

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/nearest"
)

const (
	// maxSources bounds how deep tapes may name others: VHS has one level.
	maxSources = 8
	// maxSourced bounds how many tapes are read in all: those that name each other twice double with
	// each level.
	maxSourced = 100
	// maxCommands bounds the commands of a tape, those of the tapes it names included: people write
	// some tens.
	maxCommands = 10000
	// MaxTimes bounds how often one command presses a key.
	MaxTimes = 1000
)

// Parse reads a tape; file is its name. A tape that it names with Source is read by open, and its
// commands stand in the place of that one, without its Outputs; where open is nil the Source stays.
// Tapes that name each other in a circle are an error. The error is an [*Error], the first one, which
// has the others.
func Parse(file string, data []byte, open func(name string) ([]byte, error)) (*Tape, error) {
	p := &parser{tape: &Tape{File: file}, open: open, isCommand: isCommand}
	p.file(file, data)
	if err := p.errors.Err(); err != nil {
		return nil, err
	}
	return p.tape, nil
}

// A parser reads a tape and those that it names.
type parser struct {
	*scanner
	tape   *Tape
	open   func(name string) ([]byte, error)
	inside []*scanner // the tapes that name this one, from the first
	read   int        // how many tapes were named and read
	errors ErrorList
	// isCommand is the function of that name, which the table of commands cannot call itself.
	isCommand func(word string) bool
}

// file reads one file.
func (p *parser) file(name string, data []byte) {
	outer := p.scanner
	p.scanner = &scanner{file: name, text: string(data), line: 1}
	p.inside = append(p.inside, p.scanner)
	defer func() { p.scanner, p.inside = outer, p.inside[:len(p.inside)-1] }()
	if e := p.vet(); e != nil {
		p.errors.Add(e)
		return
	}
	for p.next() {
		if len(p.tape.Commands) >= maxCommands {
			p.errors.Add(p.fail(p.at, "more than %d commands", maxCommands))
			return
		}
		if e := p.command(); e != nil {
			p.errors.Add(e)
			p.rest() // what follows on the line may be a part of the mistake
		}
	}
}

// vet refuses what is no text.
func (p *parser) vet() *Error {
	if strings.HasPrefix(p.text, "\ufeff") {
		return p.fail(0, "the tape begins with a byte order mark: save it as UTF-8 without one")
	}
	for i, c := range p.text {
		if _, n := utf8.DecodeRuneInString(p.text[i:]); c == 0 || c == utf8.RuneError && n == 1 {
			begin := 1 + strings.LastIndexByte(p.text[:i], '\n')
			return &Error{File: p.scanner.file, Line: 1 + strings.Count(p.text[:i], "\n"),
				Col: 1 + i - begin, Msg: "the line is not UTF-8 text, so this is not a tape"}
		}
	}
	return nil
}

// keys are the commands that press a key, and the key's name here.
var keys = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"Enter": "enter", "Return": "enter", "Tab": "tab", "Space": "space", "Backspace": "backspace",
		"Delete": "delete", "Insert": "insert", "Escape": "escape", "Up": "up", "Down": "down",
		"Left": "left", "Right": "right", "Home": "home", "End": "end", "PageUp": "page_up",
		"PageDown": "page_down",
	}
})

// words are the commands with arguments of their own.
var words = sync.OnceValue(func() map[string]func(*parser, *Command, string) *Error {
	return map[string]func(*parser, *Command, string) *Error{
		"Type": (*parser).typing, "Sleep": (*parser).sleep, "Wait": (*parser).wait,
		"Set": (*parser).set, "Env": (*parser).env,
		"Output": named(Output, "a file"), "Screenshot": named(Screenshot, "a file"),
		"Require": named(Require, "a program"), "Source": named(Source, "a tape"),
		"Copy": (*parser).copied, "Subtitle": named(Subtitle, "a text"),
		"Paste": bare(Paste), "Hide": bare(Hide), "Show": bare(Show),
		"ScrollUp": scroll, "ScrollDown": scroll,
		"Ctrl": chord, "Alt": chord, "Shift": chord,
	}
})

// known are the words that a command may begin with, sorted.
var known = sync.OnceValue(func() []string {
	var all []string
	for name := range keys() {
		all = append(all, name)
	}
	for name := range words() {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
})

// head cuts the word that begins a command: "Type@50ms", "Ctrl+Shift+X", "Wait+Line@2s".
func head(word string) (name, plus, speed string) {
	name = word
	if i := strings.LastIndexByte(word, '@'); i > 0 && word[i-1] != '+' { // Ctrl+@ is a key
		name, speed = word[:i], word[i:]
	}
	name, plus, _ = strings.Cut(name, "+")
	return name, plus, speed
}

// isCommand reports whether a word begins a command.
func isCommand(word string) bool {
	name, _, _ := head(word)
	return keys()[name] != "" || words()[name] != nil
}

// command reads one command.
func (p *parser) command() *Error {
	from := p.at
	c := Command{File: p.scanner.file, Line: p.line, Col: from - p.begin + 1}
	if p.text[from] == '#' {
		c.Kind, c.Text = Comment, p.rest()
		p.add(c, from)
		return nil
	}
	word := p.word()
	name, plus, speed := head(word)
	if word == "" {
		return p.fail(from, "expected a command, such as Type, Enter or Sleep")
	}
	c.Name = name
	speedAt := from + len(word) - len(speed)
	if speed == "" && strings.HasPrefix(p.peek(), "@") {
		speedAt, speed = p.at, p.word()
	}
	var pace time.Duration
	if speed != "" && p.isCommand(name) {
		var ok bool
		if pace, ok = parseTime(speed[1:]); !ok {
			return p.fail(speedAt, "%s is not a time of up to %v, such as @50ms",
				quote(speed), maxTime)
		}
		c.Pace = &pace
	}
	read := words()[name]
	switch {
	case keys()[name] != "" && plus == "":
		c.Kind, c.Key = Press, keys()[name]
		if e := p.times(&c); e != nil {
			return e
		}
	case read != nil:
		if plus != "" && name != "Wait" && name != "Ctrl" && name != "Alt" && name != "Shift" {
			return p.fail(from, "%s takes no +", name)
		}
		if e := read(p, &c, plus); e != nil {
			return e
		}
	default:
		p.at = from
		c.Kind, c.Text = Unknown, p.rest()
		c.Likely = nearest.Of(name, known())
	}
	if c.Kind == Source && p.open != nil {
		return p.source(&c)
	}
	p.add(c, from)
	return nil
}

// add adds a command that began at a byte.
func (p *parser) add(c Command, from int) {
	c.Raw = strings.TrimSpace(p.text[from:p.at])
	p.tape.Commands = append(p.tape.Commands, c)
}

// times reads how often a key is pressed.
func (p *parser) times(c *Command) *Error {
	c.Times = 1
	at := p.at
	w := p.peek()
	if w == "" || strings.Trim(w, "0123456789") != "" {
		p.at = at
		return nil
	}
	n, err := strconv.Atoi(w)
	if err != nil || n < 1 || n > MaxTimes {
		return p.fail(p.at, "%s is not a number of times from 1 to %d", quote(w), MaxTimes)
	}
	p.word()
	c.Times = n
	return nil
}

func bare(kind Kind) func(*parser, *Command, string) *Error {
	return func(_ *parser, c *Command, _ string) *Error {
		c.Kind = kind
		return nil
	}
}

// named reads a command with one argument.
func named(kind Kind, what string) func(*parser, *Command, string) *Error {
	return func(p *parser, c *Command, _ string) (e *Error) {
		c.Kind = kind
		c.Text, c.At, e = p.textOrWord(c.Name, what)
		if e == nil && c.Text == "" && kind != Subtitle {
			e = p.fail(p.begin+c.At-1, "%s wants %s, and it is empty", c.Name, what)
		}
		return e
	}
}

func scroll(p *parser, c *Command, _ string) *Error {
	c.Kind = Scroll
	return p.times(c)
}

// chord reads a key with modifiers.
func chord(p *parser, c *Command, plus string) *Error {
	c.Kind, c.Times = Press, 1
	from := p.begin + c.Col - 1
	if plus == "" {
		return p.fail(from, "%s wants a key: %s+c", c.Name, c.Name)
	}
	key, err := keyOf(c.Name + "+" + plus)
	if err != nil {
		return p.fail(from, "%v", err)
	}
	c.Key = key
	return p.times(c)
}

// keyOf makes the name of a key of "Ctrl+Alt+X".
func keyOf(name string) (string, error) {
	parts := strings.Split(name, "+")
	last := parts[len(parts)-1]
	if last == "" { // Ctrl++
		parts, last = parts[:len(parts)-1], "plus"
	}
	if key := keys()[last]; key != "" {
		last = key
	}
	mods := ""
	for _, mod := range parts[:len(parts)-1] {
		mods += strings.ToLower(mod) + "+"
	}
	if len(last) == 1 && strings.Contains(mods, "ctrl+") && !strings.Contains(mods, "shift+") {
		last = strings.ToLower(last)
	}
	k, err := vt.ParseKey(mods + last)
	if err != nil {
		return "", err
	}
	return k.String(), nil
}

// texts reads one or more texts, which a blank joins.
func (p *parser) texts(c *Command, example string) *Error {
	var all []string
	for p.more() {
		if p.quotes() {
			at := p.at
			text, e := p.quoted()
			if e != nil {
				return e
			}
			if len(all) == 0 {
				c.At = at - p.begin + 1
			}
			all = append(all, text)
			continue
		}
		w := p.peek()
		if r, _ := utf8.DecodeRuneInString(w); p.isCommand(w) || !unicode.IsLetter(r) && r != '.' {
			break
		}
		if len(all) == 0 {
			c.At = p.at - p.begin + 1
		}
		all = append(all, p.word())
	}
	if len(all) == 0 {
		return p.fail(p.begin+c.Col-1, "%s wants a text: %s", c.Name, example)
	}
	c.Text = strings.Join(all, " ")
	return nil
}

func (p *parser) typing(c *Command, _ string) *Error {
	c.Kind = Type
	return p.texts(c, `Type "ls"`)
}

func (p *parser) copied(c *Command, _ string) *Error {
	c.Kind = Copy
	return p.texts(c, `Copy "ls"`)
}

func (p *parser) sleep(c *Command, _ string) (e *Error) {
	c.Kind = Sleep
	c.At = p.at - p.begin + 1
	from := p.at
	c.Duration, e = p.time(c.Name)
	c.Text = strings.TrimSpace(p.text[from:p.at])
	return e
}

// wait reads what is behind Wait.
func (p *parser) wait(c *Command, scope string) (e *Error) {
	c.Kind, c.Scope = Wait, Scope(scope)
	if c.Pace != nil {
		if c.Within, c.Pace = *c.Pace, nil; c.Within == 0 {
			return p.fail(p.begin+c.Col-1, "a Wait cannot take 0 s")
		}
	}
	switch c.Scope {
	case "":
		c.Scope = Line
	case Line, Screen:
	case Still:
		if w := p.peek(); w != "" && w[0] >= '.' && w[0] <= '9' && w[0] != '/' {
			if c.Duration, e = p.time(c.Name); e == nil && c.Duration == 0 {
				e = p.fail(p.at, "a screen cannot be still for 0 s")
			}
		}
		return e
	default:
		e = p.fail(p.begin+c.Col-1+len("Wait+"), "Wait+%s is not known: have Line, Screen and Stable",
			clip(scope))
		scopes := []string{string(Line), string(Screen), string(Still)}
		if near := nearest.Of(scope, scopes); near != "" {
			e.Likely = "Wait+" + near
		}
		return e
	}
	if p.slashed() {
		c.Pattern, e = p.pattern()
	}
	return e
}

// pattern reads an expression that compiles.
func (p *parser) pattern() (string, *Error) {
	at := p.at
	pattern, e := p.regex()
	if e != nil {
		return "", e
	}
	if pattern == "" {
		return "", p.fail(at, "the expression is empty: it matches everything")
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return "", p.fail(at, "%v", err)
	}
	return pattern, nil
}

func (p *parser) env(c *Command, _ string) (e *Error) {
	c.Kind = Env
	from := p.begin + c.Col - 1
	name, at, e := p.textOrWord("Env", `a name and a value: Env NAME "value"`)
	switch {
	case e != nil:
		return e
	case name == "" || strings.ContainsAny(name, "=\x00"):
		return p.fail(p.begin+at-1, "%s is not the name of a variable", quote(name))
	case !p.more():
		return p.fail(from, `Env wants a name and a value: Env NAME "value"`)
	}
	c.Name = name
	c.Text, c.At, e = p.textOrWord("Env", "a value")
	return e
}

// source reads another tape in place of a command.
func (p *parser) source(c *Command) *Error {
	from := p.begin + c.Col - 1
	if len(p.inside) > maxSources {
		return p.fail(from, "tapes name each other more than %d deep", maxSources)
	}
	if p.read++; p.read > maxSourced {
		return p.fail(from, "more than %d tapes are named", maxSourced)
	}
	data, err := p.open(c.Text)
	if err != nil {
		e := p.fail(p.begin+c.At-1, "%v", err)
		if own := (*Error)(nil); errors.As(err, &own) {
			e.Msg = own.Msg
		}
		return e
	}
	// By the text: a file may have several names. One that is in itself again has no end.
	for i, s := range p.inside {
		if s.text != string(data) {
			continue
		}
		var circle []string
		for _, s := range p.inside[i:] {
			circle = append(circle, clip(s.file))
		}
		return p.fail(from, "tapes name each other in a circle: %s",
			strings.Join(append(circle, clip(c.Text)), ", "))
	}
	first := len(p.tape.Commands)
	p.file(c.Text, data)
	kept := slices.DeleteFunc(p.tape.Commands[first:], func(c Command) bool { return c.Kind == Output })
	p.tape.Commands = p.tape.Commands[:first+len(kept)]
	return nil
}

// quote quotes what a tape says, clipped.
func quote(s string) string { return strconv.Quote(clip(s)) }

func clip(s string) string {
	if r := []rune(s); len(r) > 32 {
		return fmt.Sprintf("%s…", string(r[:32]))
	}
	return s
}
