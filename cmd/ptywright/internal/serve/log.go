package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/redact"
)

// logFlags say where a server logs, at what level and in which format.
type logFlags struct {
	file, level, format string
}

func (f *logFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.file, "log-file", "",
		"log to a `FILE` that only you can read, instead of standard error; opened anew at SIGHUP")
	fs.StringVar(&f.level, "log-level", "info", "debug, info, warn or error")
	fs.StringVar(&f.format, "log-format", "text", "text or json, a line an event")
	c.MarkFlagFilename("log-file")
}

// open makes the logger for the flags; events go to std when no file is named. done closes it. A
// server of one client does not reopen its file: a SIGHUP ends it.
func (f *logFlags) open(std io.Writer, hide *redact.Redactor,
	lone bool) (log *slog.Logger, done func(), err error) {
	level := slog.LevelInfo
	if f.level != "" {
		if err := level.UnmarshalText([]byte(f.level)); err != nil ||
			strings.ContainsAny(f.level, "+-") {
			return nil, nil,
				cli.Usagef("--log-level is %q: give debug, info, warn or error", f.level)
		}
	}
	if f.format != "" && f.format != "text" && f.format != "json" {
		return nil, nil, cli.Usagef("--log-format is %q: give text or json", f.format)
	}
	w, done := std, func() {}
	if f.file != "" {
		file := &logFile{path: f.file}
		if err := file.reopen(); err != nil {
			return nil, nil, fmt.Errorf("--log-file: %w", err)
		}
		w, done = file, file.close
		if !lone {
			end := file.reopenAtHangup(func(err error) { slog.Warn("the log goes on in the file that it was", "error", err) })
			done = func() {
				end()
				file.close()
			}
		}
	}
	return newLoggerAt(w, level, f.format, hide), done, nil
}

// NewLogger writes each event as one line of text: control characters are quoted, and every text is
// redacted by hide.
func NewLogger(w io.Writer, hide *redact.Redactor) *slog.Logger {
	return newLoggerAt(w, slog.LevelInfo, "text", hide)
}

// newLoggerAt is newLogger for a level and a format: text or json.
func newLoggerAt(w io.Writer, level slog.Level, format string, hide *redact.Redactor) *slog.Logger {
	options := &slog.HandlerOptions{
		Level: level, // info has plugins' prints, and nothing else of ours
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Value.Kind() {
			case slog.KindString, slog.KindAny:
				text := a.Value.String()
				if v := a.Value.Any(); a.Value.Kind() == slog.KindAny {
					text = fmt.Sprint(v)
				}
				a.Value = slog.StringValue(hide.String(text))
				if format != "json" {
					// The text format quotes what JSON must escape, and what is unprintable beyond
					// ASCII; DEL is neither.
					a.Value = slog.StringValue(strings.ReplaceAll(a.Value.String(), "\x7f", `\x7f`))
				}
			}
			return a
		},
	}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(escaped{w}, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// escaped writes lines of JSON with unprintable characters escaped: JSON itself escapes only those
// below a blank.
type escaped struct{ io.Writer }

// Write takes one event.
func (e escaped) Write(line []byte) (int, error) {
	b := append(appendEscaped(nil, bytes.TrimSuffix(line, []byte("\n"))), '\n')
	if _, err := e.Writer.Write(b); err != nil {
		return 0, err
	}
	return len(line), nil
}

// appendEscaped appends JSON to b with its unprintable characters escaped.
func appendEscaped(b, json []byte) []byte {
	for len(json) > 0 {
		r, n := utf8.DecodeRune(json)
		switch {
		case unicode.IsPrint(r):
			b = append(b, json[:n]...)
		case r > 0xffff:
			hi, lo := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			b = fmt.Appendf(b, `\u%04x\u%04x`, hi, lo)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		json = json[n:]
	}
	return b
}

// A logFile is a log appended to a file.
type logFile struct {
	path   string
	strict bool // nobody else may write to it

	mu sync.Mutex // held while a line is written
	// protects the field below
	f *os.File
}

// Write writes whole lines. A failed write is not a reason to end: its lines are lost. What the file
// took of a line that is not whole is cut off again, so that the next one is not glued to it.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.f.Write(p)
	if err == nil || n == 0 {
		return n, err
	}
	whole := bytes.LastIndexByte(p[:n], '\n') + 1
	if info, serr := l.f.Stat(); serr == nil {
		_ = l.f.Truncate(info.Size() - int64(n-whole)) // a torn line stays if that fails, too
	}
	return whole, err
}

// reopen opens the path again, which may be another file by now.
func (l *logFile) reopen() error {
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|logOpen, 0o600)
	notALink := fmt.Errorf("%s is a link: name the file itself", l.path)
	switch {
	case isLink(err):
		return notALink
	case err != nil:
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", l.path)
	}
	if link, lerr := os.Lstat(l.path); err == nil && (lerr != nil || !os.SameFile(info, link)) {
		err = notALink
	}
	if err == nil && l.strict {
		err = onlyOurs(l.path, info)
	}
	if err != nil {
		f.Close()
		return err
	}
	l.mu.Lock()
	old := l.f
	l.f = f
	l.mu.Unlock()
	if old != nil {
		old.Close()
	}
	return nil
}

// reopenAtHangup reopens the file at every SIGHUP, as log rotation expects, until end is called.
func (l *logFile) reopenAtHangup(failed func(error)) (end func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			select {
			case <-hangups:
				if err := l.reopen(); err != nil {
					failed(err)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		signal.Stop(hangups)
		cancel()
		<-over
	}
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.f.Close() // every line is already written
}
