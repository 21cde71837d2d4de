package tools

import (
	"errors"
	"fmt"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/cmdline"
)

// A busyError reports a shell that is running a command.
type busyError struct{ session engine.ID }

func (e *busyError) Error() string {
	return fmt.Sprintf("session %s is running a command: wait {\"session\":%q,\"command_finished\":true}, or send {\"session\":%q,\"keys\":[\"ctrl+c\"]}", e.session, e.session, e.session)
}

// inWords adds to an error of a command line what to do about it here.
func (p *profile) inWords(s *engine.Session, err error) error {
	var busy *cmdline.BusyError
	var prompt *cmdline.PromptError
	switch {
	case errors.As(err, &busy):
		return &busyError{s.ID()}
	case errors.As(err, &prompt):
		text, _ := screenText(p.look(s, p.hide).At(prompt.View), screenBudget)
		return fmt.Errorf("the shell in %s does not come to a prompt: %w; its screen:\n%s", s.ID(),
			prompt.Err, text)
	}
	return err
}
