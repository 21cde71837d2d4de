package remote

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/ptywright/ptywright/protocol/client"
)

// A Run is the result of a command line in a session's shell.
type Run struct {
	Output    string       `json:"output"` // exactly what it has written so far
	Truncated bool         `json:"truncated"`
	ExitCode  *int         `json:"exit_code"` // nil: not known
	Exit      *client.Exit `json:"exit"`      // of the shell, if the command ended it; else nil
	// Raw is the answer with session, or nil when nothing was typed. If the command's end is not
	// known, it is the error's data.
	Raw json.RawMessage `json:"-"`
}

// promptBound is how long a server may wait for a shell's prompt, before and after a command, in
// addition to the command's own time.
const promptBound = 25 * time.Second

// Run runs a command line in the shell of a session and waits for its end, for at most limit. With
// raw the output keeps its escape sequences. Errors: those of session.run, with [Run.Output] if the
// line was typed.
func (s *Server) Run(ctx context.Context, id, line string, limit time.Duration, raw bool, show Show) (Run, error) {
	more := map[string]any{"command": line, "timeout_ms": limit.Milliseconds()}
	if raw {
		more["raw"] = true
	}
	var r Run
	err := s.call(ctx, limit+promptBound, "session.run", params(id, more, show), &r.Raw)
	var e *client.Error
	if errors.As(err, &e) && r.Raw == nil {
		var typed struct {
			Sequence *uint64 `json:"sequence"`
		}
		if json.Unmarshal(e.Data, &typed) == nil && typed.Sequence != nil {
			r.Raw = e.Data
		}
	}
	if r.Raw != nil {
		if jerr := json.Unmarshal(r.Raw, &r); jerr != nil {
			return r, errors.Join(err, jerr)
		}
		r.Raw = with(r.Raw, map[string]any{"session": id})
	}
	return r, err
}

// CommandLine is what to type to run a program with arguments in a shell. One word is a command
// line and stays as it is; several are arguments, each quoted so that sh, bash, zsh and fish read
// it unchanged.
func CommandLine(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

// quote quotes a word for a shell. Only fish gives backslashes in single quotes a meaning, so quote
// puts none there.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+:,./-", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.NewReplacer(`'`, `'\''`, `\`, `'\\'`).Replace(word) + "'"
}
