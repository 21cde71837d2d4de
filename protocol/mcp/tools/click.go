package tools

import (
	"errors"
	"fmt"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/reading"
	"github.com/ptywright/ptywright/redact"
)

// clickBound is how long a click waits for exactly one place: a screen that is being redrawn is
// whole within milliseconds, one that loads something within seconds.
const clickBound = 5 * time.Second

// clicked takes what came of a click.
func (r *sent) clicked(p engine.Press) {
	r.Clicked, r.Reacted, r.moved = []int{p.Row, p.Col}, &p.Reacted, p.Moved
}

// click tells it in words; none when there was none.
func (r *sent) click() []string {
	if r.Clicked == nil {
		return nil
	}
	words := []string{fmt.Sprintf("Clicked on row %d, column %d.", r.Clicked[0], r.Clicked[1])}
	if !*r.Reacted {
		words = append(words, "The program has not reacted within 200 ms.")
	}
	if r.moved {
		words = append(words, "The place was gone when it was pressed: look what was hit.")
	}
	return words
}

// locator reads the words of a place; the zero Locator for none.
func locator(words string) (locate.Locator, error) {
	if words == "" {
		return locate.Locator{}, nil
	}
	l, err := locate.Parse(words)
	if err != nil {
		return l, bad("click", "%v", err)
	}
	return l, nil
}

// unplaced tells which places there are instead of the one that was to be clicked on, with secrets
// hidden.
func unplaced(err error, hide *redact.Redactor) error {
	target := (*engine.TargetError)(nil)
	if !errors.As(err, &target) || target.OffScreen {
		return err
	}
	shown := reading.New(target.View, hide).Screen()
	if _, told := target.Locator.OneShown(target.View.Screen, shown); told != nil {
		return bad("click", "%v; read shows the screen", told)
	}
	return err
}
