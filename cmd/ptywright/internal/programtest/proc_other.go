//go:build unix && !linux

package programtest

import (
	"testing"
	"time"
)

// NoneLeft cannot look: only Linux shows the environment of processes.
func NoneLeft(testing.TB, string) {}

// Marked cannot look either.
func Marked(testing.TB, string) map[int]string { return nil }

// Gone has nothing to wait for.
func Gone(testing.TB, map[int]string) time.Duration { return 0 }
