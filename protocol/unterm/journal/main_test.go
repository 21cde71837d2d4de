package journal

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain: nothing of a recording is left when it has ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
