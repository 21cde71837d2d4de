package script

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest/internal/driver"
)

// stable is [matchers.Stable] in the words of a script.
func stable(d time.Duration) matchers.Matcher {
	m := matchers.Stable(d)
	return &matchers.Custom{
		Kind: "stable", Value: d.String(), Ask: m.Check,
		Why: func(v *engine.View, _ bool) string {
			return fmt.Sprintf("the screen has not been still for %v, but for %v", d,
				v.StableFor().Round(time.Millisecond))
		},
	}
}

// A settled waits until what would be written down of the screen has been the same for
// driver.Settle: what a mask covers may change meanwhile.
type settled struct {
	drive   *driver.Driver
	options golden.Options

	seq    uint64       // of the view that last was written
	last   *golden.File // nil: it could not be written
	err    error        // why not: a mask that covers nothing
	from   time.Time    // since when it has been the same
	recent []*golden.Diff
}

// recentChanges is how many changes are remembered, to tell what keeps changing.
const recentChanges = 4

// matcher matches a settled screen.
func (s *settled) matcher() matchers.Matcher {
	return &matchers.Custom{
		Kind: "still", Value: driver.Settle.String(), Ask: s.check,
		Why: func(*engine.View, bool) string { return s.why() },
	}
}

func (s *settled) check(v *engine.View) engine.Result {
	if s.from.IsZero() || v.Sequence != s.seq {
		s.look(v)
	}
	if left := driver.Settle - v.At.Sub(s.from); left > 0 {
		return engine.Result{Recheck: left}
	}
	return engine.Matched("still")
}

func (s *settled) look(v *engine.View) {
	first := s.from.IsZero()
	before := s.last
	s.seq = v.Sequence
	s.last, s.err = golden.Of(s.drive.Shown(v), s.options)
	switch {
	case first || s.err != nil: // nothing to compare: every change of the screen counts
		s.from = v.At.Add(-v.StableFor())
	case before == nil:
		s.from = v.At
	case !before.Equal(s.last):
		s.from = v.At
		s.recent = append(s.recent, before.Diff(s.last))
		s.recent = s.recent[max(0, len(s.recent)-recentChanges):]
	}
}

// why says that it is not still, and what keeps changing.
func (s *settled) why() string {
	text := fmt.Sprintf("the screen has not been still for %v", driver.Settle)
	if places := s.places(); len(places) > 0 {
		text += "; what keeps changing: " + strings.Join(places, ", ")
	}
	return text
}

// maxPlaces bounds how many rows are named.
const maxPlaces = 4

// places names what changed last: the title, the cursor, the modes, and cells by rows.
func (s *settled) places() []string {
	type span struct{ from, to int }
	rows := map[int]span{}
	var out []string
	for _, d := range s.recent {
		for _, h := range d.Head {
			what, _, _ := strings.Cut(h, " ")
			if what = "the " + what; !slices.Contains(out, what) {
				out = append(out, what)
			}
		}
		for _, c := range d.Changes {
			r, ok := rows[c.Row]
			if !ok {
				r.from = c.Col
			}
			rows[c.Row] = span{min(r.from, c.Col), max(r.to, c.End)}
		}
	}
	sorted := slices.Sorted(maps.Keys(rows))
	region := s.options.Region
	for i, row := range sorted {
		if i == maxPlaces {
			return append(out, fmt.Sprintf("and %d more rows", len(sorted)-maxPlaces))
		}
		r, at := rows[row], row
		if region != nil {
			at, r.from, r.to = at+region.Row, r.from+region.Col, r.to+region.Col
		}
		if r.to-r.from <= 1 {
			out = append(out, fmt.Sprintf("row %d column %d", at, r.from))
		} else {
			out = append(out, fmt.Sprintf("row %d columns %d to %d", at, r.from, r.to-1))
		}
	}
	return out
}

// restless makes the failure of a first golden screen that could not be written tell what to do.
func (s *settled) restless(err error) error {
	f := (*Failure)(nil)
	if !errors.As(err, &f) || f.Reason != "timeout" {
		return err
	}
	f.Why += ": " + s.why()
	f.Next = "mask what keeps changing, before this step: mask spinner /PATTERN/; or leave it out, with region, " +
		"no-cursor or no-title"
	if mask := (*golden.MaskError)(nil); errors.As(s.err, &mask) {
		f.Why += "; " + mask.Error()
		f.Next = "correct the pattern of the mask " + mask.Mask.Name
	}
	return err
}
