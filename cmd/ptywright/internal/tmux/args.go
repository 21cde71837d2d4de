package tmux

import (
	"strconv"
	"strings"
)

// args are the flags and the arguments of one command.
type args struct {
	flags map[byte][]string // in order; "" for one without a value
	rest  []string
}

func (a *args) has(flag byte) bool { return a.flags[flag] != nil }

// get is the last value of a flag; "": it is not there.
func (a *args) get(flag byte) string {
	if all := a.flags[flag]; all != nil {
		return all[len(all)-1]
	}
	return ""
}

// number is the value of a flag within bounds, or what stands for it when the flag is not there.
// what names it in the error, as tmux does.
func (a *args) number(flag byte, least, most, none int, what string) (int, error) {
	if !a.has(flag) {
		return none, nil
	}
	return number(a.get(flag), least, most, what)
}

func number(text string, least, most int, what string) (int, error) {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, failf("%s invalid", what)
	case n < least:
		return 0, failf("%s too small", what)
	case n > most:
		return 0, failf("%s too large", what)
	}
	return n, nil
}

// parse parses as getopt does: template has the flags, and a colon behind each that takes a value.
// The first argument that is not a flag ends them.
func parse(name, template string, words []string) (*args, error) {
	a := &args{flags: map[byte][]string{}}
	for len(words) > 0 {
		word := words[0]
		if word == "--" {
			words = words[1:]
			break
		}
		if len(word) < 2 || word[0] != '-' {
			break
		}
		words = words[1:]
		for word = word[1:]; word != ""; {
			flag := word[0]
			word = word[1:]
			at := strings.IndexByte(template, flag)
			switch {
			case at < 0 || flag == ':':
				return nil, failf("command %s: unknown flag -%c", name, flag)
			case at+1 == len(template) || template[at+1] != ':':
				a.flags[flag] = append(a.flags[flag], "")
				continue
			case word == "" && len(words) == 0:
				return nil, failf("command %s: -%c expects an argument", name, flag)
			case word == "":
				word, words = words[0], words[1:]
			}
			a.flags[flag] = append(a.flags[flag], word)
			break
		}
	}
	a.rest = words
	return a, nil
}

// split parts a command line where a word is or ends with a semicolon; one behind a backslash is a
// semicolon.
func split(words []string) (commands [][]string) {
	var command []string
	for _, word := range words {
		end := false
		if head, ok := strings.CutSuffix(word, ";"); ok {
			if escaped, ok := strings.CutSuffix(head, `\`); ok {
				word = escaped + ";"
			} else {
				word, end = head, true
			}
		}
		if !end || word != "" {
			command = append(command, word)
		}
		if end && command != nil {
			commands, command = append(commands, command), nil
		}
	}
	if command != nil {
		commands = append(commands, command)
	}
	return commands
}

// count says how many arguments a command takes; most -1: any number.
func (a *args) count(name string, least, most int) error {
	switch {
	case len(a.rest) < least:
		return failf("command %s: too few arguments (need at least %d)", name, least)
	case most >= 0 && len(a.rest) > most:
		return failf("command %s: too many arguments (need at most %d)", name, most)
	}
	return nil
}
