package remote

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/protocol/client"
)

// selectFlags choose sessions by what is true of them.
type selectFlags struct{ all []string }

func (f *selectFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.all, "select", nil, "the sessions of which `KEY=VALUE` is true instead of ids, such as tag=build; may be given more than once")
}

// selection is what the flags choose; nil: they were not given.
func (f *selectFlags) selection() (*client.Selection, error) {
	if len(f.all) == 0 {
		return nil, nil
	}
	s := &client.Selection{}
	for _, given := range f.all {
		key, value, ok := strings.Cut(given, "=")
		to := map[string]*string{"tag": &s.Tag, "name": &s.Name, "program": &s.Program,
			"adapter": &s.Adapter, "plugin": &s.Plugin, "host": &s.Host}[key]
		switch {
		case !ok || to == nil || value == "":
			return nil, cli.Usagef("--select is %s: give tag=TAG, name=NAME, program=PROGRAM, adapter=ID, plugin=NAME or host=HOST", engine.Quote(given))
		case *to != "":
			return nil, cli.Usagef("--select %s is given twice, and a session has to meet all: leave one out", key)
		}
		*to = value
	}
	return s, nil
}

// A Group is several sessions: those named, or those that are selected.
type Group struct {
	IDs    []string
	Select *client.Selection // nil: IDs
}

// called is what a session of the group was called: its name if that was given, else its id.
func (g *Group) called(id, name string) string {
	if name != "" && slices.Contains(g.IDs, name) {
		return name
	}
	return id
}

// inOrder compares sessions by the order in which they were named, or else by their age.
func (g *Group) inOrder(a, b Verdict) int {
	if g.Select == nil {
		return slices.Index(g.IDs, a.Session) - slices.Index(g.IDs, b.Session)
	}
	return cmp.Or(len(a.Session)-len(b.Session), strings.Compare(a.Session, b.Session))
}

// A Verdict is the result of waiting for one of several sessions.
type Verdict struct {
	Session string
	Waited
	Err error
}

// WaitMany waits for several sessions with one request, and shows each verdict that counts: with
// [client.UntilEach] a match at once, as others do in their order at the end. It returns them all.
// Those of a wait that succeeded are the matches, and of UntilEach the sessions that ended as well;
// of one that failed, with [client.UntilAny] all sessions, with [client.UntilAll] also the matches
// until then. An error in the request itself, such as an unknown session or an invalid matcher, is
// returned without any.
func (s *Server) WaitMany(ctx context.Context, g Group, until client.Until, c Condition,
	show func(Verdict)) ([]Verdict, error) {
	which := client.Many{Sessions: g.IDs, Select: g.Select, Until: until, Latched: c.Latched,
		Timeout: c.Timeout, Show: client.ShowAll, Redact: c.Show.Redact}
	if c.Timeout == 0 {
		which.Timeout = -1
	}
	var all []Verdict // shown by the goroutine that reads, until the answer is there
	if until == client.UntilEach {
		which.Matched = func(m client.SessionMatch) {
			v := g.matched(m)
			all = append(all, v)
			show(v)
		}
	}
	ctx, cancel := Patience(ctx, c.Timeout)
	defer cancel()
	var found *client.ManyMatches
	err := s.bounded(ctx, c.Timeout, "session.wait_many", func(ctx context.Context) (err error) {
		found, err = s.Client.WaitMany(ctx, c.Matcher, which)
		return err
	})
	if found == nil {
		return nil, err
	}
	told := len(all)
	for _, m := range found.Matched {
		called := g.called(m.Session, m.Name)
		if !slices.ContainsFunc(all, func(v Verdict) bool { return v.Session == called }) {
			all = append(all, g.matched(m))
		}
	}
	if err != nil || until == client.UntilEach {
		for _, u := range found.Ended {
			all = append(all, g.unmatched(u, err))
		}
	}
	if _, reason := Exit(err); reason != "session_ended" && reason != "session_closed" {
		for _, u := range found.Lacking {
			all = append(all, g.unmatched(u, err))
		}
	}
	slices.SortStableFunc(all[told:], g.inOrder)
	for _, v := range all[told:] {
		show(v)
	}
	if err != nil && Failed(all) == nil { // such as when nobody was there
		return all, err
	}
	return all, nil
}

func (g *Group) matched(m client.SessionMatch) Verdict {
	called := g.called(m.Session, m.Name)
	return Verdict{Session: called, Waited: Waited{Raw: about(called, true, m.Raw), Matched: &m.Match}}
}

// unmatched is the verdict on a session that has not matched; err is that of the whole wait.
func (g *Group) unmatched(u client.Unmatched, err error) Verdict {
	called := g.called(u.Session, u.Name)
	if err == nil {
		err = &client.Error{Method: "session.wait_many", Code: client.CodeSessionClosed,
			Reason:  client.ErrSessionEnded,
			Message: fmt.Sprintf("session %s has ended, and can no longer match", u.Session)}
	}
	return Verdict{Session: called, Waited: Waited{Raw: about(called, false, u.Raw),
		Evidence: u.Evidence}, Err: err}
}

// Failed is the first error among verdicts; a timeout takes precedence over a condition that cannot
// hold any more.
func Failed(all []Verdict) error {
	var first error
	for _, v := range all {
		if code, _ := Exit(v.Err); v.Err != nil && (first == nil || code == cli.ExitTimeout) {
			first = v.Err
		}
	}
	return first
}
