package recordings

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMomentIsSecondsOrATime(t *testing.T) {
	for text, want := range map[string]time.Duration{"2.5": 2500 * time.Millisecond, "0": 0, "1m30s": 90 * time.Second, "250ms": 250 * time.Millisecond} {
		var m moment
		if err := m.Set(text); err != nil || time.Duration(m) != want {
			t.Errorf("%q: %v, %v", text, time.Duration(m), err)
		}
	}
	for _, text := range []string{"", "-1", "NaN", "Inf", "1e300", "soon"} {
		if err := new(moment).Set(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestPrintedTimeIsTaken: a time that when prints names, given to --at, that very time: a nanosecond
// less would be before the screen that was asked for.
func TestPrintedTimeIsTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Duration(rapid.Int64Range(0, int64(24*time.Hour/time.Microsecond)).Draw(t, "us")) *
			time.Microsecond
		var m moment
		if err := m.Set(seconds(at)); err != nil || time.Duration(m) != at {
			t.Errorf("%v is printed %s, and read %v, %v", at, seconds(at), time.Duration(m), err)
		}
	})
}
