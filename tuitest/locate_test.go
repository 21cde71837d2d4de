//go:build unix

package tuitest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest"
)

// pressed draws two boxes, and then what the mouse sends.
const pressed = `printf '\033[?1000;1006h+-- One --+ +-- Two --+\r\n| [ Go ]  | | [ Go ]  |\r\n+---------+ +---------+\r\n'
stty raw -echo; printf 'ready\r\n'; head -c 20 | tr '\033' '^'; printf '\r\ndone\r\n'; sleep 60`

// TestClickOn: what is named is clicked, also where the same text stands twice.
func TestClickOn(t *testing.T) {
	tui := tuitest.New(t, "sh", "-c", pressed)
	tui.Expect(matchers.Text("ready"))
	if p := tui.Locate("'[ Go ]' in box 'Two'"); p.Text != "[ Go ]" || p.Spans[0].Col != 14 {
		t.Errorf("located %+v", p)
	}
	tui.ClickOn("'[ Go ]' in box 'Two'")
	tui.Expect(matchers.Text("^[<0;17;2M^[<0;17;2m"))

	f := newFake(t)
	f.run(func(t testing.TB) {
		tui := tuitest.Config{Timeout: time.Second}.New(t, "sh", "-c", pressed)
		tui.Expect(matchers.Text("ready"))
		tui.ClickOn("'[ Go ]'")
	})
	if want := `found 2 places for text '[ Go ]', expected one: 1,2 "[ Go ]", 1,14 "[ Go ]"`; !f.failed || !strings.Contains(f.said.String(), want) {
		t.Errorf("two of them: %s", &f.said)
	}
}
