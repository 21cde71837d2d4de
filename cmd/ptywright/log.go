package main

import (
	"io"
	"log/slog"

	"github.com/ptywright/ptywright/redact"
)

// newLogger writes one line an event: control characters are quoted by the text format, and every text is redacted.
func newLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: slog.LevelInfo, // what plugins print, and nothing else of ours
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Value.Kind() {
			case slog.KindString:
				a.Value = slog.StringValue(redact.Default.String(a.Value.String()))
			case slog.KindAny:
				if err, ok := a.Value.Any().(error); ok {
					a.Value = slog.StringValue(redact.Default.String(err.Error()))
				}
			}
			return a
		},
	}))
}
