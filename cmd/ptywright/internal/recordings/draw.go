package recordings

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/vt"
)

// looks are the flags that say how a picture looks, still or moving.
type looks struct {
	theme, frame, title string
	size, scale         float64
	padding             int
	fonts               []string
	noCursor            bool
}

// flags adds them to a command.
func (l *looks) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&l.theme, "theme", "",
		"colours: dark, light, or one of "+strings.Join(picture.ThemeNames()[2:], ", ")+
			" (default: the session's, else dark)")
	flags.StringVar(&l.frame, "frame", "none",
		"what is around the screen: none, window, or poster (a window on a coloured ground)")
	flags.IntVar(&l.padding, "padding", 0,
		"pixels between the text and the edge (default 0; 16 in a window)")
	flags.StringVar(&l.title, "title", "", "text in the window's bar (default: the terminal's title)")
	flags.Float64Var(&l.scale, "scale", 1,
		"how many times as large, 1 to 4: 2 is sharp on dense displays")
	flags.Float64Var(&l.size, "font-size", 0, "pixels, 6 to 128 (default 15)")
	flags.StringArrayVar(&l.fonts, "font", nil,
		"a font `FILE` for characters that the built-in font lacks; may be repeated (default: the installed fonts)")
	flags.BoolVar(&l.noCursor, "no-cursor", false, "draw no cursor")
	_ = c.RegisterFlagCompletionFunc("theme",
		cobra.FixedCompletions(picture.ThemeNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("frame",
		cobra.FixedCompletions(picture.Frames(), cobra.ShellCompDirectiveNoFileComp))
}

// options checks the flags' values. terminal is the theme that a program is told of.
func (l *looks) options(c *cobra.Command) (o picture.Options, terminal vt.Theme, err error) {
	o = picture.Options{FontSize: l.size, Scale: l.scale, Padding: l.padding, Title: l.title,
		NoCursor: l.noCursor}
	if l.theme != "" {
		if o.Theme, err = picture.ThemeNamed(l.theme); err != nil {
			return o, 0, cli.Usagef("--theme %w", err)
		}
		terminal = o.Theme.Terminal
	}
	if o.Frame, err = picture.ParseFrame(l.frame); err != nil {
		return o, 0, cli.Usagef("--frame %w", err)
	}
	flags := c.Flags()
	if !flags.Changed("padding") {
		o.Padding = o.Frame.Padding()
	}
	switch {
	case flags.Changed("font-size") && !picture.FontSizeOK(l.size):
		return o, 0, cli.Usagef("--font-size is %v: give %d to %d", l.size, picture.FontSizeMin,
			picture.FontSizeMax)
	case !(l.scale >= picture.ScaleMin && l.scale <= picture.ScaleMax):
		return o, 0, cli.Usagef("--scale is %v: give %v to %v", l.scale, picture.ScaleMin,
			picture.ScaleMax)
	case l.padding < 0 || l.padding > picture.PaddingMax:
		return o, 0, cli.Usagef("--padding is %d: give 0 to %d", l.padding, picture.PaddingMax)
	}
	if o.Fonts, err = picture.OpenFonts(l.fonts...); err != nil {
		return o, 0, cli.Usagef("--font: %w", err)
	}
	return o, terminal, nil
}

// tellLacking says on standard error what to do about characters that no font has.
func tellLacking(std cli.Stdio, l *picture.Lacking) {
	for _, line := range l.Advice() {
		std.Tell("%s", line)
	}
}
