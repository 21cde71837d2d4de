//go:build !linux

package pty

import (
	"context"
	"errors"
	"fmt"
)

// AdoptOrphans works on Linux only; here it returns an error that wraps errors.ErrUnsupported.
// Windows does not need it: nothing leaves a job.
func AdoptOrphans() error {
	return fmt.Errorf("adopt orphaned processes: %w on this system", errors.ErrUnsupported)
}

// KillAdopted finds nothing on this system, since AdoptOrphans cannot adopt.
func KillAdopted(context.Context) error { return nil }
