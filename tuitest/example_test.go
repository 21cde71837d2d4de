//go:build unix

package tuitest_test

import (
	"regexp"
	"testing"

	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest"
)

func TestGreeting(t *testing.T) {
	tui := tuitest.New(t, "sh", "-c", `printf 'name? '; read -r name; echo "hello $name"; exit 2`)
	tui.Expect(matchers.Text("name?")) // a state of the screen
	tui.Send("world\n")
	out := tui.Wait(matchers.Regexp(regexp.MustCompile(`hello (\w+)`))) // an event since the input
	if got := out.Match.Capture; got != "world" {
		t.Errorf("it greets %s", got)
	}
	tui.Exit(2)
}

func TestMenu(t *testing.T) {
	tui := tuitest.New(t, "sh", "-c", `printf '\033[1mFiles\033[0m 12:34\r\n\033[7m one \033[0m\r\n two '; read -r _`)
	tui.ExpectScreen("start", tuitest.Mask("clock", `\d\d:\d\d`))
}
