package script

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/matchers"
	"github.com/ptywright/ptywright/tuitest/internal/driver"
)

func (a *screen) do(ctx context.Context, p *player, r *StepResult) error {
	if _, err := p.running(); err != nil {
		return err
	}
	want, section := p.script.golden(a.name, p.o.Size)
	if want == nil && p.o.Update == golden.UpdateNone {
		f := &Failure{Why: fmt.Sprintf("the script has no section %s", section), Reason: "missing_golden",
			Next:     "run it with --update missing, and commit what that writes",
			Evidence: "the last screen:\n" + p.drive.Shown(p.drive.Session.View()).Text() + "\n"}
		if p.o.CI {
			f.Next = "where CI is set none is written: run it without, and commit what that writes"
		}
		f.Golden = &Comparison{Name: a.name, File: p.script.Path, Section: section}
		if got, err := golden.Of(p.drive.Shown(p.drive.Session.View()), a.options(p, nil)); err == nil {
			f.Golden.Actual = screenOf(got)
		}
		return f
	}
	var like *golden.File
	if want != nil {
		like = a.narrowed(want, p)
	}
	var got *golden.File
	var err error
	before := p.met[a.name] // a step of the same name compared with it, or wrote it: now it stands
	if want == nil || before == 0 && (p.o.Update == golden.UpdateChanged || p.o.Update == golden.UpdateAll) {
		got, err = a.write(ctx, p, r, like, p.script.section(a.name, p.o.Size))
	} else {
		got, err = like, a.compare(ctx, p, r, like, section)
	}
	if f := (*Failure)(nil); before > 0 && errors.As(err, &f) && f.Reason == "differs" {
		f.Next = fmt.Sprintf("the step in line %d compared with %s, too, and the screen was equal to it then: "+
			"give this step another name if it means another screen", before, section)
	}
	if err != nil {
		return err
	}
	p.met[a.name] = p.current.Line
	if p.shown != nil && p.typed && p.named != a.name && p.shown.Equal(got) {
		r.Suspicious = true
		r.Note = fmt.Sprintf("it equals the golden screen %s before it, though something was typed in between", p.named)
	}
	p.shown, p.named, p.typed = got, a.name, false
	return nil
}

// options say how the screen is written down.
func (a *screen) options(p *player, like *golden.File) golden.Options {
	if like != nil {
		return golden.Options{Parts: like.Parts, Masks: like.Masks, Region: like.Region, Like: like}
	}
	return golden.Options{Parts: a.parts, Masks: p.masks, Region: a.region}
}

// write waits until the screen is still and notes it for the script.
func (a *screen) write(ctx context.Context, p *player, r *StepResult, like *golden.File, section string) (*golden.File, error) {
	hold := bounds{within: a.bounds.within, hold: a.bounds.hold}
	still := &settled{drive: p.drive, options: a.options(p, like)}
	out, m, err := p.state(ctx, r, matchers.All(p.drive.Shows(), still.matcher()), hold)
	if err != nil {
		return nil, still.restless(p.unmet(out, m, err, p.bound(a.bounds.within)))
	}
	f, err := golden.Of(p.drive.Shown(out.View), a.options(p, like))
	if err != nil {
		return nil, p.unwritten(err, out.View)
	}
	if like == nil || p.o.Update == golden.UpdateAll || !like.Equal(f) {
		p.keep.Write = append(p.keep.Write, Golden{section, f})
		p.script.goldens[section] = f
		r.Note = "wrote " + section
	}
	return f, nil
}

// unwritten is the failure of a screen that cannot be written down.
func (p *player) unwritten(err error, v *engine.View) *Failure {
	f := &Failure{Why: err.Error(), Reason: "failed", Next: "name a region, or leave the styles out with no-styles",
		Evidence: "the last screen:\n" + p.drive.Shown(v).Text() + "\n"}
	if mask := (*golden.MaskError)(nil); errors.As(err, &mask) {
		f.Reason = "mask"
		f.Next = "correct its pattern, or take it back before this step with unmask " + mask.Mask.Name
	}
	return f
}

