//go:build unix

package fleet_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
	"github.com/ptywright/ptywright/protocol/client"
)

// TestFleetHelpsADeadInstance: that the shell of an instance has ended is in the list and in what
// is refused, and another can be begun.
func TestFleetHelpsADeadInstance(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	site := f.folder("site")
	f.start("2")
	f.ok("broadcast", "--to", "bravo", "--", "exit")
	const advice = "bravo: session 0 has ended: 'ptywright fleet sessions bravo' lists those that run, 'ptywright fleet open bravo' begins one"
	f.fails(1, advice, "wait", "--to", "bravo", "--pattern", "nothing says this", "--timeout", programtest.Hang.String())
	f.fails(1, advice, "wait", "--to", "bravo", "--idle")
	f.fails(1, advice, "broadcast", "--to", "bravo", "--", "true")
	if out := f.fails(1, advice, "broadcast", "--wait", "--", "echo he''re"); out != "== alpha: exit code 0\nhere\n" {
		t.Errorf("%q", out)
	}
	f.fails(1, "bravo: there is no session 7: ", "read", "bravo", "--session", "7")

	list := f.ok("list")
	for _, want := range []string{`alpha +\d+ +\d+ +(now|\d+[sm] ago) +1 +\w`, `bravo +\d+ +\d+ +(now|\d+[sm] ago) +0 and 1 dead +has ended +`} {
		if !regexp.MustCompile(`(?m)^` + want).MatchString(list) {
			t.Errorf("no %q in\n%s", want, list)
		}
	}
	for _, i := range f.each(f.ok("list", "--json")) {
		if len(i.Sessions) != 1 || i.Sessions[0].Dead != (i.ID == "bravo") {
			t.Errorf("%+v", i)
		}
	}

	if out := f.ok("open", "bravo", "--cwd", "site", "--", "echo he''re in $PWD"); out != "1\n" {
		t.Errorf("%q", out)
	}
	f.ok("wait", "--to", "bravo", "--session", "1", "--pattern", "here in "+site)
	if opened := f.each(f.ok("open", "bravo", "--json")); len(opened) != 1 || opened[0].ID != "bravo" || opened[0].Session != 2 {
		t.Errorf("%+v", opened)
	}
	if out := f.ok("broadcast", "--to", "bravo", "--session", "2", "--wait", "--", "pwd"); out != "== bravo: exit code 0\n"+f.home+"\n" {
		t.Errorf("%q", out)
	}
	all := f.each(f.ok("sessions", "bravo", "--json"))
	if len(all) != 3 || !all[0].Dead || all[1].Session != 1 || all[1].Dead || *all[1].Cwd != site || *all[2].Cwd != f.home {
		t.Errorf("%+v", all)
	}
	table := f.ok("sessions")
	if n := strings.Count(table, "\n"); n != 5 || !strings.Contains(table, "has ended") || !strings.Contains(table, site) {
		t.Errorf("%s", table)
	}
}

// TestFleetSmallThings: what --json prints of a tag, blanks between names, and how much of a screen
// is evidence.
func TestFleetSmallThings(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.start("2")
	if out := f.ok("tag", "bravo", "two words", "--json"); out != `{"id":"bravo","title":"two words"}`+"\n" {
		t.Errorf("%q", out)
	}
	if out := f.ok("tag", "bravo", "--json"); out != `{"id":"bravo","title":null}`+"\n" {
		t.Errorf("%q", out)
	}
	if sent := f.each(f.ok("broadcast", "--to", " bravo , alpha", "--json", "--", "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo; echo row $i; done")); len(sent) != 2 {
		t.Errorf("%+v", sent)
	}
	f.ok("wait", "--pattern", "row 13\n$")
	f.ok("wait", "--idle")
	vain := []string{"wait", "--to", "alpha", "--pattern", "nothing says this", "--timeout", "3s"} // in which a busy machine answers
	out := strings.Split(strings.TrimSpace(f.fails(3, "timed out", vain...)), "\n")
	if len(out) != 11 || out[1] != "row 5" || out[9] != "row 13" || out[10] != "$" {
		t.Errorf("%q", out)
	}
	whole := f.each(f.fails(3, "timed out", append(vain, "--json")...))
	if len(whole) != 1 || len(whole[0].Screen) < 26 {
		t.Errorf("%+v", whole)
	}
}

// TestFleetInterrupted: Ctrl-C at a terminal ends what waits, and not what it waits for.
func TestFleetInterrupted(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.start("2")
	self := f.program("--help").Path
	server, err := client.StartCommand(programtest.New(t, "serve", "--stdio").Cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	env := map[string]string{}
	for _, v := range f.env {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	fleet := func(args ...string) *client.Session {
		s, err := server.Spawn(t.Context(), client.Config{Program: self, Args: append([]string{"fleet"}, args...), Env: env, Cwd: f.home})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	sees := func(s *client.Session, m client.Matcher) *client.Match {
		t.Helper()
		match, err := s.Wait(t.Context(), m, client.Everything, client.Within(programtest.Hang/2))
		if err != nil {
			t.Fatal(err)
		}
		return match
	}
	run := fleet("broadcast", "--to", "alpha", "--wait", "--timeout", programtest.Hang.String(), "--", "echo beg''un; cat "+f.gate("gate"))
	f.ok("wait", "--to", "alpha", "--pattern", "begun")
	wait := fleet("wait", "--timeout", programtest.Hang.String(), "--pattern", "begun")
	sees(wait, client.Regexp("== alpha: matched")) // and bravo is waited for
	var screen string
	for _, s := range []*client.Session{wait, run} {
		if _, err := s.Do(t.Context(), client.Action{Type: "key", Value: "ctrl+c"}); err != nil {
			t.Fatal(err)
		}
		end := sees(s, client.Exited()).Screen
		if end.Exit == nil || end.Exit.Code == nil || *end.Exit.Code != 130 {
			t.Errorf("%+v", end.Exit)
		}
		screen = end.PlainText
	}
	if !strings.Contains(screen, "ptywright: interrupt") || !strings.Contains(screen, "has been typed") {
		t.Errorf("%s", screen)
	}
	f.open("gate", "after all")
	f.ok("wait", "--to", "alpha", "--pattern", "after all")
}
