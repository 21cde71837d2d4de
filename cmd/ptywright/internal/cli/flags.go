package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// CheckBound refuses a flag's number that is not 1 to most.
func CheckBound(flag string, value, most int) error {
	if value < 1 || value > most {
		return Usagef("--%s is %d: give 1 to %d", flag, value, most)
	}
	return nil
}

// CheckSides refuses --rows and --cols, if they are given, that no terminal can have.
func CheckSides(c *cobra.Command, rows, cols int) error {
	for _, side := range []struct {
		flag  string
		value int
	}{{"rows", rows}, {"cols", cols}} {
		if c.Flags().Changed(side.flag) {
			if err := CheckBound(side.flag, side.value, engine.MaxSide); err != nil {
				return err
			}
		}
	}
	return nil
}

// MostWait is the longest wait that a server accepts, used for no limit.
const MostWait = 24 * time.Hour

// CheckTimeout refuses timeouts that make no sense. A day is longer than anybody waits; the wire
// counts milliseconds.
func CheckTimeout(d time.Duration) error {
	if d < time.Millisecond || d > MostWait {
		return Usagef("--timeout is %v: give 1ms to 24h", d)
	}
	return nil
}

// CheckLook refuses timeouts that make no sense, where 0 is one look.
func CheckLook(d time.Duration) error {
	if d < 0 || d > MostWait {
		return Usagef("--timeout is %v: give 0 (one look) to 24h", d)
	}
	return nil
}

// ThemeFlag reads --theme; "" is dark.
func ThemeFlag(name string) (vt.Theme, error) {
	theme, ok := vt.ParseTheme(name)
	if !ok && name != "" {
		return theme, Usagef("--theme is %q: give dark or light", name)
	}
	return theme, nil
}
