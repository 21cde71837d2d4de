//go:build !linux

package pty

import (
	"context"
	"errors"
	"fmt"
)

// AdoptOrphans does its work on Linux only; here it returns an error that wraps
// errors.ErrUnsupported. On Windows there is no need for it: nothing leaves a job.
func AdoptOrphans() error {
	return fmt.Errorf("adopt orphaned processes: %w on this system", errors.ErrUnsupported)
}

// KillAdopted finds nothing on this system, since AdoptOrphans cannot adopt.
func KillAdopted(context.Context) error { return nil }
