package matchers

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/tree"
)

const (
	// maxGolden is in bytes of a golden screen from outside: one of 100x300 in many colours has some
	// 200 KiB.
	maxGolden = 1 << 20
	// maxScreens bounds the golden screens of one tree, each of which is compared with every frame.
	maxScreens = 16
	// maxDiff is in bytes of a difference that evidence shows: more than anybody reads.
	maxDiff = 64 << 10
)

func screenShape() tree.Shape {
	mask := tree.TextShape("a mask as a file has it")
	mask["pattern"], mask["examples"] = `^[a-z0-9-]+ *(/|rect )`, []any{"clock /[0-9:]+/ in row 1"}
	text := tree.TextShape(fmt.Sprintf("the text of a golden screen, at most %d bytes", maxGolden))
	text["pattern"], text["examples"] = `^screen [0-9]+\r?\n`, []any{"screen 1\nsize 1x4\n--\n|$\n"}
	region := tree.TextShape("compare this rectangle alone: ROW,COLUMN ROWSxCOLUMNS, from 0")
	region["pattern"], region["examples"] = `^[0-9]+,[0-9]+ [0-9]+x[0-9]+$`, []any{"0,0 1x4"}
	return tree.ObjectShape(map[string]tree.Shape{"screen": text, "region": region,
		"quiet_ms": tree.IntOrShape(0, 0, int(maxStable.Milliseconds()), "end the wait as timed out when "+
			"the screen differs and has not changed for so long, since the wait began and since the "+
			"program has written something after since; 0: no"),
		"masks": {"type": "array", "items": mask, "maxItems": golden.MaxMasks,
			"description": "masks that count beside those of the screen, or in place of one of their name"},
	}, "masks", "region", "quiet_ms")
}

// parseScreen reads {screen, masks, region, quiet_ms}.
func parseScreen(p *parser, value any, path string, _ int) (Matcher, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, &ParseError{path, "expected an object with screen, got " + kindOf(value)}
	}
	text, ok := object["screen"].(string)
	switch {
	case !ok:
		return nil, &ParseError{path + ".screen",
			"expected the text of a golden screen, got " + kindOf(object["screen"])}
	case len(text) > maxGolden:
		return nil, &ParseError{path + ".screen",
			fmt.Sprintf("text of %d bytes, at most %d are allowed", len(text), maxGolden)}
	}
	want, err := golden.Parse([]byte(text))
	if err != nil {
		return nil, &ParseError{path + ".screen", err.Error()}
	}
	var given []string
	if object["masks"] != nil {
		list, ok := object["masks"].([]any)
		if !ok {
			return nil, &ParseError{path + ".masks", "expected an array of masks, got " + kindOf(object["masks"])}
		}
		for i, m := range list {
			s, ok := m.(string)
			if !ok {
				return nil, &ParseError{fmt.Sprintf("%s.masks[%d]", path, i),
					"expected a string, got " + kindOf(m)}
			}
			given = append(given, s)
		}
	}
	region, _ := object["region"].(string)
	if object["region"] != nil && region == "" {
		return nil, &ParseError{path + ".region", "expected ROW,COLUMN ROWSxCOLUMNS, got " + kindOf(object["region"])}
	}
	want, err = want.Amend(given, region, func(pattern string) error {
		_, err := p.compile(pattern)
		return err
	})
	if amend := (*golden.AmendError)(nil); errors.As(err, &amend) {
		return nil, &ParseError{path + "." + amend.Path, amend.Err.Error()}
	}
	quiet := int64(0)
	if object["quiet_ms"] != nil {
		if quiet, err = integer(object["quiet_ms"], path+".quiet_ms", maxStable.Milliseconds()); err != nil {
			return nil, err
		}
	}
	if p.screens++; p.screens > maxScreens {
		return nil, &ParseError{path,
			fmt.Sprintf("more than %d golden screens in one tree", maxScreens)}
	}
	shown := p.Screen
	if shown == nil {
		shown = func(v *engine.View) *vt.Screen { return v.Screen }
	}
	return &screen{judge: golden.NewJudge(want), shown: shown,
		quiet: time.Duration(quiet) * time.Millisecond}, nil
}

// A screen matches views whose screen equals a golden one. It remembers the one that came nearest.
type screen struct {
	judge *golden.Judge
	shown func(*engine.View) *vt.Screen
	quiet time.Duration // 0: it waits whatever the screen does
	began time.Time     // the first look
}

func (m *screen) Check(v *engine.View) engine.Result {
	if m.judge.Look(m.shown(v), v.At) {
		return engine.Matched("screen")
	}
	if m.began.IsZero() {
		m.began = v.At
	}
	if m.quiet == 0 || v.Ended || v.Since.Set && v.Sequence <= v.Since.Last() {
		return engine.Result{}
	}
	left, err := golden.Patience(m.quiet, m.began, v.Changed, v.At)
	if err != nil {
		err = fmt.Errorf("%w: %w", engine.ErrTimeout, err)
	}
	return engine.Result{Recheck: left, Err: err}
}

func (m *screen) Explain(v *engine.View, shown Shown) Explanation {
	e := Explanation{Type: "screen"} // without the golden screen, which is long
	e.Held = m.Check(v).Match != nil
	diff, at, err := m.judge.Nearest()
	ago := v.At.Sub(at)
	ago -= ago % time.Millisecond
	switch {
	case e.Held:
		e.Why = "the screen equals the golden one"
	case shown.Screen == nil:
		e.Why = "the screen differs from the golden one, and nothing of it may be shown"
	case diff == nil:
		e.Why = err.Error()
	case diff.Equal():
		e.Why = fmt.Sprintf("the screen equalled the golden one %v before the end, and no longer does",
			ago)
	default:
		when := ""
		if ago > 0 {
			when = fmt.Sprintf(", shown %v before the end", ago)
		}
		e.Why = fmt.Sprintf("the nearest screen%s: %s", when, diff.Summary())
		e.Diff = diff.String()
		if len(e.Diff) > maxDiff {
			e.Diff = strings.ToValidUTF8(e.Diff[:maxDiff], "") + "\n(cut here)\n"
		}
	}
	return e
}
