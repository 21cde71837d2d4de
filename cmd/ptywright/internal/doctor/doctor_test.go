package doctor

import "testing"

func TestWithin(t *testing.T) {
	made := []string{"2.0.60", "2.1.197", "2.1.328"}
	for v, want := range map[string]bool{"2.0.60": true, "2.1.0": true, "2.1.328": true, "2.0.59": false, "2.1.329": false, "10.0.0": false, "1.99.99": false} {
		if got := within(v, made); got != want {
			t.Errorf("%s: %v", v, got)
		}
	}
}
