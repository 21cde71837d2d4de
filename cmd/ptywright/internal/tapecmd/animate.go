package tapecmd

import (
	"errors"
	"io"
	"iter"
	"time"

	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/vt"
)

func animate(w io.Writer, format string, frames iter.Seq2[time.Duration, *vt.Screen], l *look) error {
	return errors.New("not yet")
}

func named(name string) *picture.Theme {
	switch name {
	case "dark":
		return picture.DarkTheme
	case "light":
		return picture.LightTheme
	}
	return nil
}

func themeNames() []string { return []string{"dark", "light"} }