// acceptNext says what to do about a golden screen that differs.
const acceptNext = "if the new screen is right, accept it in ptywright test review, or write all down with --update changed"

// compare waits for the golden screen.
func (a *screen) compare(ctx context.Context, p *player, r *StepResult, want *golden.File, section string) error {
	g := driver.NewGolden(want, section, p.drive.Shown)
	m := g.Matcher()
	if a.bounds.within == 0 { // who says how long means it
		m = p.drive.Patient(m)
	}
	out, _, err := p.state(ctx, r, m, a.bounds)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	f := a.differs(p, g, want, section, out.View)
	if f.Golden.Nearest == nil {
		return f
	}
	p.explain(f, out.View, err, p.bound(a.bounds.within))
	quiet := (*golden.QuietError)(nil)
	switch {
	case errors.As(err, &quiet):
		f.Reason = "differs"
		f.Why = fmt.Sprintf("%v, and differs: %s in the nearest frame", quiet, f.Golden.differing())
		f.Next = acceptNext + "; within 30s waits longer for another"
	case f.Reason == "timeout", f.Reason == "secret":
		f.Why = fmt.Sprintf("after %v the screen differs: %s in the nearest frame",
			p.bound(a.bounds.within), f.Golden.differing())
	case f.Reason == "ended":
		f.Why += fmt.Sprintf("; the nearest frame differs: %s", f.Golden.differing())
	}
	if slices.Contains([]string{"timeout", "secret", "ended"}, f.Reason) {
		f.Reason, f.Next = "differs", acceptNext
	}
	return f
}

// narrowed returns what the step compares with: the script's masks and region decide, and it may leave
// out parts that the section has.
func (a *screen) narrowed(want *golden.File, p *player) *golden.File {
	want = want.With(p.masks, a.region) // a copy
	want.Parts &= a.parts
	return want
}

// differs is the failure of a golden screen that was not met.
func (a *screen) differs(p *player, g *driver.Golden, want *golden.File, section string, v *engine.View) *Failure {
	c := &Comparison{Name: a.name, File: p.script.Path, Section: section, Expected: screenOf(want)}
	f := &Failure{Reason: "differs", Golden: c}
	if got, err := want.Like(p.drive.Shown(v)); err == nil {
		c.Actual = screenOf(got)
		if !p.o.CI && p.met[a.name] == 0 {
			p.keep.Pending = append(p.keep.Pending, Golden{section, got})
		}
	}
	diff, at, lasted, why := g.Nearest()
	if diff == nil {
		u := p.unwritten(why, v)
		u.Golden = c
		return u
	}
	c.compared(diff, p.since(at), Millis(lasted))
	f.Evidence = c.evidence()
	return f
}

// compared takes the nearest frame.
func (c *Comparison) compared(diff *golden.Diff, at, lasted Millis) {
	c.Nearest, c.NearestAt, c.NearestFor = screenOf(diff.Got), at, lasted
	c.Cells, c.Diff = diff.Cells(), diff.String()
}

// differing says in a few words what differs in the nearest frame: "3 cells; cursor 1,2, not 3,4".
func (c *Comparison) differing() string {
	var parts []string
	switch {
	case c.Cells == 1:
		parts = append(parts, "1 cell")
	case c.Cells > 1:
		parts = append(parts, fmt.Sprintf("%d cells", c.Cells))
	}
	if d := c.Changes(); d != nil {
		parts = append(parts, d.Head...)
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

// evidence tells people what differs.
func (c *Comparison) evidence() string {
	if c.Diff == "" { // it came after the last look
		return "it equals the golden screen now\n"
	}
	return fmt.Sprintf("%s differs from the nearest frame, shown at %v for %v:\n%s", c.Section,
		c.NearestAt, time.Duration(c.NearestFor).Round(time.Millisecond), c.Diff)
}
