package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// checkBound refuses a flag's number that is not 1 to most.
func checkBound(flag string, value, most int) error {
	if value < 1 || value > most {
		return usagef("--%s is %d: give 1 to %d", flag, value, most)
	}
	return nil
}

// checkSides refuses --rows and --cols, if they are given, that no terminal can have.
func checkSides(c *cobra.Command, rows, cols int) error {
	for _, side := range []struct {
		flag  string
		value int
	}{{"rows", rows}, {"cols", cols}} {
		if c.Flags().Changed(side.flag) {
			if err := checkBound(side.flag, side.value, engine.MaxSide); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostWait is the longest wait that a server accepts, used for no limit.
const mostWait = 24 * time.Hour

// checkTimeout refuses timeouts that make no sense. A day is longer than anybody waits; the wire
// counts milliseconds.
func checkTimeout(d time.Duration) error {
	if d < time.Millisecond || d > mostWait {
		return usagef("--timeout is %v: give 1ms to 24h", d)
	}
	return nil
}

// checkLook refuses timeouts that make no sense, where 0 is one look.
func checkLook(d time.Duration) error {
	if d < 0 || d > mostWait {
		return usagef("--timeout is %v: give 0 (one look) to 24h", d)
	}
	return nil
}

// themeFlag reads --theme; "" is dark.
func themeFlag(name string) (vt.Theme, error) {
	theme, ok := vt.ParseTheme(name)
	if !ok && name != "" {
		return theme, usagef("--theme is %q: give dark or light", name)
	}
	return theme, nil
}
