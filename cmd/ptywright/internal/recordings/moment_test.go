package recordings

import (
	"testing"
	"time"
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
