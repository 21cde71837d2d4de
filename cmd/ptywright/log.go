package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/ptywright/ptywright/redact"
)

// newLogger writes one line an event: control characters are quoted, and in every text what hide knows is hidden.
func newLogger(w io.Writer, hide *redact.Redactor) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: slog.LevelInfo, // what plugins print, and nothing else of ours
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Value.Kind() {
			case slog.KindString, slog.KindAny:
				text := a.Value.String()
				if v := a.Value.Any(); a.Value.Kind() == slog.KindAny {
					text = fmt.Sprint(v)
				}
				// The text format quotes what JSON has to, and all that cannot be printed beyond ASCII; DEL is neither.
				a.Value = slog.StringValue(strings.ReplaceAll(hide.String(text), "\x7f", `\x7f`))
			}
			return a
		},
	}))
}
